"""`sentence_vector(h_n, num_layers)`: the top layer's final forward, then backward state."""

from autograder.checking import FunctionSpec, sized, standard, worth
from autograder.exercises.bidirectional.given import APART, OF_STATES

task = FunctionSpec(
    "sentence_vector",
    inputs={"h_n": "2L B H", "num_layers": lambda draw: draw.sizes.L},
    outputs={"vector": "B 2H"},
    reference="reference_sentence_vector:joined",
)

standard(
    task,
    shape=worth(0, APART, title="It returns one vector per sequence, (batch, 2·hidden)."),
    values=worth(
        1,
        APART,
        name="top_layer",
        title="It takes the top one of three layers: its final forward state, then its final backward state.",
    ),
    any_size=worth(
        0.5,
        *OF_STATES,
        title="It works for one layer, five layers, one sequence, equal sizes, and non-contiguous states.",
    ),
    gradients=worth(
        0.5,
        sized("with several layers", B=(20, 70), H=2, L=(6, 13)),
        sized("with one sequence and one layer", B=1, L=1),
        if_right=True,
        title="Gradients flow back to both of the top layer's states.",
    ),
    dtypes=worth(title="The vector has the dtype of the states."),
    devices=worth(title="With the states on a GPU, the vector is created there.", needs=["shape", "dtype"]),
    leaves_arguments=worth(title="The call leaves the states unchanged.", needs=["top_layer"]),
)
