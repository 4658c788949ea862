"""`next_token_loss(logits, ids)`: what is predicted of each token by those before it."""

import torch

from autograder.checking import (
    USUAL,
    Case,
    Dimension,
    Dimensions,
    FunctionSpec,
    sized,
    standard,
    strided,
    worth,
)

DIMENSIONS = Dimensions(
    B=Dimension("batch", one="sequence", sizes=(11, 13), small=(1, 2), independent=True),
    T=Dimension("time", one="time step", sizes=(5, 7), small=(2, 3), ordered=True, across=True),
    V=Dimension("vocabulary", sizes=(19, 23, 29), small=(2, 3)),
)


def far_apart(dtype):
    """Inputs with logits that are far apart: up to some 200 from zero."""
    return lambda logits, ids: ((60 * logits).clamp(-200, 200).to(dtype), ids)


task = FunctionSpec(
    "next_token_loss",
    inputs={"logits": "B T V", "ids": lambda draw: draw.ints("B T", draw.sizes.V)},
    outputs={"loss": ""},
    reference="reference_next_token_loss:mean_loss",
)

standard(
    task,
    shape=worth(0, title="It returns one number for the whole batch, a tensor without dimensions."),
    values=worth(
        0.5,
        USUAL,
        Case(
            "when the last token is changed",
            changed=lambda logits, ids: (logits, (ids + 1) % logits.shape[2]),
        ),
        title="It is the mean cross-entropy, in nats, of each token given those before it.",
    ),
    any_size=worth(
        0.5,
        sized("with one sequence (B = 1)", B=1),
        sized("with two tokens (T = 2)", T=2),
        sized("with one sequence of two tokens", B=1, T=2),
        sized("with every size 4", B=4, T=4, V=4),
        sized("with more of everything", B=(20, 30), T=(20, 30), V=(60, 75)),
        strided("with logits that are not contiguous in memory"),
        Case("with logits far apart", changed=far_apart(torch.float64)),
        Case("with logits far apart, in float32", changed=far_apart(torch.float32)),
        title="It works for one sequence, two tokens, equal sizes, and logits that are far apart.",
    ),
    gradients=worth(
        0.5,
        USUAL,
        sized("with one sequence of two tokens", B=1, T=2),
        Case("with logits far apart", changed=far_apart(torch.float64)),
        if_right=True,
        title="Gradients reach the logits of every step but the last.",
    ),
    dtypes=worth(title="The loss has the dtype of the logits."),
    devices=worth(title="With logits and ids on a GPU, everything is created and computed there."),
    leaves_arguments=worth(title="The call leaves logits and ids unchanged."),
)
