"""`rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh)`: one step of a tanh recurrent cell, as nn.RNNCell."""

from autograder.checking import FunctionSpec, sized, standard, strided, weight, worth
from autograder.exercises.from_scratch import RECURRENT

task = FunctionSpec(
    "rnn_cell",
    inputs={
        "x": "B D",
        "h": "B H",
        "w_ih": weight("H D"),
        "w_hh": weight("H H"),
        "b_ih": weight("H"),
        "b_hh": weight("H"),
    },
    outputs={"h_next": "B H"},
    reference="reference_rnn_cell:step",
    forbidden=RECURRENT,
)

standard(
    task,
    from_scratch=worth(title="Your code computes the step, not torch's recurrent functions."),
    shape=worth(title="One step returns the next state of every sequence, (batch, hidden)."),
    values=worth(0.5, name="matches_torch", title="One step gives the same state as nn.RNNCell."),
    any_size=worth(
        0.5,
        sized("with one sequence (B = 1)", B=1),
        sized("with one feature and one hidden unit", D=1, H=1),
        sized("with as many features as hidden units", D="H"),
        strided(),
        title="It works for one sequence, for equal sizes, and for non-contiguous inputs.",
    ),
    gradients=worth(0.5, title="Gradients reach the input, the state and all four weights."),
    devices=worth(needs=["gradients", "dtype"]),
    leaves_arguments=0.5,
)
