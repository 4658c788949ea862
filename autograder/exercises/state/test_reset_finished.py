"""`reset_finished(state, finished)`: new sequences start from zero, the others go on."""

import torch

from autograder.checking import (
    case,
    computed_once,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_gradients,
    needs,
    points,
    recorded,
    rule,
)
from autograder.exercises.several import expect_each, expect_each_untouched, far_apart, if_right
from autograder.exercises.state.given import STATE, random_state, strided_state


def some_finished(draw):
    """A random mask in which the first sequence is finished and the last one is not."""
    finished = draw.ints("B", 2).bool()
    finished[0], finished[-1] = True, False
    return finished


@recorded
@computed_once
def reference(state, finished):
    """Sequence by sequence: zeros where it is finished, else what was there."""
    return tuple(
        torch.stack([h * 0 if gone else h for h, gone in zip(part.unbind(1), finished, strict=True)], dim=1)
        for part in state
    )


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """It returns a pair (h, c) with the shapes of the pair it is given."""
    state, finished = random_state(draw), some_finished(draw)
    expect(submission.reset_finished(state, finished), state, **STATE, sizes=sizes, values=False)


@points(0.5)
@rule("values")
@needs(test_shape)
def test_only_the_finished(submission, sizes, draw):
    """h and c of the finished sequences are zero in every layer; those of the others are what they were."""
    state, finished = random_state(draw), some_finished(draw)
    answer = submission.reset_finished(state, finished)
    expect(answer, reference(state, finished), **STATE, sizes=sizes)


@points(0.5)
@rule("generality")
@needs(test_only_the_finished)
def test_any_mask(submission, sizes, draw):
    """It works when none or all are finished, for any sizes and numbers, states half zero or strided."""
    square, many = sizes.but(B=4, H=4, L=4), sizes.but(B=draw.size(31, 70), L=draw.size(7, 13), H=2)
    calls = []
    for other, mask, context in (
        (sizes, [False] * sizes.B, "with no sequence finished"),
        (sizes, [True] * sizes.B, "with every sequence finished"),
        (sizes.but(B=1), [True], "with one sequence (B = 1), finished"),
        (sizes.but(B=1), [False], "with one sequence (B = 1), not finished"),
        (sizes.but(B=4, L=1), [False, True, True, False], "with one layer (L = 1)"),
        (square, [True, False, False, True], "with every size 4"),
        (square, [False, False, True, False], "with every size 4"),
        (sizes.but(B=1, L=1, H=1), [True], "with every size 1"),
    ):
        calls.append((context, other, (random_state(draw.at(other)), torch.tensor(mask))))
    (h, c), finished = random_state(draw), some_finished(draw)
    (large, long), apart = random_state(draw.at(many)), [far_apart(part, 1) for part in random_state(draw)]
    calls += [
        ("with an `h` that is zero already", sizes, ((torch.zeros_like(h), c), finished)),
        ("with a `c` that is zero already", sizes, ((h, torch.zeros_like(c)), finished)),
        ("with states that are not contiguous in memory", sizes, (strided_state(draw), some_finished(draw))),
        ("with more of everything", many, ((large, long), some_finished(draw.at(many)))),
        ("with numbers from very small to very large", sizes, (tuple(apart), finished)),
        ("with those, the largest of them finished", sizes, (tuple(apart), finished.flip(0))),
    ]
    expect_each(submission.reset_finished, reference, calls, **STATE)


@points(0.5)
@rule("gradient")
@needs(test_only_the_finished)
def test_gradients(submission, sizes, draw):
    """Gradients flow back to the states that went on, and none to those that were reset."""
    many, one = sizes.but(B=draw.size(31, 70), L=draw.size(4, 9), H=2), sizes.but(B=1)
    zeros = tuple(torch.zeros(one.shape("L B H"), dtype=torch.float64) for _ in range(2))
    for other, arguments, context in (
        (many, (random_state(draw.at(many)), some_finished(draw.at(many))), "with several sequences"),
        (one, (zeros, torch.tensor([False])), "with one sequence (B = 1) that goes on, its state still zero"),
    ):
        right = reference(*arguments)
        with case(context), if_right(submission.reset_finished, arguments, right, **STATE, sizes=other):
            expect_gradients(submission.reset_finished, reference, arguments, names=STATE["names"], draw=draw)


@points(0)
@rule("dtype")
@needs(test_shape)
def test_dtype(submission, sizes, draw):
    """The dtype of the states stays what it was."""
    arguments = (random_state(draw), some_finished(draw))
    expect_dtypes(submission.reset_finished, arguments, names=STATE["names"])


@points(0)
@rule("device")
@needs(test_shape, test_only_the_finished, test_dtype)
def test_device(submission, sizes, draw):
    """With the state on a GPU everything is made and stays there."""
    arguments = (random_state(draw), some_finished(draw))
    # Which sequences are finished may be asked: not every loop can do without.
    expect_device_neutral(submission.reset_finished, arguments, names=STATE["names"], reads=True)


@points(0.5)
@rule("mutation")
@needs(test_only_the_finished)
def test_arguments_untouched(submission, sizes, draw):
    """The state that was passed in, and the mask, are the same after the call as before."""
    state, finished = random_state(draw), some_finished(draw)
    calls = (
        ("with some sequences finished", (state, finished)),
        ("with every sequence finished", (state, torch.ones_like(finished))),
        ("with no sequence finished", (state, torch.zeros_like(finished))),
    )
    expect_each_untouched(submission.reset_finished, calls, ("state", "finished"))
