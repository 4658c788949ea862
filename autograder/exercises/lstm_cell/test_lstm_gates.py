"""`lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh)`: the four activated gates, from torch's stacked weights."""

from autograder.checking import FunctionSpec, sized, standard, strided, with_inputs, worth
from autograder.exercises.from_scratch import RECURRENT_MODULES
from autograder.exercises.lstm_cell.given import SIZES, WEIGHTS

task = FunctionSpec(
    "lstm_gates",
    inputs={"x": "B D", "h": "B H", **WEIGHTS},
    outputs={"i": "B H", "f": "B H", "g": "B H", "o": "B H"},
    reference="reference_lstm_gates:gates",
    forbidden=RECURRENT_MODULES,
)

standard(
    task,
    from_scratch=worth(title="Your code computes the gates, not torch's recurrent functions."),
    shape=worth(
        0,
        sized("", B=12),  # four pieces of the batch, for who cuts that in place of the gates
        title="It returns four gates (i, f, g, o), each (batch, hidden).",
    ),
    values=worth(
        0.5,
        name="matches_torch",
        title="Each gate has the values that torch's weights give it, in torch's order.",
    ),
    any_size=worth(
        0.5,
        *SIZES,
        with_inputs("with large inputs", x=lambda draw: 5 * draw("B D")),
        strided(),
        title="It works for one sequence, equal sizes, large numbers, and non-contiguous inputs.",
    ),
    gradients=worth(0.5, title="Gradients reach the input, the state and all four weights."),
    dtypes=worth(title="The gates have the dtype of the inputs."),
    leaves_arguments=0.5,
)
