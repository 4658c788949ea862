"""`last_step(output)`: the last time step of every sequence."""

from autograder.checking import (
    case,
    expect,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    needs,
    points,
    recorded,
    rule,
)
from autograder.exercises.shapes.given import expect_no_other_part

RESULT = {"names": "last", "dims": "B H"}


@recorded
def reference(output):
    return output.unbind(1)[-1]


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns one vector for every sequence, (batch, hidden)."""
    other = sizes.but(B=9, T=13)  # fewer sequences than steps: a step of the batch's number exists
    output = draw.at(other)("B T H")
    expect(submission.last_step(output), reference(output), **RESULT, sizes=other, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_is_the_last_step(submission, sizes, draw):
    """The vectors are those of the last time step, with fewer and with more sequences than steps."""
    few, many = sorted((sizes.B, sizes.T))
    for other in (sizes.but(B=few, T=many), sizes.but(B=many, T=few)):
        output = draw.at(other)("B T H")
        with case(f"with {other.B} sequences of {other.T} steps"):
            answer = submission.last_step(output)
            expect_no_other_part(answer, output, 1, other.T - 1, "time step")
            expect(answer, reference(output), **RESULT, sizes=other)


@points(0.5)
@rule("generality")
@needs(test_is_the_last_step)
def test_any_size(submission, sizes, draw):
    """It works for one step, one sequence, equal sizes, long sequences, and what is not contiguous."""
    for other, context in (
        (sizes.but(T=1), "with one time step (T = 1)"),
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(H=1), "with one hidden unit (H = 1)"),
        (sizes.but(B=1, T=1, H=1), "with every size 1"),
        (sizes.but(B=4, T=4, H=4), "with every size 4"),
        (sizes.but(T=130), "with a longer sequence"),
    ):
        output = draw.at(other)("B T H")
        with case(context):
            expect(submission.last_step(output), reference(output), **RESULT, sizes=other)
    output = draw.strided("B T H")
    with case("with an output that is not contiguous in memory"):
        expect(submission.last_step(output), reference(output), **RESULT, sizes=sizes)


@points(0)
@rule("gradient")
@needs(test_is_the_last_step)
def test_gradients(submission, sizes, draw):
    """Gradients reach the last step, so that a network in front of it can be trained."""
    expect_gradients(submission.last_step, reference, (draw("B T H"),), names=("output",), draw=draw)


@points(0)
@rule("dtype")
@needs(test_is_the_last_step)
def test_dtype(submission, sizes, draw):
    """The dtype of the output is the dtype of the result."""
    expect_dtypes(submission.last_step, (draw("B T H"),), names="last")


@points(0)
@rule("mutation")
@needs(test_is_the_last_step)
def test_arguments_untouched(submission, sizes, draw):
    """The output is the same after the call as before."""
    output = draw("B T H")
    expect_untouched(submission.last_step.run((output,)), (output,), ("output",))
