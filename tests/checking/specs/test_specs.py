"""Checks made from specifications: collected as any other, and each finds the fault of its rule."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.checking import FunctionSpec, Submission
from autograder.checking.runner.check import CheckResult, ChecksBroken
from autograder.checking.runner.checks import Checks
from autograder.checking.runner.collection import collect
from autograder.checking.runner.task_run import TaskRun
from autograder.worker.session.executor import Executor

FUNCTION = '''
"""`step(x, h, w)`: one step."""
import torch
from autograder.checking import FunctionSpec, Without, leaving_out, sized, strided, weight, with_inputs

def right(x, h=None, w=None):
    return torch.tanh(x @ w + (0 if h is None else h)), x.sum(1)

task = FunctionSpec(
    "step",
    inputs={"x": "B D", "w": weight("D H"), "h": "B H"},
    outputs={"h_next": "B H", "total": "B"},
    reference=lambda x, w, h=None: right(x, h, w),
    forbidden=Without("rnn_tanh_cell", say="Not by torch."),
)
test_from_scratch = task.from_scratch(points=0.5)
test_shape = task.shape(needs=[test_from_scratch])
test_numbers = task.values(title="The numbers are right.", points=1, needs=[test_shape])
test_no_state = task.values(leaving_out("h"), points=1, needs=["test_shape"])
test_any_size = task.any_size(
    sized("with one sequence (B = 1)", B=1), sized("with {B} sequences", B=(20, 30)),
    sized("with D = H", D="H"), strided(), with_inputs("with zeros", x=lambda draw: 0 * draw("B D")),
    needs=[test_numbers],
)
test_hidden = task.any_size(sized("with seven", B=7), points=0.5, hidden="More is asked when grading.")
test_gradients = task.gradients(tell="Look for detach.", needs=[test_numbers])
test_dtype = task.dtypes(needs=[test_shape])
test_device = task.devices(needs=[test_shape])
test_mutation = task.leaves_arguments(needs=[test_shape])
'''
STEP = """
def step(x, w, h=None):
    seen = x @ w
    if h is not None:
        seen = seen + h
    return torch.tanh(seen), x.sum(1)
"""
MODULE = '''
"""`class Cell(nn.Module)`: one step as a module."""
import torch
from torch import nn
from autograder.checking import ModuleSpec, leaving_out

def right(parameters, x, state=None):
    h, c = state if state is not None else (0, 0)
    return torch.tanh(x @ parameters["W"] + parameters["b"] + h), c + x.sum(1, keepdim=True)

task = ModuleSpec(
    "Cell",
    made_with={"input_size": "D", "hidden_size": "H"},
    parameters={"W": "D H", "b": "H"},
    inputs={"x": "B D", "state": {"h": "B H", "c": "B H"}},
    outputs={"h_next": "B H", "c_next": "B H"},
    reference=right,
)
test_parameters = task.registered(points=0.5)
test_shape = task.shape()
test_numbers = task.values(points=1, needs=[test_shape])
test_follows = task.follows(needs=[test_numbers])
test_gradients = task.gradients(needs=[test_numbers])
test_dtype = task.dtypes(needs=[test_shape])
test_device = task.devices(needs=[test_shape])
test_mutation = task.leaves_arguments(needs=[test_shape])
'''
CELL = """
class Cell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.W = nn.Parameter(torch.zeros(input_size, hidden_size))
        self.b = nn.Parameter(torch.zeros(hidden_size))

    def forward(self, x, state):
        h, c = state
        return torch.tanh(x @ self.W + self.b + h), c + x.sum(1, keepdim=True)
