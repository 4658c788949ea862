"""`lstm_cell_backward(d_h_next, d_c_next, x, h, c, w_ih, w_hh, b_ih, b_hh)`: one LSTM step, backwards."""

from autograder.checking import FunctionSpec, standard, strided, with_inputs, worth
from autograder.exercises.gradients.given import BY_HAND
from autograder.exercises.lstm_cell.given import SIZES, WEIGHTS

LARGE = with_inputs("with large inputs", x=lambda draw: 5 * draw("B D"), c=lambda draw: 20 * draw("B H"))
"""Gates that are nearly closed or nearly open."""

task = FunctionSpec(
    "lstm_cell_backward",
    inputs={"d_h_next": "B H", "d_c_next": "B H", "x": "B D", "h": "B H", "c": "B H", **WEIGHTS},
    outputs={
        "d_x": "B D",
        "d_h": "B H",
        "d_c": "B H",
        "d_w_ih": "4H D",
        "d_w_hh": "4H H",
        "d_b": "4H",
    },
    reference="reference_lstm_cell_backward:step_backward",
    forbidden=BY_HAND,
)

standard(
    task,
    from_scratch=worth(title="Your code computes the gradients, not torch's autograd."),
    shape=worth(title="It returns six gradients, each with the shape of what it belongs to."),
    values=worth(1, title="The gradients are those that torch's autograd finds for one step."),
    any_size=worth(
        0.5,
        *SIZES,
        LARGE,
        strided(),
        title="It works for one sequence, equal sizes, large inputs, and non-contiguous inputs.",
    ),
    gradients="the result is a gradient; nothing is asked of its own",
    devices=worth(gradients=False),
    leaves_arguments=0.5,
)
