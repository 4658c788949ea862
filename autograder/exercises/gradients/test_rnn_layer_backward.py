"""`rnn_layer_backward(d_output, d_h_n, x, h_0, output, w_ih, w_hh)`: a recurrent layer, back through time."""

from autograder.checking import FunctionSpec, standard, weight, worth
from autograder.exercises.gradients.given import BY_HAND, LAYER

task = FunctionSpec(
    "rnn_layer_backward",
    inputs={
        "d_output": "B T H",
        "d_h_n": "B H",
        "x": "B T D",
        "h_0": "B H",
        "output": "B T H",
        "w_ih": weight("H D"),
        "w_hh": weight("H H"),
    },
    outputs={"d_x": "B T D", "d_h_0": "B H", "d_w_ih": "H D", "d_w_hh": "H H", "d_b": "H"},
    reference="reference_rnn_layer_backward:back_through_time",
    forbidden=BY_HAND,
)

standard(
    task,
    from_scratch=worth(title="Your code goes back through time, not torch's autograd."),
    shape=worth(0, LAYER, title="It returns five gradients, each with the shape of what it belongs to."),
    values=worth(1, LAYER, title="The gradients are those that torch's autograd finds for the whole layer."),
    any_size=worth(
        0.5,
        LAYER.sized("with one time step (T = 1)", T=1),
        LAYER.sized("with one sequence (B = 1)", B=1),
        LAYER.sized("with every size 4", B=4, T=4, D=4, H=4),
        title="It works for one step, for one sequence, and for equal sizes.",
    ),
    gradients="the result is a gradient; nothing is asked of its own",
    dtypes=worth(0, LAYER),
    devices=worth(0, LAYER, gradients=False),
    leaves_arguments=worth(0.5, LAYER),
)
