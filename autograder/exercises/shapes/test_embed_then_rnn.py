"""`embed_then_rnn(token_ids, embedding, rnn)`: ids to vectors, vectors through a batch-first nn.RNN."""

import torch
from torch import nn

from autograder.checking import (
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    expect_untouched,
    fail,
    needs,
    points,
    recorded,
    rule,
)

RESULTS = {"names": ("output", "h_n"), "dims": ("B T H", "L B H")}


def networks(draw, dtype=torch.float64):
    """An embedding and a deep RNN with random weights."""
    sizes = draw.sizes
    return (
        draw.module(nn.Embedding, sizes.V, sizes.D, dtype=dtype),
        draw.module(nn.RNN, sizes.D, sizes.H, sizes.L, batch_first=True, dtype=dtype),
    )


def hand_over(submission, embedding, rnn, dtype=torch.float64):
    """The same two on the student's side."""
    vocabulary, features = embedding.num_embeddings, embedding.embedding_dim
    sizes = (rnn.input_size, rnn.hidden_size, rnn.num_layers)
    return (
        submission.given("Embedding", vocabulary, features, state=embedding.state_dict(), dtype=dtype),
        submission.given("RNN", *sizes, batch_first=True, state=rnn.state_dict(), dtype=dtype),
    )


@recorded
def reference(token_ids, embedding, rnn):
    return rnn(embedding(token_ids))


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns the top layer's steps (batch, time, hidden) and the final states (layers, batch, hidden)."""
    given, ids = networks(draw), draw.ints("B T", sizes.V)
    answer = submission.embed_then_rnn(ids, *hand_over(submission, *given))
    expect(answer, reference(ids, *given), **RESULTS, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_matches_torch(submission, sizes, draw):
    """Every token is looked up in the given embedding, and the given RNN reads the vectors."""
    given, ids = networks(draw), draw.ints("B T", sizes.V)
    answer = submission.embed_then_rnn(ids, *hand_over(submission, *given))
    expect(answer, reference(ids, *given), **RESULTS, sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_matches_torch)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one token, one layer, longer texts, and ids that are not contiguous."""
    for other, context in (
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(T=1), "with one token a sequence (T = 1)"),
        (sizes.but(L=1), "with one layer (L = 1)"),
        (sizes.but(B=1, T=1, D=1, H=1, L=1), "with every size 1"),
        (sizes.but(B=4, T=4, D=4, H=4, L=4), "with every size 4"),
        (sizes.but(T=23), "with longer sequences"),
    ):
        here = draw.at(other)
        given, ids = networks(here), here.ints("B T", other.V)
        with case(context):
            answer = submission.embed_then_rnn(ids, *hand_over(submission, *given))
            expect(answer, reference(ids, *given), **RESULTS, sizes=other)
    for context in (
        "with token ids that are not contiguous in memory",
        "with two other networks of that size",
    ):
        given, ids = networks(draw), draw.ints("T B", sizes.V).T
        with case(context):
            answer = submission.embed_then_rnn(ids, *hand_over(submission, *given))
            expect(answer, reference(ids, *given), **RESULTS, sizes=sizes)


@points(0.5)
@rule("gradient")
@needs(test_matches_torch)
def test_gradients(submission, sizes, draw):
    """Gradients reach the embedding's table and all of the RNN's weights, so that both can be trained."""
    embedding, rnn = networks(draw)
    expect_gradients(
        submission.embed_then_rnn,
        lambda token_ids, *_: reference(token_ids, embedding, rnn),
        (draw.ints("B T", sizes.V), *hand_over(submission, embedding, rnn)),
        names=(),
        parameters={**dict(embedding.named_parameters()), **dict(rnn.named_parameters())},
        draw=draw,
        tell="`weight` is the embedding's, the others are the RNN's. Is one detached or read by `.data`?",
    )


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the embedding and the RNN is the dtype of the results."""
    modules, ids = networks(draw), draw.ints("B T", sizes.V)
    expect_dtypes(
        submission.embed_then_rnn, lambda: (ids, *hand_over(submission, *modules)), names=RESULTS["names"]
    )


@points(0)
@rule("device")
@needs(test_shape, test_matches_torch, test_dtype)
def test_device(submission, sizes, draw):
    """With the ids and both networks on a GPU everything is made and stays there."""
    modules, ids = networks(draw), draw.ints("B T", sizes.V)
    expect_device_neutral(
        submission.embed_then_rnn, lambda: (ids, *hand_over(submission, *modules)), names=RESULTS["names"]
    )


@points(0)
@rule("mutation")
@needs(test_shape)
def test_arguments_untouched(submission, sizes, draw):
    """The token ids and the weights are the same after the call as before."""
    given, ids = networks(draw), draw.ints("B T", sizes.V)
    targets = hand_over(submission, *given)
    call = submission.embed_then_rnn.run((ids, *targets))
    expect_untouched(call, (ids, None, None), ("token_ids", "embedding", "rnn"))
    for target, module, word in zip(targets, given, ("embedding", "rnn"), strict=True):
        after = target.state_dict()
        for name, value in module.state_dict().items():
            if not torch.equal(after[name], value):
                fail(f"The call changed `{word}.{name}`. Use the weights, do not write into them.")
