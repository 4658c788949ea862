"""`to_time_major(x)`: the same numbers with the time dimension first."""

import torch

from autograder.checking import (
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    fail,
    needs,
    points,
    recorded,
    rule,
)
from autograder.exercises.longer import short_and_long

RESULTS = {"names": "x_time_major", "dims": "T B D"}


@recorded
def reference(x):
    return torch.movedim(x, 0, 1)


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """The time dimension comes first: (time, batch, features)."""
    x = draw("B T D")
    expect(submission.to_time_major(x), reference(x), **RESULTS, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_nothing_mixed(submission, sizes, draw):
    """Step t of sequence b is still step t of sequence b."""
    x = draw("B T D")
    answer = submission.to_time_major(x)
    as_it_was = isinstance(answer, torch.Tensor) and torch.equal(answer.flatten(), x.flatten())
    if as_it_was and not torch.equal(answer, reference(x)):
        fail(
            "`x_time_major` has the right shape, but its numbers still stand in the order they had in `x`, "
            "so a step holds numbers of other steps. `reshape` and `view` never move a dimension: which "
            "operation swaps two of them?"
        )
    expect(answer, reference(x), **RESULTS, sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_nothing_mixed)
def test_any_size(submission, sizes, draw):
    """It works for as many sequences as steps, for one of each, and for inputs that are not contiguous."""
    for other, context in (
        (sizes.but(B=4, T=4), "with as many sequences as steps (B = T = 4)"),
        (sizes.but(B=4, T=4, D=4), "with every size 4"),
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(T=1), "with one time step (T = 1)"),
        (sizes.but(D=1), "with one feature (D = 1)"),
        (sizes.but(B=1, T=1, D=1), "with every size 1"),
    ):
        x = draw.at(other)("B T D")
        with case(context):
            expect(submission.to_time_major(x), reference(x), **RESULTS, sizes=other)
    x = draw.strided("B T D")
    with case("with an input that is not contiguous in memory"):
        expect(submission.to_time_major(x), reference(x), **RESULTS, sizes=sizes)


@points(0.5)
@rule("gradient")
@needs(test_nothing_mixed)
def test_gradients(submission, sizes, draw):
    """Gradients go back to the input."""
    for here, context in short_and_long(draw, (150, 300)):
        with context:
            expect_gradients(submission.to_time_major, reference, (here("B T D"),), names=("x",), draw=here)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the input is the dtype of the result."""
    expect_dtypes(submission.to_time_major, (draw("B T D"),), names="x_time_major")


@points(0)
@rule("device")
@needs(test_gradients, test_dtype)
def test_device(submission, sizes, draw):
    """With the input on a GPU the result is there, too."""
    expect_device_neutral(submission.to_time_major, (draw("B T D"),), names="x_time_major")


@points(0)
@rule("mutation")
@needs(test_shape)
def test_argument_untouched(submission, sizes, draw):
    """The input is the same after the call as before, its shape too."""
    arguments = (draw("B T D"),)
    expect_untouched(submission.to_time_major.run(arguments), arguments, ("x",))
