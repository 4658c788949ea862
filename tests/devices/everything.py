"""The whole corpus: what is right, in many styles, and what has one fault."""

from tests.devices import (
    correct,
    faults,
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
}
WRONG = {
    **faults.FAULTS,
    **subtle_functions.FUNCTIONS,
    **subtle_modules.MODULES,
    **subtle_dtypes.DTYPES,
}
