"""`ends_from_output(output, hidden_size)`: the final states of both directions, read from the output."""

from autograder.checking import FunctionSpec, sized, standard, worth
from autograder.exercises.bidirectional.given import APART, OF_AN_OUTPUT

task = FunctionSpec(
    "ends_from_output",
    inputs={"output": "B T 2H", "hidden_size": lambda draw: draw.sizes.H},
    outputs={"vector": "B 2H"},
    reference="reference_ends_from_output:ends",
)

standard(
    task,
    shape=worth(0, APART, title="It returns one vector per sequence, (batch, 2·hidden)."),
    values=worth(
        1,
        APART,
        name="final_states",
        title="It reads both directions' final states from the output: forward, then backward.",
    ),
    any_size=worth(
        0.5,
        *OF_AN_OUTPUT,
        title="It works for one step, one sequence, long sequences, equal sizes, and non-contiguous inputs.",
    ),
    gradients=worth(
        0.5,
        sized("with several time steps", T=(40, 130), H=2),
        sized("with one sequence of one step", B=1, T=1),
        if_right=True,
        title="Gradients flow back to both ends of the output.",
    ),
    dtypes=worth(title="The vector has the dtype of the output."),
    devices=worth(title="With the output on a GPU, the vector is created there.", needs=["shape", "dtype"]),
    leaves_arguments=worth(title="The call leaves the output unchanged.", needs=["final_states"]),
)
