"""`unflatten_state(h_n, num_layers, num_directions)`: layers and directions as two separate dimensions."""

from dataclasses import replace

from autograder.checking import FunctionSpec, sized
from autograder.exercises.bidirectional.given import APART, OF_STATES


def with_directions(directions, states):
    return FunctionSpec(
        "unflatten_state",
        inputs={
            "h_n": states,
            "num_layers": lambda draw: draw.sizes.L,
            "num_directions": lambda draw: directions,
        },
        outputs={"states": f"L {directions} B H"},
        reference="reference_unflatten_state:unflattened",
    )


both, one = with_directions(2, "2L B H"), with_directions(1, "L B H")

test_shape = both.shape(APART, title="It returns one tensor, (layers, directions, batch, hidden).")
test_two_directions = both.values(
    APART,
    title="In three bidirectional layers, [layer, 0] is the forward state and [layer, 1] the backward one.",
    points=0.5,
    needs=[test_shape],
)
test_one_direction = one.any_size(
    sized("with one direction"),
    # An even number of states may be taken for pairs of directions.
    sized("with four layers of one direction", L=4),
    sized("with one layer of one direction", L=1),
    *(sized("with many layers of one direction", L=layers) for layers in (8, 10, 12, 14)),
    title="With three one-directional layers, and with four, the second dimension has size 1.",
    points=0.5,
    needs=[test_two_directions],
)
test_any_size = both.any_size(
    *OF_STATES,
    title="It works for one layer, five layers, one sequence, equal sizes, and non-contiguous states.",
    points=0.5,
    needs=[test_two_directions],
)
test_gradients = both.gradients(
    sized("with several layers", B=(20, 70), H=2, L=(6, 13)),
    replace(
        sized("with one sequence, one layer and one direction", B=1, L=1),
        given={"h_n": lambda draw: draw("L B H"), "num_directions": lambda draw: 1},
    ),
    if_right=True,
    title="Gradients flow back to every state.",
    points=0.5,
    needs=[test_two_directions],
)
test_dtype = both.dtypes(title="The states keep their dtype.", needs=[test_shape])
test_device = both.devices(
    title="With the states on a GPU, they stay there.", needs=[test_gradients, test_dtype]
)
test_arguments_untouched = both.leaves_arguments(
    title="The call leaves the given states unchanged.", needs=[test_two_directions]
)
