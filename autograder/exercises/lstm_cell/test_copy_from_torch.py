"""`copy_from_torch(cell, torch_cell)`: copy nn.LSTMCell's weights into your own `LSTMCell`."""

import torch
from torch import nn

from autograder.checking import anywhere, case, fail, needs, points, rule
from autograder.exercises.per_gate import (
    DIMS,
    NAMES,
    by_gate,
    expect_copied,
    expect_copied_in_place,
    expect_copies,
    own_or_bare,
)


def reference_cell(draw, dtype=torch.float64):
    return draw.module(nn.LSTMCell, draw.sizes.D, draw.sizes.H, dtype=dtype)


def own_cell(submission, sizes):
    """The student's cell, or a bare holder of the twelve parameters where theirs does not have them yet."""
    shapes = {name: sizes.shape(dims) for name, dims in DIMS.items()}
    return own_or_bare(submission, "LSTMCell", (sizes.D, sizes.H), shapes, "Holder")


def both_cells(submission, sizes, torch_cell, dtype=torch.float64):
    """The student's cell, and the torch cell that is to be copied into it."""
    given = submission.given("LSTMCell", sizes.D, sizes.H, state=torch_cell.state_dict(), dtype=dtype)
    cell = own_cell(submission, sizes)
    cell.to(dtype)
    return cell, given


def copied(submission, sizes, torch_cell, dtype=torch.float64):
    """The student's cell after the copy."""
    cell, given = both_cells(submission, sizes, torch_cell, dtype)
    submission.copy_from_torch.defer(cell, given)
    return cell


def numbers_of(torch_cell):
    """The numbers of a torch cell by the names that the student's cell has for them."""
    return by_gate(*(parameter.detach() for parameter in torch_cell.parameters()))


@points(1)
@rule("values")
@anywhere
def test_same_step(submission, sizes, draw):
    """After the copy both cells compute the same step, and again after a copy of other weights."""
    reference, other = reference_cell(draw), reference_cell(draw)
    cell = copied(submission, sizes, reference)
    once = cell.parameters_request(computed=True)
    again = submission.given("LSTMCell", sizes.D, sizes.H, state=other.state_dict(), dtype=torch.float64)
    submission.copy_from_torch.defer(cell, again)
    twice = cell.parameters_request(computed=True)
    expect_copied(once.ask(), numbers_of(reference))
    with case("after a second copy, from other weights"):
        expect_copied(twice.ask(), numbers_of(other))


@points(0)
@rule("generality")
@needs(test_same_step)
def test_any_size(submission, sizes, draw):
    """It works when the input is as wide as the state, and for one feature and one hidden unit."""
    for other, context in (
        (sizes.but(D=4, H=4), "with D = H = 4"),
        (sizes.but(D=1, H=1), "with D = H = 1"),
    ):
        reference = reference_cell(draw.at(other))
        with case(context):
            held = copied(submission, other, reference).parameters(computed=True)
            expect_copied(held, numbers_of(reference))


@points(0.5)
@rule("registration")
@needs(test_same_step)
def test_still_trainable(submission, sizes, draw):
    """The copy is in place and outside the graph: the same parameters, which still require gradients."""
    expect_copied_in_place(submission, *both_cells(submission, sizes, reference_cell(draw)), NAMES)


@points(0.5)
@rule("mutation")
@needs(test_same_step)
def test_is_a_copy(submission, sizes, draw):
    """The torch cell is left as it was, and changing it later does not change the copy."""
    # With one feature and one hidden unit a transposed matrix is laid out as before, so some copies are none.
    copies = []
    for other, context in ((sizes, ""), (sizes.but(D=1, H=1), "with D = H = 1")):
        reference = reference_cell(draw.at(other))
        copies.append((*both_cells(submission, other, reference), reference, context))
    expect_copies(submission, copies, NAMES, ("cell", "torch_cell"))


@points(0)
@rule("dtype")
@needs(test_same_step)
def test_dtype(submission, sizes, draw):
    """A cell of another dtype keeps its dtype."""
    for dtype in (torch.float32, torch.bfloat16):
        with case(f"with a cell in {dtype}"):
            held = copied(submission, sizes, reference_cell(draw, dtype), dtype).parameters(computed=True)
        for name, value in held.items():
            if value.dtype != dtype:
                fail(f"After the copy `{name}` is {value.dtype}, not {dtype}.")
