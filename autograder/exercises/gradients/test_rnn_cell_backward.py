"""`rnn_cell_backward(d_next, x, h, h_next, w_ih, w_hh)`: one tanh step of a recurrent cell, backwards."""

from dataclasses import replace

from autograder.checking import FunctionSpec, standard, weight, worth
from autograder.exercises.gradients.given import BY_HAND, STEP

task = FunctionSpec(
    "rnn_cell_backward",
    inputs={
        "d_next": "B H",
        "x": "B D",
        "h": "B H",
        "h_next": "B H",
        "w_ih": weight("H D"),
        "w_hh": weight("H H"),
    },
    outputs={"d_x": "B D", "d_h": "B H", "d_w_ih": "H D", "d_w_hh": "H H", "d_b": "H"},
    reference="reference_rnn_cell_backward:step_backward",
    forbidden=BY_HAND,
)

standard(
    task,
    from_scratch=worth(title="Your code computes the gradients, not torch's autograd."),
    shape=worth(0, STEP, title="It returns five gradients, each with the shape of what it belongs to."),
    values=worth(1, STEP, title="The gradients are those that torch's autograd finds for one step."),
    any_size=worth(
        0.5,
        STEP.sized("with one sequence (B = 1)", B=1),
        STEP.sized("with one feature and one hidden unit", D=1, H=1),
        STEP.sized("with as many features as hidden units", D="H"),
        replace(STEP, words="with inputs that are not contiguous in memory", is_strided=True),
        title="It works for one sequence, for equal sizes, and for non-contiguous inputs.",
    ),
    gradients="the result is a gradient; nothing is asked of its own",
    dtypes=worth(0, STEP),
    devices=worth(0, STEP, gradients=False),
    leaves_arguments=worth(0.5, STEP),
)
