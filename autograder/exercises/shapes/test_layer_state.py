"""`layer_state(h_n, layer)`: the final state of one layer, for every sequence."""

from autograder.checking import FunctionSpec, standard, strided, worth
from autograder.exercises.shapes.given import each_number, expect_no_other_part


def expect_its_own(answer, call):
    h_n, layer = call.arguments
    expect_no_other_part(answer, h_n, 0, layer, "layer")


def each_layer(words, **sizes):
    return each_number("layer", "L", f"{words}, for layer {{number}}", **sizes)


task = FunctionSpec(
    "layer_state",
    inputs={"h_n": "L B H", "layer": lambda draw: 1},
    outputs={"state": "B H"},
    reference="reference_layer_state:state_of_layer",
)

standard(
    task,
    shape=worth(title="It returns one vector for every sequence, (batch, hidden)."),
    values=worth(
        0.5,
        each_number("layer", "L", "for layer {number} of {L}"),
        name="each_layer",
        title="It finds each of three layers by its number; layer 0 is the bottom one.",
        explain=expect_its_own,
        together=True,
    ),
    any_size=worth(
        0.5,
        each_layer("with one layer (L = 1)", L=1),
        each_layer("with six layers", L=6),
        each_layer("with one sequence (B = 1)", B=1),
        each_layer("with one hidden unit (H = 1)", H=1),
        each_layer("with every size 1", B=1, H=1, L=1),
        each_layer("with every size 4", B=4, H=4, L=4),
        strided("with an h_n that is not contiguous in memory"),
        title="It works for one layer, deep networks, one sequence, equal sizes, and non-contiguous inputs.",
    ),
    gradients=worth(title="Gradients reach the layer's state."),
    dtypes=worth(title="The result has the dtype of h_n."),
    devices="it picks numbers and creates none",
    leaves_arguments=worth(title="The call leaves h_n unchanged."),
)
