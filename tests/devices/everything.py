"""The whole corpus: what is right, in many styles, and what has one fault."""

from tests.devices import looks
from tests.devices.right import around_a_recurrence, numbers, parts, whole_loops
from tests.devices.right import functions as right_functions
from tests.devices.right import modules as right_modules
from tests.devices.right import usual as right_usual
from tests.devices.wrong import dtypes
from tests.devices.wrong import modules as wrong_modules
from tests.devices.wrong import usual as wrong_usual

RIGHT = {
    **right_usual.CORRECT,
    **right_functions.FUNCTIONS,
    **right_modules.MODULES,
    **parts.MODULES,
    **around_a_recurrence.FUNCTIONS,
    **whole_loops.MODULES,
    **numbers.FUNCTIONS,
    **looks.FREE,
}
WRONG = {
    **wrong_usual.FAULTS,
    **wrong_modules.MODULES,
    **dtypes.DTYPES,
}
