"""`attention(query, encoder_output, lengths)`: scaled dot products over the real steps of each sequence."""

import torch

from autograder.checking import (
    USUAL,
    Case,
    FunctionSpec,
    compare,
    expect_shapes,
    fail,
    sized,
    standard,
    strided,
    with_inputs,
    worth,
)

HUGE = 1e30
TINY = 1e-6
"""A weight below which the padding shows in no context."""


def ragged(draw):
    """Lengths, unsorted, from 1 to T where there is room."""
    lengths = 1 + draw.ints("B", draw.sizes.T)
    if len(lengths) > 1:
        lengths[0], lengths[1] = 1, draw.sizes.T
    return lengths


def half(draw):
    """Lengths of sequences half of which is padding."""
    return full(draw) // 2


def full(draw):
    """Lengths of sequences none of which is padded."""
    return torch.full((draw.sizes.B,), draw.sizes.T)


def padding(encoder_output, lengths):
    """A mask (B, T), true on padded steps."""
    return torch.arange(encoder_output.shape[1]) >= lengths[:, None]


task = FunctionSpec(
    "attention",
    inputs={"query": "B H", "encoder_output": "B T H", "lengths": ragged},
    outputs={"context": "B H", "weights": "B T"},
    made_from={"context": ["weights"]},
    reference="reference_attention:attended",
)


def about_weights(answer, call):
    """Look at the weights before the context: padding exactly 0, each row's sum 1, then each number."""
    context, weights = expect_shapes(answer, ("B H", "B T"), names=task.names, sizes=call.sizes)
    _, encoder_output, lengths = call.arguments
    real = ~padding(encoder_output, lengths)
    if not torch.isfinite(weights).all() and torch.isfinite(weights[real]).all():
        fail(
            "The `weights` at padded steps are not finite (nan or inf), the others are. What becomes of the "
            "padded steps after the softmax?"
        )
    if not torch.isfinite(weights).all():
        rows = ~torch.isfinite(weights).all(dim=1)
        only = " in sequences that have padding" if (rows == ~real.all(dim=1)).all() else ""
        fail(
            f"Some `weights` are not finite (nan or inf){only}. Do you divide by zero, multiply infinity by "
            "zero, take a softmax over no real step at all, or over an infinite score?"
        )
    padded, right = weights[padding(encoder_output, lengths)], task.right(call)
    if (padded != 0).any() and padded.abs().max() < TINY:
        fail(
            f"{int((padded != 0).sum())} of {padded.numel()} padded steps have a weight that is nearly 0, "
            "but not exactly. Which score does a softmax turn into exactly 0, whatever the other scores are?"
        )
    if (padded != 0).any() and not compare(context, right[0]):
        fail(
            "`context` is right, but the `weights` that you return are not those that it is made with: some "
            "stand at padded steps. Does each row have its weights at the sequence's own steps, 0, …, "
            "length - 1?"
        )
    if (padded != 0).any():
        fail(
            f"{int((padded != 0).sum())} of {padded.numel()} padded steps have a weight that is not 0, "
            f"up to {padded.abs().max().item():.2g}. A padded step must not take part in the softmax at all: "
            "what does softmax make of the score you give it? A sequence's real steps are 0, …, length - 1."
        )
    if (weights.double().sum(1) - 1).abs().max() > 1e-6:
        fail(
            "The `weights` of a sequence do not add up to 1. Are they changed after the softmax, or is the "
            "softmax along another dimension?"
        )
    wrong = compare(weights, right[1], "B T")
    if wrong and ((weights == 0) | (weights == 1)).all():
        fail(
            "Each row of `weights` holds one 1 and otherwise 0. A softmax gives every real step a part: is "
            "only the largest score kept?"
        )
    if wrong:
        fail(
            f"The `weights` of a sequence add up to 1 but are not the right ones: {wrong} Look at the "
            "scores: which vectors are multiplied, what are the products divided by, which steps are real?"
        )


def padded_with(values):
    """A change of the inputs: the padding is filled with what is made of the query (B, 1, H)."""

    def changed(query, encoder_output, lengths):
        padded = padding(encoder_output, lengths)[..., None]
        return query, torch.where(padded, values(query[:, None]), encoder_output), lengths

    return changed


def unpadded(words, changed=None, **sizes):
    """A case in which no sequence is padded."""
    return Case(words, sizes, given={"lengths": full}, changed=changed)


standard(
    task,
    shape=worth(0, unpadded(""), title="It returns a context (batch, hidden) and the weights (batch, time)."),
    values=worth(
        0.5,
        unpadded(""),
        name="without_padding",
        title="Without padding, context and weights are those of torch's scaled dot-product attention.",
        explain=about_weights,
    ),
    any_size=worth(
        0.5,
        sized("with one sequence (B = 1)", B=1),
        Case("with one sequence (B = 1) that is padded", {"B": 1, "T": 6}, given={"lengths": half}),
        sized("with one time step (T = 1)", T=1),
        sized("with one hidden unit", H=1),
        sized("with every size 1", B=1, T=1, H=1),
        sized("with every size 4", B=4, T=4, H=4),
        sized("with more of everything", B=(20, 70), T=(40, 130), H=2),
        sized("with many hidden units", B=2, T=3, H=(33, 130)),
        unpadded("with scores in the thousands, but no padding", lambda q, e, n: (q * 1e4, e, n)),
        unpadded("with queries of zeros, so equal scores", lambda q, e, n: (q * 0, e, n)),
        unpadded("with very large vectors to look at", lambda q, e, n: (q / 1e6, e * 1e6, n)),
        Case("with zeros in the padding", changed=padded_with(torch.zeros_like)),
        # Of one sign with the query, so that scores are huge, too, and do not cancel.
        Case(f"with {HUGE:g} in the padding", changed=padded_with(lambda query: query.sign() * HUGE)),
        Case(f"with -{HUGE:g} in the padding", changed=padded_with(lambda query: query.sign() * -HUGE)),
        with_inputs(
            "when every sequence has one real step", lengths=lambda draw: torch.ones_like(full(draw))
        ),
        strided("with inputs that are not contiguous in memory"),
        title="It works for one sequence, one step, large scores, any lengths, and any finite padding.",
        explain=about_weights,
        needs=["with_padding"],
    ),
    gradients=worth(
        0.5,
        sized("with several time steps", T=(31, 70), H=2),
        unpadded(
            "with one sequence (B = 1), not padded, and a query of zeros", lambda q, e, n: (q * 0, e, n), B=1
        ),
        title="Gradients flow from context and weights to the query and the encoder's real steps.",
        if_right=True,
        needs=["with_padding"],
    ),
    dtypes=worth(title="The results have the dtype of the query and the encoder's output."),
    devices=worth(
        0.5,
        Case("with the lengths on the CPU", on_cpu=("lengths",)),
        USUAL.named("with the lengths on the GPU, too"),
        title="With the data on a GPU, everything is created and computed there, wherever the lengths are.",
        needs=["shape", "dtype"],
    ),
    leaves_arguments=worth(
        title="The call leaves the query, the encoder's output and the lengths unchanged."
    ),
)

test_with_padding = task.values(
    # Of more than two steps, so that there is room for more than one step of padding.
    Case(arranged=lambda sizes: sizes.but(T=7) if sizes.T == 2 else sizes),
    explain=about_weights,
    title="Padded steps get weight 0; the weights of the real steps add up to 1.",
    points=1,
    needs=["without_padding"],
)
