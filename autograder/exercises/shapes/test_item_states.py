"""`item_states(h_n, item)`: the final states of one sequence of the batch, in every layer."""

from autograder.checking import FunctionSpec, standard, strided, worth
from autograder.exercises.shapes.given import each_number, expect_no_other_part


def expect_its_own(answer, call):
    h_n, item = call.arguments
    expect_no_other_part(answer, h_n, 1, item, "sequence")


def each_item(words, **sizes):
    return each_number("item", "B", f"{words}, for sequence {{number}}", **sizes)


def fewer_and_more_than_layers(sizes):
    # The smallest input is as small as told: only of three layers are there fewer and more sequences.
    counts = (5, 2) if sizes.L > 2 else (sizes.B,)
    every = [each_number("item", "B", "for sequence {number} of {B}", B=count) for count in counts]
    return [case for cases in every for case in cases(sizes)]


task = FunctionSpec(
    "item_states",
    inputs={"h_n": "L B H", "item": lambda draw: 1},
    outputs={"states": "L H"},
    reference="reference_item_states:states_of_item",
)

standard(
    task,
    shape=worth(title="It returns one vector for every layer, (layers, hidden)."),
    values=worth(
        0.5,
        fewer_and_more_than_layers,
        name="each_sequence",
        title="It finds each sequence of the batch by its number, with fewer and with more sequences than "
        "layers.",
        explain=expect_its_own,
        together=True,
    ),
    any_size=worth(
        0.5,
        each_item("with one sequence (B = 1)", B=1),
        each_item("with many sequences", B=20),
        each_item("with one layer (L = 1)", B=7, L=1),
        each_item("with six layers", B=7, L=6),
        each_item("with one hidden unit (H = 1)", B=7, H=1),
        each_item("with every size 1", B=1, H=1, L=1),
        each_item("with every size 4", B=4, H=4, L=4),
        strided("with an h_n that is not contiguous in memory"),
        title="It works for one sequence, one layer, deep networks, equal sizes, and non-contiguous inputs.",
    ),
    gradients=worth(title="Gradients reach the sequence's states."),
    dtypes=worth(title="The result has the dtype of h_n."),
    devices="it picks numbers and creates none",
    leaves_arguments=worth(title="The call leaves h_n unchanged."),
)