"""
HANDED = '''
"""`drive(rnn, x, h_0)`: a module that is handed in."""
from torch import nn
from autograder.checking import FunctionSpec, Handed, leaving_out, sized

task = FunctionSpec(
    "drive",
    inputs={
        "rnn": Handed(nn.RNN, "D", "H", "L", batch_first=True, nonlinearity="relu"),
        "x": "B T D", "h_0": "L B H",
    },
    outputs={"output": "B T H", "h_n": "L B H"},
    reference=lambda rnn, x, h_0=None: rnn(x, h_0),
)
test_numbers = task.values(points=1)
test_twice = task.values(
    leaving_out("h_0", words="without h_0"), leaving_out("h_0", words="called a second time"),
    same_modules=True,
)
test_follows = task.follows(sized("", T=2))
test_gradients = task.gradients()
test_mutation = task.leaves_arguments()
'''
DRIVE = """
def drive(rnn, x, h_0=None):
    return rnn(x, h_0)
"""


STACKED = '''
"""`class Stack(nn.Module)`: as many linear layers as asked for, and scores of so many classes."""
import torch
from autograder.checking import USUAL, ModuleSpec, sized

def shapes(sizes):
    layers = {f"layers.{at}": "D D" for at in range(sizes.L)}
    return {**layers, "head": "D {num_classes}"}

def right(parameters, x):
    *layers, head = parameters.values()
    for layer in layers:
        x = torch.tanh(x @ layer)
    return x @ head

def alike(parameters):
    return {name: torch.ones_like(value) for name, value in parameters.items()}

task = ModuleSpec(
    "Stack",
    made_with={"size": "D", "num_layers": "L", "num_classes": 4},
    parameters=shapes,
    inputs={"x": "B D"},
    outputs={"scores": "B {num_classes}"},
    reference=right,
    defaults={"num_classes": 4},
)
test_parameters = task.registered(points=0.5)
test_numbers = task.values(points=1, needs=[test_parameters])
test_classes = task.any_size(
    USUAL.with_options(num_classes=(5, 40)).named("with other numbers of classes"),
    sized("with one layer", L=1),
)
test_ones = task.values(USUAL.with_parameters(alike).named("with ones for weights"))
test_eval = task.values(USUAL, USUAL.again().in_eval().named("in eval()"))
test_dtype = task.dtypes(USUAL.with_options(num_classes=7).named("with seven classes"))
test_device = task.devices(gradients=False)
'''
STACK = """
class Stack(nn.Module):
    def __init__(self, size, num_layers, num_classes=4):
        super().__init__()
        self.layers = nn.ParameterList(torch.zeros(size, size) for _ in range(num_layers))
        self.head = nn.Parameter(torch.zeros(size, num_classes))

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(x @ layer)
        return x @ self.head
