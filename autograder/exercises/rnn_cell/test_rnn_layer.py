"""`rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh)`: the cell over every time step of a batch-first sequence."""

from autograder.checking import USUAL, FunctionSpec, sized, standard, strided, weight, worth
from autograder.exercises.from_scratch import RECURRENT
from autograder.exercises.longer import FEWER_SEQUENCES_THAN_STEPS, LONG, SINGLE_SIZES

task = FunctionSpec(
    "rnn_layer",
    inputs={
        "x": "B T D",
        "h_0": "B H",
        "w_ih": weight("H D"),
        "w_hh": weight("H H"),
        "b_ih": weight("H"),
        "b_hh": weight("H"),
    },
    outputs={"output": "B T H", "h_n": "B H"},
    reference="reference_rnn_layer:all_steps",
    forbidden=RECURRENT,
)

standard(
    task,
    from_scratch=worth(title="Your code computes the layer, not torch's recurrent functions."),
    shape=worth(
        0,
        FEWER_SEQUENCES_THAN_STEPS,
        title="It returns the state at every step, (batch, time, hidden), and the final one, (batch, "
        "hidden).",
    ),
    values=worth(
        0.5, name="matches_torch", title="Every step and the final state equal those of a one-layer nn.RNN."
    ),
    any_size=worth(
        0.5,
        *SINGLE_SIZES,
        sized("with every size 4", B=4, T=4, D=4, H=4),
        sized("with a longer sequence", B=6, T=23),
        strided(),
        title="It works for one step, one sequence, long sequences, and non-contiguous inputs.",
    ),
    gradients=worth(
        0.5,
        USUAL,
        LONG,
        title="Gradients flow back through every time step to the input, the initial state and all weights.",
        tell="Do you detach or copy the state between the steps?",
    ),
    dtypes=worth(title="The results have the dtype of the inputs."),
    devices=worth(0.5, title="With the input on a GPU, everything is created and computed there."),
    leaves_arguments=0.5,
)
