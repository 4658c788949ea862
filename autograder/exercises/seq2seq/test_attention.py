"""`attention(query, encoder_output, lengths)`: scaled dot products over the real steps of each sequence."""

import torch

from autograder.checking import (
    ask_all,
    case,
    compare,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    fail,
    needs,
    points,
    rule,
)
from autograder.exercises.handed import each_place_of_lengths
from autograder.exercises.seq2seq.given import attended, padding, ragged, roomy
from autograder.exercises.several import if_right

ARGUMENTS = ("query", "encoder_output", "lengths")
RESULTS = {"names": ("context", "weights"), "dims": ("B H", "B T")}
HUGE = 1e30


def full(draw):
    """No sequence is padded."""
    query, encoder_output, lengths = ragged(draw)
    return query, encoder_output, torch.full_like(lengths, draw.sizes.T)


def expect_attended(answer, arguments, sizes):
    """Weights, then the context, are torch's: padding exactly 0, each row's sum 1."""
    right = attended(*arguments)
    expect(answer, right, **RESULTS, sizes=sizes, values=False)
    weights, (_, encoder_output, lengths) = answer[1], arguments
    if not torch.isfinite(weights).all():
        fail(
            "Some `weights` are not finite (nan or inf). Is something divided by zero, or does a softmax "
            "see no real step, or infinity times zero?"
        )
    padded = weights[padding(encoder_output, lengths)]
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
    if wrong:
        fail(
            f"The `weights` of a sequence add up to 1 but are not the right ones: {wrong} Look at the "
            "scores: which vectors are multiplied, by what are the products divided, which steps are real?"
        )
    expect(answer, right, **RESULTS, sizes=sizes)


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns a context (batch, hidden) and the weights (batch, time)."""
    arguments = full(draw)
    expect(submission.attention(*arguments), attended(*arguments), **RESULTS, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_without_padding(submission, sizes, draw):
    """Without padding, context and weights are those of torch's scaled dot-product attention."""
    arguments = full(draw)
    expect_attended(submission.attention(*arguments), arguments, sizes)


@points(1)
@rule("values")
@needs(test_without_padding)
def test_with_padding(submission, sizes, draw):
    """Padded steps get weight 0, and the real steps share the whole weight among them."""
    room = roomy(sizes)
    arguments = ragged(draw.at(room))
    expect_attended(submission.attention(*arguments), arguments, room)


@points(0.5)
@rule("generality")
@needs(test_with_padding)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one step, large scores, any lengths, and any finite padding."""
    calls = [
        (context, other, ragged(draw.at(other)))
        for other, context in (
            (sizes.but(B=1), "with one sequence (B = 1)"),
            (sizes.but(T=1), "with one time step (T = 1)"),
            (sizes.but(H=1), "with one hidden unit"),
            (sizes.but(B=1, T=1, H=1), "with every size 1"),
            (sizes.but(B=4, T=4, H=4), "with every size 4"),
            (sizes.but(B=draw.size(20, 70), T=draw.size(40, 130), H=2), "with more of everything"),
            (sizes.but(B=2, T=3, H=draw.size(33, 130)), "with many hidden units"),
        )
    ]
    query, encoder_output, lengths = full(draw)
    calls += [
        ("with scores in the thousands, but no padding", sizes, (query * 1e4, encoder_output, lengths)),
        ("with queries of zeros, so equal scores", sizes, (query * 0, encoder_output, lengths)),
        ("with very large vectors to look at", sizes, (query / 1e6, encoder_output * 1e6, lengths)),
    ]
    query, encoder_output, lengths = ragged(draw)
    padded = padding(encoder_output, lengths)[..., None]
    garbage = encoder_output.masked_fill(padded, HUGE) * torch.where(query > 0, 1.0, -1.0)[:, None]
    calls += [
        (context, sizes, (query, told, lengths))
        for told, context in (
            (encoder_output.masked_fill(padded, 0.0), "with zeros in the padding"),
            (torch.where(padded, garbage, encoder_output), f"with {HUGE:g} in the padding"),
            (torch.where(padded, -garbage, encoder_output), f"with -{HUGE:g} in the padding"),
        )
    ]
    strided = (draw.strided("B H"), draw.strided("B T H"), lengths)
    calls += [
        ("when every sequence has one real step", sizes, (query, encoder_output, torch.ones_like(lengths))),
        ("with inputs that are not contiguous in memory", sizes, strided),
    ]
    requests = [submission.attention.request(*arguments) for _, _, arguments in calls]
    for answer, (context, other, arguments) in zip(ask_all(requests), calls, strict=True):
        with case(context):
            expect_attended(answer(), arguments, other)


@points(0.5)
@rule("gradient")
@needs(test_with_padding)
def test_gradients(submission, sizes, draw):
    """Gradients of context and weights reach the query and the encoder's real steps."""
    one = draw.at(sizes.but(B=1))
    query, encoder_output, lengths = full(one)
    long = draw.at(sizes.but(T=draw.size(31, 70), H=2))
    zero = (query * 0, encoder_output, lengths)
    for here, arguments, context in (
        (long, ragged(long), "with several time steps"),
        (one, zero, "with one sequence (B = 1), not padded, and a query of zeros"),
    ):
        task, right = submission.attention, attended(*arguments)
        with case(context), if_right(task, arguments, right, **RESULTS, sizes=here.sizes):
            expect_gradients(task, attended, arguments, names=ARGUMENTS[:2], draw=draw)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the query and the encoder's output is the dtype of the results."""
    expect_dtypes(submission.attention, ragged(draw), names=RESULTS["names"])


@points(0.5)
@rule("device")
@needs(test_shape, test_dtype)
def test_device(submission, sizes, draw):
    """With the data on a GPU everything is made and stays there, wherever the lengths are."""
    for on_cpu, context in each_place_of_lengths(2):
        with case(context):
            expect_device_neutral(submission.attention, ragged(draw), names=RESULTS["names"], on_cpu=on_cpu)


@points(0)
@rule("mutation")
@needs(test_with_padding)
def test_arguments_untouched(submission, sizes, draw):
    """The query, the encoder's output and the lengths are the same after the call as before."""
    arguments = ragged(draw)
    expect_untouched(submission.attention.run(arguments), arguments, ARGUMENTS)
