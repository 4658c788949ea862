"""`stacked_rnn(rnn, x, h_0)`: what a deep nn.RNN computes, recomputed from its own weights."""

from torch import nn

from autograder.checking import USUAL, FunctionSpec, Handed, sized, standard, worth
from autograder.exercises.from_scratch import RECURRENT
from autograder.exercises.longer import LONG

task = FunctionSpec(
    "stacked_rnn",
    inputs={"rnn": Handed(nn.RNN, "D", "H", "L", batch_first=True), "x": "B T D", "h_0": "L B H"},
    outputs={"output": "B T H", "h_n": "L B H"},
    reference=lambda rnn, x, h_0: rnn(x, h_0),
    forbidden=RECURRENT,
)

standard(
    task,
    from_scratch=worth(
        title="The stack is computed from the weights, without calling the given RNN or any other torch "
        "module."
    ),
    shape=worth(
        title="It returns the top layer's steps (batch, time, hidden) and all final states (layers, batch, "
        "hidden)."
    ),
    values=worth(
        1,
        name="matches_torch",
        title="Output and every layer's final state equal those of the given three-layer RNN.",
    ),
    any_size="test_any_depth looks at other sizes when the notebook is graded",
    follows=worth(
        0,
        sized("", T=2),
        name="follows_the_weights",
        title="After the RNN's weights have changed, it computes with the new ones.",
    ),
    gradients=worth(
        0.5,
        USUAL,
        LONG,
        title="Gradients reach the input, the initial states and every layer's weights.",
        tell="Do you detach the states, or read the weights through `.data` or `state_dict()`?",
    ),
    dtypes=worth(title="The results have the dtype of the RNN and its input."),
    devices=worth(
        0.5, title="With the RNN and its input on a GPU, everything is created and computed there."
    ),
    leaves_arguments=worth(
        0.5, title="The call leaves the sequence, the initial states and the RNN's weights unchanged."
    ),
)
