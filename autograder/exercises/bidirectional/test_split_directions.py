"""`split_directions(output, hidden_size)`: the two directions' halves of a bidirectional output."""

from autograder.checking import FunctionSpec, sized, standard, worth
from autograder.exercises.bidirectional.given import APART, OF_AN_OUTPUT

task = FunctionSpec(
    "split_directions",
    inputs={"output": "B T 2H", "hidden_size": lambda draw: draw.sizes.H},
    outputs={"forward": "B T H", "backward": "B T H"},
    reference="reference_split_directions:halves",
)

standard(
    task,
    shape=worth(0, APART, title="It returns two tensors, forward and backward, each (batch, time, hidden)."),
    values=worth(
        0.5,
        APART,
        name="matches_each_direction",
        title="At every step, the first half is the forward direction's, the second the backward one's.",
    ),
    any_size=worth(
        0.5,
        *OF_AN_OUTPUT,
        title="It works for one sequence, one step, one hidden unit, equal sizes, and non-contiguous inputs.",
    ),
    gradients=worth(
        0.5,
        sized("with several time steps", T=(31, 70), H=2),
        sized("with one sequence of one step", B=1, T=1),
        if_right=True,
        title="Gradients flow back through both halves.",
    ),
    dtypes=worth(title="Both halves have the dtype of the output."),
    devices=worth(title="With the output on a GPU, both halves stay there.", needs=["gradients", "dtype"]),
    leaves_arguments=worth(title="The call leaves the output unchanged.", needs=["matches_each_direction"]),
)
