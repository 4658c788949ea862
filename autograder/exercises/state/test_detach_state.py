"""`detach_state(state)`: the same numbers, off the graph."""

from autograder.checking import (
    FunctionSpec,
    case,
    expect_untouched,
    fail,
    needs,
    points,
    rule,
    sized,
    standard,
    strided,
    worth,
)
from autograder.exercises.state.given import STATE, expect_no_past, expect_off_graph, look, random_state

task = FunctionSpec(
    "detach_state",
    inputs={"state": {"h": "L B H", "c": "L B H"}},
    outputs={"h": "L B H", "c": "L B H"},
    reference=lambda state: state,
)

standard(
    task,
    shape=worth(title="It returns a pair (h, c) with the shapes of the pair it was given."),
    values=worth(
        0.5,
        sized("with three layers"),
        sized("with one sequence (B = 1)", B=1),
        sized("with one layer (L = 1)", L=1),
        sized("with every size 1", B=1, H=1, L=1),
        sized("with more of everything", B=(20, 70), L=(7, 13), H=2),
        strided("with states that are not contiguous in memory"),
        name="same_values",
        title="h and c hold the same numbers as before, whatever the sizes.",
    ),
    any_size="the values are looked at in all sizes",
    gradients="test_off_the_graph below expects none",
    dtypes=worth(title="The states keep their dtype."),
    devices=worth(title="With the states on a GPU, the results are on it as well.", gradients=False),
    leaves_arguments="test_not_in_place below looks at the graph, too",
)


@points(0.5)
@rule("gradient")
@needs("same_values")
def test_off_the_graph(submission, sizes, draw):
    """No gradient flows back from the returned h and c to the ones it was given."""
    for other, factor, context in (
        (sizes, 1.0, "with three layers"),
        (sizes.but(B=1, L=1), 1.0, "with one sequence and one layer"),
        (sizes.but(B=draw.size(20, 70), L=draw.size(7, 13), H=2), 0.0, "with a large state of zeros"),
    ):
        h, c = random_state(draw.at(other))
        with case(context):
            call = submission.detach_state.run(((h * factor, c * factor),), grad=True)
            expect_off_graph(call, STATE["names"], other.shape("L B H"))
    expect_no_past(submission, "past_of_state", "detach_state", *random_state(draw))


@points(0.5)
@rule("mutation")
@needs("same_values")
def test_not_in_place(submission, sizes, draw):
    """The given state keeps its numbers and its place in the graph."""
    state = random_state(draw)
    expect_untouched(submission.detach_state.run((state,)), (state,), ("state",))
    cut = look(submission, "cut_in_place", "detach_state", *state)
    names = [f"`{name}`" for name, gone in zip(STATE["names"], cut, strict=True) if gone]
    if names:
        fail(
            f"The call cut off the tensors that it was given ({' and '.join(names)}), so a loss computed "
            "from them no longer has a gradient. Operations that end in `_` change the tensor itself: "
            "return new ones instead."
        )
