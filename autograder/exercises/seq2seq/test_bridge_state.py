"""`bridge_state(state)`: a bidirectional encoder's final states as a decoder's initial states."""

import torch
from torch import nn

from autograder.checking import FunctionSpec, sized, standard, strided, with_inputs, worth
from autograder.exercises.several import far_apart


def of_an_encoder(draw):
    """The (h_n, c_n) that a bidirectional `nn.LSTM` returns."""
    sizes = draw.sizes
    encoder = draw.module(nn.LSTM, sizes.D, sizes.H, sizes.L, batch_first=True, bidirectional=True)
    with torch.no_grad():
        return encoder(draw("B T D"))[1]


task = FunctionSpec(
    "bridge_state",
    inputs={"state": {"h": "2L B H", "c": "2L B H"}},
    outputs={"h": "L B 2H", "c": "L B 2H"},
    reference="reference_bridge_state:bridged",
)

standard(
    task,
    shape=worth(title="It returns a pair (h, c), each (layers, batch, 2·hidden)."),
    values=worth(
        1,
        name="joins_directions",
        title="In h and in c, each layer's forward and backward states are joined side by side, forward "
        "first.",
    ),
    any_size=worth(
        0.5,
        sized("with one sequence (B = 1)", B=1),
        sized("with one layer (L = 1)", L=1),
        sized("with five layers", L=5),
        sized("with one sequence, one layer and one hidden unit", B=1, L=1, H=1),
        sized("with B = 2·L = 2·H", B=4, L=2, H=2),
        sized("with every size 2", B=2, L=2, H=2),
        sized("with more of everything", B=(20, 70), L=(6, 13), H=1),
        sized("with many hidden units", B=2, L=1, H=(33, 130)),
        with_inputs("with the state of an `nn.LSTM`", state=of_an_encoder),
        strided("with states that are not contiguous in memory"),
        with_inputs(
            "with numbers from very small to very large",
            state=lambda draw: tuple(far_apart(draw("2L B H"), 0) for _ in range(2)),
        ),
        title="It works for one sequence, any number of layers, equal sizes, and a real encoder's state.",
    ),
    gradients=worth(
        0.5,
        sized("with several layers", B=(20, 70), L=(6, 13), H=1),
        sized("with one sequence and one layer", B=1, L=1),
        title="Gradients flow from the decoder's first state back to the encoder, through h and through c.",
        if_right=True,
        tell="Training the encoder depends on it: is part of the state detached or rebuilt?",
    ),
    dtypes=worth(title="The decoder's state has the dtype of the encoder's."),
    devices=worth(title="With the encoder's state on a GPU, the decoder's is created there."),
    leaves_arguments=worth(0.5, title="The call leaves the encoder's state unchanged."),
)
