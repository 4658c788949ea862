"""`predict_shapes(kind, …)`: the shapes that a batch-first nn.RNN, nn.GRU or nn.LSTM returns."""

from autograder.checking import asked, case, needs, points, reference, rule
from autograder.exercises.shapes.given import expect_shape_dict, expect_shapes


def given(sizes):
    """The arguments after `kind`."""
    return sizes.B, sizes.T, sizes.D, sizes.H, sizes.L


shapes_by_torch = reference("reference_predict_shapes:shapes_by_torch")


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns a dict with a shape, whole numbers in a tuple or list, for "output" and for "h_n"."""
    expect_shape_dict(submission.predict_shapes("RNN", *given(sizes), False), ("output", "h_n"))


@points(1)
@rule("values")
@needs(test_shape)
def test_one_direction(submission, sizes, draw):
    """The shapes of a three-layer nn.RNN and nn.GRU are predicted."""
    for kind in ("RNN", "GRU"):
        with case(f"for nn.{kind} with three layers"):
            expect_shapes(submission.predict_shapes(kind, *given(sizes)), shapes_by_torch(kind, sizes), sizes)


@points(0.5)
@rule("values")
@needs(test_one_direction)
def test_cell_state(submission, sizes, draw):
    """An nn.LSTM also has a cell state, "c_n"; the others have none."""
    for kind in ("LSTM", "RNN", "GRU"):
        with case(f"for nn.{kind} with three layers"):
            expect_shapes(submission.predict_shapes(kind, *given(sizes)), shapes_by_torch(kind, sizes), sizes)


@points(0.5)
@rule("values")
@needs(test_cell_state)
def test_two_directions(submission, sizes, draw):
    """With two directions the shapes of all three kinds are predicted."""
    kinds = ("RNN", "GRU", "LSTM")
    calls = ((submission.predict_shapes.request(kind, *given(sizes), True), kind) for kind in kinds)
    for answer, kind in asked(calls):  # a mistake of one kind alone is not that of all
        with case(f"for nn.{kind} with three layers and two directions"):
            expect_shapes(answer(), shapes_by_torch(kind, sizes, True), sizes)


@points(0.5)
@rule("generality")
@needs(test_one_direction)
def test_any_size(submission, sizes, draw):
    """It is right for one sequence, one step, one layer, deep networks, and equal sizes."""
    for other, context in (
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(T=1), "with one time step (T = 1)"),
        (sizes.but(L=1), "with one layer (L = 1)"),
        (sizes.but(L=6), "with six layers"),
        (sizes.but(H=1), "with one hidden unit (H = 1)"),
        (sizes.but(B=1, T=1, D=1, H=1, L=1), "with every size 1"),
        (sizes.but(B=4, T=4, D=4, H=4, L=4), "with every size 4"),
        (sizes.but(B=16, T=40, D=26), "with more sequences, steps and features"),
    ):
        with case(context):
            expect_shapes(
                submission.predict_shapes("RNN", *given(other)), shapes_by_torch("RNN", other), other
            )


@points(0)
@rule("generality")
@needs(test_two_directions, test_any_size)
def test_one_layer_of_two_directions(submission, sizes, draw):
    """It is right for one layer with two directions."""
    one = sizes.but(L=1)
    with case("for nn.LSTM with one layer and two directions"):
        answer = submission.predict_shapes("LSTM", *given(one), True)
        expect_shapes(answer, shapes_by_torch("LSTM", one, True), one)
