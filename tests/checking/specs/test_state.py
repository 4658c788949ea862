"""State and refusals as a specification states them: buffers, what a function changes, and exceptions."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.checking.runner.check import ChecksBroken
from autograder.checking.runner.checks import Checks
from autograder.checking.runner.collection import collect
from tests.checking.specs.test_specs import failed, judged

NORM = '''
"""`BatchNorm(num_features)`."""
import torch
import torch.nn.functional as F
from autograder.checking import Dimension, Dimensions, ModuleSpec, standard

DIMENSIONS = Dimensions(B=Dimension("batch", one="row", small=(2, 3)), D="features")

def reference(held, x, training):
    held["num_batches_tracked"] += int(training)
    statistics = held["running_mean"], held["running_var"]
    return F.batch_norm(x, *statistics, held["weight"], held["bias"], training)

task = ModuleSpec(
    "BatchNorm",
    made_with={"num_features": "D"},
    parameters={"weight": "D", "bias": "D"},
    buffers=lambda sizes: {
        "running_mean": torch.zeros(sizes.D),
        "running_var": torch.ones(sizes.D),
        "num_batches_tracked": torch.tensor(0),
    },
    inputs={"x": "B D"},
    outputs={"y": "B D"},
    reference=reference,
)
standard(task, values=1, updates=1)
'''
BATCH_NORM = """
class BatchNorm(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(num_features))
        self.bias = nn.Parameter(torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(self, x):
        if self.training:
            mean, var = x.mean(0), x.var(0, unbiased=False)
            with torch.no_grad():
                self.running_mean = 0.9 * self.running_mean + 0.1 * mean
                self.running_var = 0.9 * self.running_var + 0.1 * x.var(0)
                self.num_batches_tracked += 1
        else:
            mean, var = self.running_mean, self.running_var
        return (x - mean) / torch.sqrt(var + 1e-5) * self.weight + self.bias
"""
IN_PLACE = BATCH_NORM.replace(
    "self.running_mean = 0.9 * self.running_mean + 0.1 * mean", "self.running_mean.lerp_(mean, 0.1)"
).replace("self.num_batches_tracked += 1", "self.num_batches_tracked = self.num_batches_tracked + 1")
OF_TORCH = """
class BatchNorm(nn.BatchNorm1d):
    pass
"""

MEAN = 'self.register_buffer("running_mean", torch.zeros(num_features))'
VAR = 'self.register_buffer("running_var", torch.ones(num_features))'
ATTRIBUTE = "self.running_mean = torch.zeros(num_features)"
PARAMETER = "self.running_mean = nn.Parameter(torch.zeros(num_features), requires_grad=False)"

COUNTING = '''
"""`Warmup(size)`: counts its steps, in either mode."""
import torch
from autograder.checking import ModuleSpec, standard

def reference(held, x, training):
    held["steps"] = held["steps"] + 1
    return x * held["weight"] * (held["steps"] / 10).clamp(max=1)

task = ModuleSpec(
    "Warmup",
    made_with={"size": "D"},
    parameters={"weight": "D"},
    buffers=lambda sizes: {"steps": torch.tensor(0)},
    inputs={"x": "B D"},
    outputs={"y": "B D"},
    reference=reference,
)
standard(task, values=1, updates=1)
'''
WARMUP = """
class Warmup(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.register_buffer("steps", torch.tensor(0))

    def forward(self, x):
        self.steps += 1
        return x * self.weight * min(1, self.steps / 10)
"""

TRAINING = '''
"""`train_step(model, optimizer, x, y)`: one step."""
import torch
from torch import nn
from autograder.checking import FunctionSpec, Handed, Optimizer, standard

def reference(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss.detach()

task = FunctionSpec(
    "train_step",
    inputs={
        "model": Handed(nn.Linear, "D", "H"),
        "optimizer": Optimizer(torch.optim.SGD, "model", lr=0.1, momentum=0.9),
        "x": "B D",
        "y": "B H",
    },
    outputs={"loss": ""},
    changes=["model"],
    reference=reference,
)
standard(task, values=1, updates=1, gradients="the loss is returned without a graph")
'''
TRAIN_STEP = """
def train_step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()
"""

REFUSING = '''
"""`scale(x, weight)`: refuses what does not fit."""
from autograder.checking import FunctionSpec, standard, with_inputs, worth

task = FunctionSpec(
    "scale",
    inputs={"x": "B D", "weight": "D"},
    outputs={"y": "B D"},
    reference=lambda x, weight: x * weight,
)
standard(
    task,
    values=1,
    raises=worth(1, with_inputs("with one weight", weight="1"), with_inputs("with H weights", weight="H")),
)
'''
SCALE = """
def scale(x, weight):
    if weight.shape != x.shape[1:]:
        raise ValueError("one weight for each feature")
    return x * weight
"""
HEIGHT = '''
"""`Table(rows)`: refuses to be made without a row."""
import torch
from autograder.checking import USUAL, ModuleSpec

task = ModuleSpec(
    "Table",
    made_with={"rows": "D"},
    parameters={"weight": "D"},
    inputs={"x": "B D"},
    outputs={"y": "B D"},
    reference=lambda held, x: x * held["weight"],
)
no_row = USUAL.with_options(rows=0).named("with no row")
test_raises = task.raises(no_row, error=(ValueError, IndexError), points=1)
'''
TABLE = """
class Table(nn.Module):
    def __init__(self, rows):
        super().__init__()
        if not rows:
            raise IndexError("a row at least")
        self.weight = nn.Parameter(torch.ones(rows))

    def forward(self, x):
        return x * self.weight
"""


@pytest.fixture
def checks(request, tmp_path: Path) -> Checks:
    task, text = request.param
    (tmp_path / f"test_{task}.py").write_text(text, encoding="utf-8")
    return collect(tmp_path)


@pytest.mark.parametrize("checks", [("BatchNorm", NORM)], indirect=True)
class TestBuffers:
    @pytest.mark.parametrize("source", [BATCH_NORM, IN_PLACE, OF_TORCH], ids=["new", "in place", "torch's"])
    def test_a_right_answer_passes(self, checks, source):
        assert failed(checks, source) == []

    def test_its_checks_are_those_of_a_module_with_a_state(self, checks):
        names = {check.name for check in checks.all}
        assert "updates" in names
        assert "follows_its_parameters" not in names
        (registered,) = (check.title for check in checks.all if check.name == "parameters")
        assert "the buffer running_mean" in registered

    @pytest.mark.parametrize(
        ("old", "new", "expected", "said"),
        [
            ("0.1 * x.var(0)", "0.1 * var", "updates", "`running_var` does not hold the right values"),
            ("0.1 * mean", "0.2 * mean", "updates", "`running_mean` does not hold"),
            ("if self.training:", "if True:", "updates", "In eval(), after two calls in training mode"),
            ("_tracked += 1", "_tracked.clone()", "updates", "`num_batches_tracked` does not hold"),
            (
                "with torch.no_grad():",
                "if True:",
                "updates",
                "The call leaves its graph in `running_mean` and `running_var`",
            ),
            (
                VAR,
                VAR.replace("ones", "zeros"),
                "parameters",
                "`running_var` does not hold the right values in a",
            ),
            (MEAN, ATTRIBUTE, "parameters", "has no buffer named `running_mean`"),
            (MEAN, PARAMETER, "parameters", "not as a parameter"),
            (
                MEAN,
                f"{MEAN}\n        self.register_buffer('more', torch.ones(1))",
                "parameters",
                "`more` in addition",
            ),
            ("x.var(0, unbiased=False)", "x.var(0)", "values", "not the right values"),
            ("* self.weight", "* self.weight.detach()", "gradients", "No gradient reaches `weight`"),
            ("(x - mean) /", "(x - mean.detach()) /", "gradients", "gets a gradient, but a wrong one"),
        ],
    )
    def test_each_mistake_fails_the_check_of_its_rule(self, checks, old, new, expected, said):
        assert BATCH_NORM.count(old) == 1
        found = judged(checks, BATCH_NORM.replace(old, new))
        assert not any(result.fault for result in found.values())
        assert found[expected].outcome in ("failed", "error"), found[expected]
        assert said in found[expected].message

    def test_no_buffer_is_blamed_in_training_mode(self, checks):
        """A right answer depends on none there, either."""
        found = judged(checks, BATCH_NORM.replace("x.var(0, unbiased=False)", "x.var(0)"))
        assert "not the right values" in found["values"].message
        assert "running" not in found["values"].message

    def test_a_wrong_answer_in_eval_does_not_cost_the_gradients(self, checks):
        assert failed(checks, BATCH_NORM.replace("if self.training:", "if True:")) == ["updates"]


@pytest.mark.parametrize("checks", [("Warmup", COUNTING)], indirect=True)
class TestCounter:
    def test_a_right_answer_passes(self, checks):
        assert failed(checks, WARMUP) == []

    def test_a_counter_that_stands_still_fails(self, checks):
        found = judged(checks, WARMUP.replace("self.steps += 1", "self.steps = torch.ones_like(self.steps)"))
        assert found["values"].outcome == "passed"
        assert found["updates"].message.startswith("At a second call, after an optimizer step: `y`")


@pytest.mark.parametrize("checks", [("train_step", TRAINING)], indirect=True)
class TestChanges:
    def test_a_right_answer_passes(self, checks):
        assert failed(checks, TRAIN_STEP) == []

    @pytest.mark.parametrize(
        ("old", "new", "expected", "said"),
        [
            ("    optimizer.zero_grad()\n", "", "updates", "At a second call with the same objects: `model."),
            (
                "    optimizer.step()\n",
                "",
                "updates",
                "`model.weight` does not hold the right values after the",
            ),
            (
                "return loss.detach()",
                "return F.mse_loss(model(x), y).detach()",
                "values",
                "`loss` has the right shape but not the right value",
            ),
            (
                "    optimizer.zero_grad()\n",
                "    optimizer.zero_grad()\n    model.eval()\n",
                "arguments_untouched",
                "changes the mode of `model`",
            ),
            (
                "    optimizer.zero_grad()\n",
                "    optimizer.zero_grad()\n    x.mul_(1.5)\n",
                "arguments_untouched",
                "changed its argument `x`",
            ),
        ],
    )
    def test_each_mistake_fails_the_check_of_its_rule(self, checks, old, new, expected, said):
        assert TRAIN_STEP.count(old) == 1
        found = judged(checks, TRAIN_STEP.replace(old, new))
        assert not any(result.fault for result in found.values())
        assert (found[expected].outcome, said in found[expected].message) == ("failed", True), found[expected]


@pytest.mark.parametrize("checks", [("scale", REFUSING)], indirect=True)
class TestRefusals:
    def test_a_right_answer_passes(self, checks):
        assert failed(checks, SCALE) == []

    def test_so_does_an_exception_of_ones_own(self, checks):
        own = "class Misfit(ValueError):\n    pass\n" + SCALE.replace("raise ValueError", "raise Misfit")
        assert failed(checks, own) == []

    def test_an_answer_fails(self, checks):
        found = judged(checks, "def scale(x, weight):\n    return x * weight")["raises"]
        assert found.outcome == "failed"
        assert found.message.startswith(
            "With one weight: The call must raise `ValueError`; it returns one tensor"
        )

    def test_another_exception_fails(self, checks):
        found = judged(checks, SCALE.replace("raise ValueError", "raise KeyError"))["raises"]
        assert found.message.startswith(
            "With one weight: The call must raise `ValueError`; it stops with KeyError: 'one weight for"
        )

    def test_an_unwritten_task_says_so(self, checks):
        unwritten = SCALE.replace(
            '        raise ValueError("one weight for each feature")', "        raise NotImplementedError()"
        )
        assert "still raises NotImplementedError" in judged(checks, unwritten)["raises"].message


@pytest.mark.parametrize("checks", [("Table", HEIGHT)], indirect=True)
def test_a_class_may_refuse_to_be_made(checks):
    assert failed(checks, TABLE) == []
    assert failed(checks, TABLE.replace("if not rows:", "if False:")) == ["raises"]


FOLLOWS = "standard(task, values=1, follows=1)"
NO_CASE = (
    'raises=worth(1, with_inputs("with one weight", weight="1"), with_inputs("with H weights", weight="H"))'
)


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        (NORM, "standard(task, values=1, updates=1)", FOLLOWS, "`updates` takes the place"),
        (TRAINING, 'changes=["model"]', 'changes=["x"]', "no input 'x' of 'train_step' is a `Handed` module"),
        (TRAINING, 'SGD, "model"', 'SGD, "mode"', "no input 'mode' of"),
        (TRAINING, "torch.optim.SGD,", "nn.Linear,", "is no class of torch.optim"),
        (REFUSING, NO_CASE, "raises=1", "say which calls of 'scale' must stop"),
        (REFUSING, "values=1", "updates=1", "a call of 'scale' changes nothing"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, text, old, new, said):
    assert text.count(old) == 1
    (tmp_path / "test_it.py").write_text(text.replace(old, new))
    with pytest.raises(ChecksBroken, match=said):
        collect(tmp_path)
