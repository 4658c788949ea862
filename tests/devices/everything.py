"""The whole corpus: what is right, in many styles, and what has one fault."""

from tests.devices import (
    correct,
    faults,
    fresh_autocast,
    fresh_faults,
    fresh_functions,
    fresh_module_faults,
    fresh_modules,
    fresh_numbers,
    looks,
    subtle_dtypes,
    subtle_functions,
    subtle_modules,
    unusual_functions,
    unusual_modules,
    unusual_parts,
)

RIGHT = {
    **correct.CORRECT,
    **unusual_functions.FUNCTIONS,
    **unusual_modules.MODULES,
    **unusual_parts.MODULES,
    **fresh_functions.FUNCTIONS,
    **fresh_modules.MODULES,
    **fresh_numbers.FUNCTIONS,
    **fresh_autocast.MODULES,
    **looks.FREE,
}
WRONG = {
    **faults.FAULTS,
    **subtle_functions.FUNCTIONS,
    **subtle_modules.MODULES,
    **subtle_dtypes.DTYPES,
    **fresh_faults.FUNCTIONS,
    **fresh_module_faults.MODULES,
    **looks.COUNTING,
}
