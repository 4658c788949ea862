"""`layer_state(h_n, layer)`: the final state of one layer, for every sequence."""

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

RESULT = {"names": "state", "dims": "B H"}


@recorded
def reference(h_n, layer):
    return h_n.unbind(0)[layer]


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns one vector for every sequence, (batch, hidden)."""
    h_n = draw("L B H")
    expect(submission.layer_state(h_n, 1), reference(h_n, 1), **RESULT, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_each_layer(submission, sizes, draw):
    """Each of three layers is found by its number, counting from 0 at the bottom."""
    h_n = draw("L B H")
    answers = []  # all of them before the first is judged: together they tell how a student counts
    for layer in range(sizes.L):
        with case(f"for layer {layer} of {sizes.L}"):
            answers.append(submission.layer_state(h_n, layer))
    for layer, answer in enumerate(answers):
        with case(f"for layer {layer} of {sizes.L}"):
            expect_no_other_part(answer, h_n, 0, layer, "layer")
            expect(answer, reference(h_n, layer), **RESULT, sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_each_layer)
def test_any_size(submission, sizes, draw):
    """It works for one layer, deep networks, one sequence, equal sizes, and what is not contiguous."""
    for other, context in (
        (sizes.but(L=1), "with one layer (L = 1)"),
        (sizes.but(L=6), "with six layers"),
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(H=1), "with one hidden unit (H = 1)"),
        (sizes.but(B=1, H=1, L=1), "with every size 1"),
        (sizes.but(B=4, H=4, L=4), "with every size 4"),
    ):
        h_n = draw.at(other)("L B H")
        for layer in range(other.L):
            with case(f"{context}, for layer {layer}"):
                expect(submission.layer_state(h_n, layer), reference(h_n, layer), **RESULT, sizes=other)
    h_n = draw.strided("L B H")
    with case("with an h_n that is not contiguous in memory"):
        expect(submission.layer_state(h_n, 1), reference(h_n, 1), **RESULT, sizes=sizes)


@points(0)
@rule("gradient")
@needs(test_each_layer)
def test_gradients(submission, sizes, draw):
    """Gradients reach the layer's state."""
    expect_gradients(submission.layer_state, reference, (draw("L B H"), 1), names=("h_n",), draw=draw)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of h_n is the dtype of the result."""
    expect_dtypes(submission.layer_state, (draw("L B H"), 1), names="state")


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """h_n is the same after the call as before."""
    h_n = draw("L B H")
    expect_untouched(submission.layer_state.run((h_n, 1)), (h_n, 1), ("h_n", "layer"))