"""


@pytest.fixture
def checks(request, tmp_path: Path) -> Checks:
    task, text = request.param
    (tmp_path / f"test_{task}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    return collect(tmp_path)


def judged(checks: Checks, source: str, *, include_hidden: bool = True) -> dict[str, CheckResult]:
    """Judge a source by the checks of the only task there is."""
    (task,) = {check.task for check in checks.all}
    namespace = {"torch": torch, "nn": nn, "F": F}
    exec(source, namespace)
    without = checks.without(task)
    answers = Submission(Executor(namespace, without=without).perform, {task: source}, without=without)
    results = checks.run(task, answers, seed=3, include_hidden=include_hidden)
    return {result.check.name: result for result in results}


def failed(checks: Checks, source: str) -> list[str]:
    """Return the names of the checks that fail, faults of checks excluded."""
    results = judged(checks, source)
    assert not any(result.fault for result in results.values())
    return [name for name, result in results.items() if result.outcome not in ("passed", "skipped")]


@pytest.mark.parametrize("checks", [("step", FUNCTION)], indirect=True)
def test_what_is_made_is_an_ordinary_check(checks: Checks):
    told = {check.name: (check.rule, check.points, check.needs) for check in checks.all}
    assert list(told) == [
        *(
            "from_scratch",
            "shape",
            "numbers",
            "no_state",
            "any_size",
            "hidden",
            "gradients",
            "dtype",
            "device",
        ),
        "mutation",
    ]
    assert told["from_scratch"] == ("from-scratch", 0.5, ())
    assert told["numbers"] == ("values", 1.0, ("shape",))
    assert told["no_state"] == ("values", 1.0, ("shape",))
    titles = {check.name: check.title for check in checks.all}
    assert titles["shape"] == "It returns h_next (batch, hidden) and total (batch)."
    assert titles["gradients"] == "Gradients reach x, w and h."
    assert titles["numbers"] == "The numbers are right."
    (hidden,) = (check for check in checks.all if check.instead is not None)
    assert (hidden.name, hidden.instead) == ("hidden", "More is asked when grading.")
    assert checks.without("step") is not None


WRONG = {
    ("step", "a shape"): ("x.sum(1)", "x.sum(1, keepdim=True)", ["shape"]),
    ("step", "a value"): ("torch.tanh(seen)", "torch.tanh(2 * seen)", ["numbers", "no_state"]),
    ("step", "the state"): ("if h is not None", "if h is None or h.any()", ["no_state"]),
    ("step", "one sequence"): ("torch.tanh(seen)", "torch.tanh(seen).squeeze(0)", ["any_size"]),
    ("step", "a cut"): ("torch.tanh(seen)", "torch.tanh(seen.detach())", ["gradients"]),
    ("step", "a dtype"): ("x.sum(1)", "x.double().sum(1)", ["dtype"]),
    ("step", "a device"): ("x.sum(1)", "x.sum(1) + torch.zeros(len(x), dtype=x.dtype)", ["device"]),
    ("step", "an argument"): ("    return", "    x.add_(1).sub_(1); x += 1e-9\n    return", ["mutation"]),
    ("step", "what is forbidden"): (
        "seen = x @ w",
        "one = x[:, :1]; seen = x @ w + 0 * torch.rnn_tanh_cell(one, one, w[:1, :1], w[:1, :1])",
        ["from_scratch"],
    ),
    ("Cell", "a parameter"): ("nn.Parameter(torch.zeros(hidden_size))", "torch.zeros(())", ["parameters"]),
    ("Cell", "old parameters"): (
        "        h, c = state\n        return torch.tanh(x @ self.W",
        "        h, c = state\n        self.__dict__.setdefault('kept', self.W.detach().clone())\n"
        "        return torch.tanh(x @ (self.kept + self.W - self.W.detach())",
        ["follows"],
    ),
    ("Cell", "a cut"): ("x @ self.W", "x @ self.W.data", ["gradients"]),
    ("Cell", "a state"): ("h, c = state", "h, c = state[0].zero_(), state[1]", ["numbers", "mutation"]),
    ("drive", "a state"): ("rnn(x, h_0)", "rnn(x, None)", ["numbers", "gradients"]),
    ("drive", "a call too late"): (
        "return rnn(x, h_0)",
        "output, h_n = rnn(x, getattr(rnn, 'last', None) if h_0 is None else h_0)\n"
        "    rnn.last = h_n.detach()\n    return output, h_n",
        ["twice"],
    ),
    ("drive", "weights"): (
        "return rnn(x, h_0)",
        "answer = rnn(x, h_0)\n    rnn.weight_ih_l0.data.mul_(2)\n    return answer",
        ["mutation"],
    ),
    ("Stack", "a default"): ("num_classes=4", "num_classes=5", ["parameters"]),
    ("Stack", "a layer"): ("range(num_layers)", "range(3)", ["classes"]),
    ("Stack", "an option"): ("torch.zeros(size, num_classes)", "torch.zeros(size, 4)", ["classes"]),
    ("Stack", "large weights"): ("x @ self.head", "(x @ self.head).clamp(-1.5, 1.5)", ["ones"]),
    ("Stack", "eval"): ("x @ self.head", "x @ self.head * (1 if self.training else 2)", ["eval"]),
    ("Stack", "a device"): ("x @ self.head", "x @ self.head + torch.zeros(1, dtype=x.dtype)", ["device"]),
}  # fmt: skip
RIGHT = {
    "step": (FUNCTION, STEP),
    "Cell": (MODULE, CELL),
    "drive": (HANDED, DRIVE),
    "Stack": (STACKED, STACK),
}


@pytest.mark.parametrize(
    "checks", [(task, text) for task, (text, _) in RIGHT.items()], indirect=True, ids=RIGHT
)
def test_a_right_answer_passes_every_check(checks: Checks):
    source = RIGHT[checks.all[0].task][1]
    assert not failed(checks, source)


@pytest.mark.parametrize(
    ("checks", "wrong"), [((task, RIGHT[task][0]), (task, name)) for task, name in WRONG], indirect=["checks"]
)
def test_a_fault_is_found_by_the_check_of_its_rule(checks: Checks, wrong: tuple[str, str]):
    old, new, expected = WRONG[wrong]
    source = RIGHT[wrong[0]][1]
    assert source.count(old) == 1
    found = failed(checks, source.replace(old, new))
    assert set(expected) <= set(found)
    if expected[0] in ("dtype", "device", "follows", "twice", "no_state"):
        assert found == expected


@pytest.mark.parametrize("checks", [("drive", HANDED)], indirect=True)
def test_what_stays_behind_is_told_where_only_a_second_call_is_wrong(checks: Checks):
    old, new, _ = WRONG["drive", "a call too late"]
    told = judged(checks, DRIVE.replace(old, new))["twice"].message
    assert told.startswith("Called a second time: ")
    assert "The first such call is right: does something stay behind" in told
    assert "It is right" not in told


@pytest.mark.parametrize("checks", [("step", FUNCTION)], indirect=True)
def test_a_case_is_told_by_its_words_and_sizes(checks: Checks):
    told = judged(checks, STEP.replace("x.sum(1)", "x.sum(1)[:19]"))["any_size"].message
    sequences = int(told.removeprefix("With ").split()[0])
    assert 20 <= sequences <= 30
    assert told.startswith(f"With {sequences} sequences: `total` has shape (19,)")


@pytest.mark.parametrize("checks", [("step", FUNCTION)], indirect=True)
def test_all_cases_of_a_check_go_in_one_exchange(checks: Checks):
    namespace = {"torch": torch}
    exec(STEP, namespace)
    home, batches = Executor(namespace), []

    def perform(messages):
        batches.append(len(messages))
        return home.perform(messages)

    (check,) = (each for each in checks.all if each.name == "any_size")
    (item,) = checks.items_of(check)
    assert TaskRun(checks, "step", Submission(perform), 3).tried(item).raised is None
    assert len(batches) == 1
    assert batches[0] == 1 + 5  # the beginning, and five cases


def test_a_fault_is_told_with_the_line_of_the_statement(tmp_path: Path):
    text = textwrap.dedent(FUNCTION)
    unknown, absent = tmp_path / "unknown", tmp_path / "absent"
    unknown.mkdir()
    (unknown / "test_step.py").write_text(text.replace('"total": "B"}', '"total": "Q"}'), encoding="utf-8")
    with pytest.raises(ChecksBroken, match="There is no dimension `Q`"):
        collect(unknown)
    absent.mkdir()
    text = text.replace("task.devices(needs", "task.devices(on_cpu=['y'], needs")
    (absent / "test_step.py").write_text(text, encoding="utf-8")
    fault = judged(collect(absent), STEP)["device"].fault
    assert fault is not None
    line = text[: text.index("on_cpu=['y']")].count("\n") + 1
    assert (Path(fault.file).name, fault.line) == ("test_step.py", line)


@pytest.mark.parametrize(
    ("said", "method", "keywords"),
    [
        ("'point' is no mark of a check", "values", {"point": 1}),
        ("whole or half", "values", {"points": 0.3}),
        ("nothing is forbidden", "from_scratch", {}),
    ],
)
def test_a_keyword_that_makes_no_sense_is_refused(said: str, method: str, keywords: dict):
    task = FunctionSpec("f", inputs={"x": "B"}, outputs={"y": "B"}, reference=torch.tanh)
    with pytest.raises((TypeError, ValueError), match=said):
        getattr(task, method)(**keywords)


def test_a_reference_may_be_a_function_of_torchs_that_python_cannot_look_into():
    task = FunctionSpec("f", inputs={"x": "B"}, outputs={"y": "B"}, reference=torch.tanh)
    assert task.values(points=1).autograder_signatures == {"f": "f(x)"}
