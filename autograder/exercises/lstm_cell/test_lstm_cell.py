"""`lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh)`: one step, as nn.LSTMCell."""

from autograder.checking import FunctionSpec, standard, strided, with_inputs, worth
from autograder.exercises.from_scratch import RECURRENT_MODULES
from autograder.exercises.lstm_cell.given import SIZES, WEIGHTS

LARGE = with_inputs(
    "with a large cell state and large inputs",
    x=lambda draw: 5 * draw("B D"),
    c=lambda draw: 200 * draw("B H"),
)
"""A cell state as after long sequences, and gates that are nearly closed."""

task = FunctionSpec(
    "lstm_cell",
    inputs={"x": "B D", "h": "B H", "c": "B H", **WEIGHTS},
    outputs={"h_next": "B H", "c_next": "B H"},
    made_from={"h_next": ["c_next"]},
    reference="reference_lstm_cell:step",
    forbidden=RECURRENT_MODULES,
)

standard(
    task,
    from_scratch=worth(title="Your code computes the step, not torch's recurrent functions."),
    shape=worth(title="One step returns (h_next, c_next), each (batch, hidden)."),
    values=worth(0.5, name="matches_torch", title="One step gives the same h and c as nn.LSTMCell."),
    any_size=worth(
        0.5,
        *SIZES,
        LARGE,
        strided(),
        title="It works for one sequence, equal sizes, large numbers, and non-contiguous inputs.",
    ),
    gradients=worth(0.5, title="Gradients reach the input, both states and all four weights."),
    dtypes=worth(title="Both states have the dtype of the inputs."),
    leaves_arguments=worth(0.5, title="The call leaves its arguments unchanged, above all the states."),
)
