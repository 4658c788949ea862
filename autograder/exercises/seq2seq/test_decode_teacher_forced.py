"""`decode_teacher_forced(decoder, embedding, fc, target_ids, state)`: logits along a given text."""

from torch import nn

from autograder.checking import USUAL, Case, FunctionSpec, Handed, sized, standard, worth

task = FunctionSpec(
    "decode_teacher_forced",
    inputs={
        "decoder": Handed(nn.LSTM, "D", "H", "L", batch_first=True),
        "embedding": Handed(nn.Embedding, "V", "D"),
        "fc": Handed(nn.Linear, "H", "V"),
        "target_ids": lambda draw: draw.ints("B T", draw.sizes.V),
        "state": {"h": "L B H", "c": "L B H"},
    },
    outputs={"logits": "B T V"},
    reference="reference_decode_teacher_forced:teacher_forced",
)

standard(
    task,
    shape=worth(title="It returns logits for every step, (batch, time, vocabulary)."),
    values=worth(
        1,
        name="reads_the_given_text",
        title="The logits of each step depend on the given tokens up to that step and on the initial state.",
    ),
    any_size=worth(
        0.5,
        sized("with one sequence (B = 1)", B=1),
        sized("with one token (T = 1)", T=1),
        sized("with one layer (L = 1)", L=1),
        sized("with every size 1", B=1, T=1, L=1, D=1, H=1),
        sized("with every size 4", B=4, T=4, D=4, H=4, L=4, V=4),
        sized("with a long text", B=2, T=(70, 130), L=1, V=5),
        sized(
            "with many sequences, layers and tokens to choose from",
            B=(20, 40),
            T=2,
            H=2,
            L=(5, 9),
            V=(30, 60),
        ),
        Case(
            "with inputs that are not contiguous in memory",
            is_strided=True,
            given={"target_ids": lambda draw: draw.ints("T B", draw.sizes.V).T},
        ),
        title="It works for one sequence, one token, any depth, equal sizes, and non-contiguous inputs.",
    ),
    gradients=worth(
        0.5,
        USUAL.named("with several sequences"),
        sized("with one long text (B = 1)", B=1, T=(31, 45), L=1),
        title="Gradients reach the state (and so the encoder) and the weights of decoder, embedding and fc.",
        if_right=True,
        tell="Is the state detached or overwritten, or are weights read through `.data`?",
    ),
    dtypes=worth(title="The logits have the dtype of the modules and the state."),
    devices=worth(
        0, title="With the modules, the ids and the state on a GPU, everything is created and computed there."
    ),
    leaves_arguments=worth(
        0, title="The call leaves the token ids, the state and the weights unchanged.", teaching_only=True
    ),
)
