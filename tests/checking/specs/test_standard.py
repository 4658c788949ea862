"""`standard`: all checks that every task has, in one statement."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from autograder.checking.runner.check import ChecksBroken
from autograder.checking.runner.checks import Checks
from autograder.checking.runner.collection import collect
from autograder.grading.validating.findings import Validation, look_at_check
from tests.checking.specs.test_specs import judged

STEP = """
from autograder.checking import FunctionSpec, ModuleSpec, Without, sized, standard, worth

task = FunctionSpec(
    "step",
    inputs={"x": "B D", "w": "D"},
    outputs={"y": "B D"},
    reference=lambda x, w: x * w,
)
"""
MODULE = """
from autograder.checking import ModuleSpec, standard

task = ModuleSpec(
    "Scale",
    made_with={"size": "D"},
    parameters={"weight": "D"},
    inputs={"x": "B D"},
    outputs={"y": "B D"},
    reference=lambda parameters, x: x * parameters["weight"],
)
standard(task, values=1)
"""
RIGHT = "def step(x, w):\n    return x * w"


def checks_of(tmp_path: Path, text: str, task: str = "step") -> Checks:
    (tmp_path / f"test_{task}.py").write_text(textwrap.dedent(text))
    return collect(tmp_path)


def test_a_function_has_the_checks_of_a_function(tmp_path):
    checks = checks_of(tmp_path, STEP + "standard(task, values=2, gradients=0.5, leaves_arguments=0.5)")
    assert [(check.name, check.points, check.needs) for check in checks.all] == [
        ("shape", 0, ()),
        ("values", 2, ("shape",)),
        ("any_size", 0, ("values",)),
        ("gradients", 0.5, ("values",)),
        ("dtype", 0, ("shape",)),
        ("device", 0, ("dtype", "values")),
        ("arguments_untouched", 0.5, ("values",)),
    ]
    assert {result.outcome for result in judged(checks, RIGHT).values()} == {"passed"}


def test_what_no_keyword_speaks_of_needs_no_known_mistake(tmp_path):
    text = "standard(task, values=2, gradients=worth(teaching_only=True), dtypes=worth())"
    unasked = {check.name: check.is_usual for check in checks_of(tmp_path, STEP + text).all}
    assert [name for name, is_usual in unasked.items() if is_usual] == [
        "shape",
        "any_size",
        "device",
        "arguments_untouched",
    ]
    found = Validation(
        "01_step", mistakes=[{"task": "step", "mistake": "of another", "caught_by": ["other"]}]
    )
    complaints = [each for check in collect(tmp_path).all for each in look_at_check(found, check)]
    assert len(complaints) == 2
    assert "`values`" in complaints[0]
    assert "`dtype`" in complaints[1]


def test_a_module_has_those_of_modules_as_well(tmp_path):
    checks = checks_of(tmp_path, MODULE, "Scale")
    needs = {check.name: check.needs for check in checks.all}
    assert needs["values"] == ("shape", "parameters")
    assert needs["follows_its_parameters"] == ("values",)
    assert needs["arguments_untouched"] == ("shape",)
    right = (
        "class Scale(nn.Module):\n"
        "    def __init__(self, size):\n"
        "        super().__init__()\n"
        "        self.weight = nn.Parameter(torch.ones(size))\n"
        "    def forward(self, x):\n"
        "        return x * self.weight"
    )
    assert {result.outcome for result in judged(checks, right).values()} == {"passed"}


def test_what_is_forbidden_is_a_check_that_others_need(tmp_path):
    text = STEP.replace("\n)\n", '\n    forbidden=Without(operators="einsum", say="Multiply."),\n)\n')
    checks = checks_of(tmp_path, text + "standard(task, values=1)")
    needs = {check.name: check.needs for check in checks.all}
    assert needs["from_scratch"] == ()
    assert needs["shape"] == ("from_scratch",)
    found = judged(checks, 'def step(x, w):\n    return torch.einsum("bd,d->bd", x, w)')
    assert found["from_scratch"].outcome == "failed"
    assert found["values"].outcome == "skipped"


def test_other_sizes_are_single_ones_and_strided_inputs(tmp_path):
    checks = checks_of(tmp_path, STEP + "standard(task, values=1, any_size=1)")
    (check,) = (each for each in checks.all if each.name == "any_size")
    assert check.title == (
        "It works with one sequence (B = 1) and with inputs that are not contiguous in memory."
    )
    found = judged(checks, "def step(x, w):\n    return (x * w).squeeze()")
    assert found["values"].outcome == "passed"
    assert found["any_size"].message.startswith("With one sequence (B = 1)")


def test_a_check_has_its_own_name_title_cases_and_needs(tmp_path):
    stated = """
    standard(
        task,
        values=worth(1, name="as_torch", title="As torch."),
        any_size=worth(0.5, sized("with one feature", D=1), needs=["shape"]),
        gradients="the result is a count",
    )
    """
    checks = checks_of(tmp_path, STEP + textwrap.dedent(stated))
    by_name = {check.name: check for check in checks.all}
    assert "gradients" not in by_name
    assert (by_name["as_torch"].title, by_name["as_torch"].points) == ("As torch.", 1)
    assert by_name["any_size"].needs == ("shape",)
    assert by_name["any_size"].title == "It works with one feature."
    assert by_name["device"].needs == ("dtype", "as_torch")


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ("standard(task, values=1)\nstandard(task, values=1)", "has a check `test_shape` already"),
        ("standard(task, values=worth(1, tell='Why?'))", "no mark of a check"),
        ("standard(task, from_scratch=1)", "nothing is forbidden in 'step'"),
        ("standard(task, any_size=worth(hidden='It works.'))", "into hidden_step.py"),
        ("standard(task, devices='')", "say in a sentence why"),
        ("standard(task, registered=1)", "'step' is no class of modules"),
        ("standard(task, values=worth('It is right.', 1))", "a number, not an object of type str"),
        ("standard(task, values=worth(1, needs='shape'))", "takes a list of checks"),
        ("steps = ['shap']\nstandard(task, values=worth(1, needs=steps))", "needs `test_shap`, which is no"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, stated, said):
    with pytest.raises(ChecksBroken, match=said) as raised:
        checks_of(tmp_path, STEP + stated)
    assert raised.value.broken[0].file.name == "test_step.py"


def test_a_name_may_begin_as_that_of_a_function_does(tmp_path):
    checks = checks_of(tmp_path, STEP + "standard(task, values=worth(1, name='test_as_torch'))")
    assert {"as_torch"} < {check.name for check in checks.all}
    assert {result.outcome for result in judged(checks, RIGHT).values()} == {"passed"}


def test_a_case_without_words_is_not_in_the_title(tmp_path):
    stated = """
    from autograder.checking import USUAL
    standard(task, any_size=worth(1, USUAL, sized("with one item", B=1)))
    """
    (check,) = (
        each for each in checks_of(tmp_path, STEP + textwrap.dedent(stated)).all if each.name == "any_size"
    )
    assert check.title == "It works with one item."


def test_in_a_file_beside_the_checks_it_is_refused(tmp_path):
    """Nobody would collect what it makes there."""
    (tmp_path / "given.py").write_text(textwrap.dedent(STEP) + "standard(task, values=1)\n")
    with pytest.raises(ChecksBroken, match=r"stands in the file of the task's checks, test_<task>\.py"):
        checks_of(tmp_path, "from given import task")
