"""`init_state(x, num_layers, hidden_size)`: a state of zeros that fits a batch."""

import torch

from autograder.checking import (
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_untouched,
    fail,
    needs,
    points,
    recorded,
    rule,
)
from autograder.exercises.several import expect_each
from autograder.exercises.state.given import STATE, look

RESULTS = {"names": ("h_0", "c_0"), "dims": STATE["dims"]}


@recorded
def zeros(sizes):
    """What torch itself starts from: the shape that nn.LSTM documents, twice."""
    shape = sizes.shape("L B H")
    return torch.zeros(shape, dtype=torch.float64), torch.zeros(shape, dtype=torch.float64)


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns (h_0, c_0), each (layers, batch, hidden)."""
    answer = submission.init_state(draw("B T D"), sizes.L, sizes.H)
    expect(answer, zeros(sizes), **RESULTS, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_zeros(submission, sizes, draw):
    """Both states are zero in every layer, whatever is in x, on every call."""
    for context in ("on the first call", "called a second time"):
        with case(context):
            answer = submission.init_state(draw("B T D"), sizes.L, sizes.H)
            expect(answer, zeros(sizes), **RESULTS, sizes=sizes)


@points(0)
@rule("generality")
@needs(test_zeros)
def test_any_size(submission, sizes, draw):
    """It works for one sequence, one step, one layer, equal sizes, and an x that is not contiguous."""
    many = sizes.but(B=draw.size(31, 70), T=draw.size(31, 130), L=draw.size(7, 13))
    calls = [
        (context, other, (draw.at(other)("B T D"), other.L, other.H))
        for other, context in (
            (sizes.but(B=1), "with one sequence (B = 1)"),
            (sizes.but(T=1), "with one time step (T = 1)"),
            (sizes.but(L=1), "with one layer (L = 1)"),
            (many, "with more of everything"),
            (sizes.but(B=2, H=draw.size(33, 130)), "with many hidden units"),
            (sizes.but(B=1, T=1, D=1, H=1, L=1), "with every size 1"),
            (sizes.but(B=4, T=4, D=4, H=4, L=4), "with every size 4"),
        )
    ]
    calls.append(
        ("with an x that is not contiguous in memory", sizes, (draw.strided("B T D"), sizes.L, sizes.H))
    )

    def of_that_size(x, num_layers, hidden_size):
        return zeros(sizes.but(B=len(x), L=num_layers, H=hidden_size))

    expect_each(submission.init_state, of_that_size, calls, **RESULTS)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of x is the dtype of both states."""
    expect_dtypes(submission.init_state, (draw("B T D"), sizes.L, sizes.H), names=RESULTS["names"])


@points(0.5)
@rule("device")
@needs(test_shape, test_dtype)
def test_device(submission, sizes, draw):
    """With x on a GPU both states are made there."""
    expect_device_neutral(submission.init_state, (draw("B T D"), sizes.L, sizes.H), names=RESULTS["names"])


@points(0.5)
@rule("mutation")
@needs(test_zeros)
def test_own_memory(submission, sizes, draw):
    """h_0 and c_0 are two tensors: writing into one leaves the other, and x, as it was."""
    arguments = (draw("B T D"), sizes.L, sizes.H)
    if look(submission, "shared", "init_state", *arguments):
        fail(
            "`h_0` and `c_0` share memory: what is written into one appears in the other. Make two tensors, "
            "not one with two names."
        )
    if look(submission, "kept", "init_state", *arguments):
        fail(
            "What is written into a state appears in the state that the next call returns: the same tensors "
            "are handed out again. Make new ones in every call."
        )
    expect_untouched(submission.init_state.run(arguments), arguments, ("x", "num_layers", "hidden_size"))
