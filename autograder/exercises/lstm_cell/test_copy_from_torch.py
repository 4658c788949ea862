"""`copy_from_torch(cell, torch_cell)`: nn.LSTMCell's weights into the student's own LSTMCell."""

import torch
from torch import nn

from autograder.checking import expect, expect_not_shared, fail, needs, points, rule
from autograder.checking.submission import StudentError
from autograder.exercises.lstm_cell.given import NAMES, cell_step

RESULTS = {"names": ("h_next", "c_next"), "dims": "B H"}

HOLDER = """
class Holder(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        for gate in "ifgo":
            self.register_parameter(f"W_x{gate}", nn.Parameter(torch.zeros(input_size, hidden_size)))
            self.register_parameter(f"W_h{gate}", nn.Parameter(torch.zeros(hidden_size, hidden_size)))
            self.register_parameter(f"b_{gate}", nn.Parameter(torch.zeros(hidden_size)))
"""


def reference_cell(draw, dtype=torch.float64):
    return draw.module(nn.LSTMCell, draw.sizes.D, draw.sizes.H, dtype=dtype)


def copied(submission, torch_cell, dtype=torch.float64):
    """The student's cell after the copy, and the torch cell it was copied from, both on the student's side.

    Where the student's own class does not have the twelve parameters yet, a bare holder of them
    stands in: this task is about the copy.
    """
    sizes = torch_cell.input_size, torch_cell.hidden_size
    given = submission.given("LSTMCell", *sizes, state=torch_cell.state_dict(), dtype=dtype)
    try:
        cell = submission.LSTMCell(*sizes)
        complete = set(NAMES) <= set(cell.describe().parameters)
    except StudentError:
        complete = False
    if not complete:
        cell = submission.given("Holder", *sizes, source=HOLDER)
    cell.to(dtype)
    submission.copy_from_torch(cell, given)
    return cell, given


def step_of(cell, x, h, c):
    """The step that the cell's parameters describe: its own `forward` is judged in another task."""
    return cell_step(cell.state_dict(), x, h, c)


@points(1)
@rule("values")
def test_same_step(submission, sizes, draw):
    """After the copy both cells compute the same step."""
    reference = reference_cell(draw)
    cell, _ = copied(submission, reference)
    x, h, c = draw("B D"), draw("B H"), draw("B H")
    expect(step_of(cell, x, h, c), reference(x, (h, c)), **RESULTS, sizes=sizes)


@points(0)
@rule("generality")
@needs(test_same_step)
def test_any_size(submission, sizes, draw):
    """It works when the input is as wide as the state, and for one feature and one hidden unit."""
    for other, context in (
        (sizes.but(D=4, H=4), "with D = H = 4"),
        (sizes.but(D=1, H=1), "with D = H = 1"),
    ):
        here = draw.at(other)
        reference = reference_cell(here)
        cell, _ = copied(submission, reference)
        x, h, c = here("B D"), here("B H"), here("B H")
        expect(step_of(cell, x, h, c), reference(x, (h, c)), **RESULTS, sizes=other, context=context)


@points(0.5)
@rule("registration")
@needs(test_same_step)
def test_still_trainable(submission, sizes, draw):
    """The copy happens outside the graph: the parameters are still the module's own, and still ask for gradients."""
    cell, _ = copied(submission, reference_cell(draw))
    seen = cell.describe()
    missing = [name for name in NAMES if name not in seen.parameters]
    if missing:
        fail(f"After the copy `{missing[0]}` is no longer a registered parameter. Write into the parameter that is there.")
    frozen = [name for name in NAMES if name not in seen.trainable]
    if frozen:
        fail(f"After the copy `{frozen[0]}` no longer asks for gradients. Copy the numbers without changing the parameter.")
    leaves = [name for name in NAMES if not cell.attribute(name, "is_leaf")]
    if leaves:
        fail(f"After the copy `{leaves[0]}` is part of a graph. Copy under `torch.no_grad()`.")


@points(0.5)
@rule("mutation")
@needs(test_same_step)
def test_is_a_copy(submission, sizes, draw):
    """The torch cell is left as it was, and changing it afterwards does not change the copy."""
    reference = reference_cell(draw)
    cell, given = copied(submission, reference)
    for name, value in reference.state_dict().items():
        if not torch.equal(given.state_dict()[name], value):
            fail(f"The copy changed `torch_cell.{name}`, which it should only read.")
    before = cell.state_dict()
    given.load_state_dict({name: torch.zeros_like(value) for name, value in reference.state_dict().items()})
    after = cell.state_dict()
    for name in NAMES:
        expect_not_shared(before[name], after[name], name)


@points(0)
@rule("dtype")
@needs(test_same_step)
def test_dtype(submission, sizes, draw):
    """A cell of another dtype keeps its dtype."""
    for dtype in (torch.float32, torch.bfloat16):
        cell, _ = copied(submission, reference_cell(draw, dtype), dtype)
        for name, value in cell.state_dict().items():
            if value.dtype != dtype:
                fail(f"After the copy `{name}` is {value.dtype}, not {dtype}.")
