"""`item_states(h_n, item)`: the final states of one sequence of the batch, in every layer."""

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

RESULT = {"names": "states", "dims": "L H"}


@recorded
def reference(h_n, item):
    return h_n.unbind(1)[item]


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns one vector for every layer, (layers, hidden)."""
    h_n = draw("L B H")
    expect(submission.item_states(h_n, 1), reference(h_n, 1), **RESULT, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_each_sequence(submission, sizes, draw):
    """Each sequence of the batch is found by its number, with fewer and with more sequences than layers."""
    # The smallest input is as small as told: only of three layers are there fewer and more sequences.
    for other in (sizes.but(B=5), sizes.but(B=2)) if sizes.L > 2 else (sizes,):
        h_n = draw.at(other)("L B H")
        answers = []  # all of them before the first is judged: together they tell how a student counts
        for item in range(other.B):
            with case(f"for sequence {item} of {other.B}"):
                answers.append(submission.item_states(h_n, item))
        for item, answer in enumerate(answers):
            with case(f"for sequence {item} of {other.B}"):
                expect_no_other_part(answer, h_n, 1, item, "sequence")
                expect(answer, reference(h_n, item), **RESULT, sizes=other)


@points(0.5)
@rule("generality")
@needs(test_each_sequence)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one layer, deep networks, equal sizes, and what is not contiguous."""
    for other, context in (
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(B=20), "with many sequences"),
        (sizes.but(L=1), "with one layer (L = 1)"),
        (sizes.but(L=6), "with six layers"),
        (sizes.but(H=1), "with one hidden unit (H = 1)"),
        (sizes.but(B=1, H=1, L=1), "with every size 1"),
        (sizes.but(B=4, H=4, L=4), "with every size 4"),
    ):
        h_n = draw.at(other)("L B H")
        for item in range(other.B):
            with case(f"{context}, for sequence {item}"):
                expect(submission.item_states(h_n, item), reference(h_n, item), **RESULT, sizes=other)
    h_n = draw.strided("L B H")
    with case("with an h_n that is not contiguous in memory"):
        expect(submission.item_states(h_n, 1), reference(h_n, 1), **RESULT, sizes=sizes)


@points(0)
@rule("gradient")
@needs(test_each_sequence)
def test_gradients(submission, sizes, draw):
    """Gradients reach the sequence's states."""
    expect_gradients(submission.item_states, reference, (draw("L B H"), 1), names=("h_n",), draw=draw)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of h_n is the dtype of the result."""
    expect_dtypes(submission.item_states, (draw("L B H"), 1), names="states")


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """h_n is the same after the call as before."""
    h_n = draw("L B H")
    expect_untouched(submission.item_states.run((h_n, 1)), (h_n, 1), ("h_n", "item"))
