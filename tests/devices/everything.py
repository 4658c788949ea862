"""The whole corpus: what is right, in many styles, and what has one fault."""

from dataclasses import replace

from tests.devices import looks
from tests.devices.right import functions, modules, states
from tests.devices.wrong import devices, dtypes

RIGHT = {**states.LAYERS, **functions.FUNCTIONS, **modules.MODULES, **looks.FREE}
WRONG = {
    name: replace(case, rule=rule)
    for rule, cases in (("device", devices.DEVICES), ("dtype", dtypes.DTYPES))
    for name, case in cases.items()
}
