"""Right answers made into other kinds of numbers, as nobody expects: no check has a fault over them."""

from __future__ import annotations

import pytest

from tests.exercises.test_exercises import EXERCISES, NOTEBOOKS, collect, notebook_of

ODD = {
    "bool": "value.bool()",
    "whole": "value.to(torch.int64)",
    "complex": "value.to(torch.complex128)",
    "eight bits": "value.to(torch.float8_e4m3fn) if value.is_floating_point() else value",
    "bfloat16": "value.to(torch.bfloat16)",
    "nan": "value * float('nan')",
    "infinite": "value / 0",
    "zero": "value * 0",
    "huge": "value * 1e300",
    "empty": "value[:0] if value.dim() else value",
    "reversed": "value.flip(0) if value.dim() else -value",
    "half wrong": "value + torch.arange(value.numel(), device=value.device).view(value.shape) % 2",
}
MADE = """

def made_odd(value):
    if isinstance(value, torch.Tensor):
        return {how}
    if isinstance(value, (tuple, list)):
        return type(value)(map(made_odd, value))
    return value


"""
CLASS = """
class {task}({task}):
    def forward(self, *args, **kwargs):
        return made_odd(super().forward(*args, **kwargs))
"""
FUNCTION = """
def wrapped(right):
    return lambda *args, **kwargs: made_odd(right(*args, **kwargs))


{task} = wrapped({task})
"""
TASKS = [(notebook, task) for notebook, each in NOTEBOOKS.items() for task in each.SOLUTIONS]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("notebook", "task"), TASKS)
def test_no_check_has_a_fault(notebook, task):
    solution, checks = NOTEBOOKS[notebook].SOLUTIONS[task], collect(EXERCISES / notebook)
    way = CLASS if solution.lstrip().startswith("class") else FUNCTION
    for name, how in ODD.items():
        source = solution + MADE.format(how=how) + way.format(task=task)
        odd = notebook_of(notebook, task, source, checks.without(task))
        results = checks.run(task, odd, seed=2013, include_hidden=True, renew=lambda: None)
        faults = [f"{name}: {each.check.name}: {each.fault.told}" for each in results if each.fault]
        assert faults == []
