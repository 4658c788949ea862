"""`layer_state(h_n, layer)`: the final state of one layer, for every sequence."""

from autograder.checking import FunctionSpec, recorded, strided
from autograder.exercises.shapes.given import each_number, expect_no_other_part


@recorded
def reference(h_n, layer):
    return h_n.unbind(0)[layer]


def expect_its_own(answer, call):
    h_n, layer = call.arguments
    expect_no_other_part(answer, h_n, 0, layer, "layer")


def each_layer(words, **sizes):
    return each_number("layer", "L", f"{words}, for layer {{number}}", **sizes)


task = FunctionSpec(
    "layer_state",
    inputs={"h_n": "L B H", "layer": lambda draw: 1},
    outputs={"state": "B H"},
    reference=reference,
)

test_shape = task.shape(title="It returns one vector for every sequence, (batch, hidden).")
test_each_layer = task.values(
    each_number("layer", "L", "for layer {number} of {L}"),
    explain=expect_its_own,
    together=True,  # together they tell how a student counts
    title="It finds each of three layers by its number; layer 0 is the bottom one.",
    points=0.5,
    needs=[test_shape],
)
test_any_size = task.any_size(
    each_layer("with one layer (L = 1)", L=1),
    each_layer("with six layers", L=6),
    each_layer("with one sequence (B = 1)", B=1),
    each_layer("with one hidden unit (H = 1)", H=1),
    each_layer("with every size 1", B=1, H=1, L=1),
    each_layer("with every size 4", B=4, H=4, L=4),
    strided("with an h_n that is not contiguous in memory"),
    title="It works for one layer, deep networks, one sequence, equal sizes, and non-contiguous inputs.",
    points=0.5,
    needs=[test_each_layer],
)
test_gradients = task.gradients(title="Gradients reach the layer's state.", needs=[test_each_layer])
test_dtype = task.dtypes(title="The result has the dtype of h_n.", needs=[test_shape])
test_arguments_untouched = task.leaves_arguments(title="The call leaves h_n unchanged.", needs=[test_shape])
