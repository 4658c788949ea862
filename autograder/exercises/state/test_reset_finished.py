"""`reset_finished(state, finished)`: new sequences start from zero, the others continue."""

import torch

from autograder.checking import (
    USUAL,
    Case,
    FunctionSpec,
    case,
    expect_untouched,
    needs,
    points,
    rule,
    sized,
    strided,
)
from autograder.exercises.several import expect_each_untouched, far_apart
from autograder.exercises.state.given import random_state


def some_finished(draw):
    """A random mask in which the first sequence is finished and the last one is not."""
    finished = draw.ints("B", 2).bool()
    finished[0], finished[-1] = True, False
    return finished


task = FunctionSpec(
    "reset_finished",
    inputs={"state": {"h": "L B H", "c": "L B H"}, "finished": some_finished},
    outputs={"h": "L B H", "c": "L B H"},
    reference="reference_reset_finished:reset",
)


def changed(words, change, **sizes):
    """A case whose inputs are what `change(state, finished)` makes of the usual ones."""
    return Case(words, sizes, changed=change)


def masked(words, *mask, **sizes):
    """A case with this mask."""
    return changed(words, lambda state, _: (state, torch.tensor(mask)), **sizes)


def scaled(state):
    """The state with numbers from very small, in the first sequence, to very large."""
    return tuple(far_apart(part, 1) for part in state)


test_shape = task.shape(title="It returns a pair (h, c) with the shapes of the pair it was given.")
test_only_the_finished = task.values(
    # The first sequence goes on: who resets that one alone is told from who stops at the first finished one.
    changed("", lambda state, finished: (state, finished.roll(1))),
    USUAL,
    title="h and c of the finished sequences are zero in every layer; those of the others are unchanged.",
    points=0.5,
    needs=[test_shape],
)
test_any_mask = task.any_size(
    changed("with no sequence finished", lambda state, finished: (state, torch.zeros_like(finished))),
    changed("with every sequence finished", lambda state, finished: (state, torch.ones_like(finished))),
    masked("with one sequence (B = 1), finished", True, B=1),
    masked("with one sequence (B = 1), not finished", False, B=1),
    masked("with one layer (L = 1)", False, True, True, False, B=4, L=1),
    masked("with every size 4", True, False, False, True, B=4, H=4, L=4),
    masked("with every size 4", False, False, True, False, B=4, H=4, L=4),
    masked("with every size 1", True, B=1, L=1, H=1),
    changed(
        "with an `h` that is already zero",
        lambda state, finished: ((torch.zeros_like(state[0]), state[1]), finished),
    ),
    changed(
        "with a `c` that is already zero",
        lambda state, finished: ((state[0], torch.zeros_like(state[1])), finished),
    ),
    strided("with states that are not contiguous in memory"),
    sized("with more of everything", B=(31, 70), L=(7, 13), H=2),
    changed("with numbers from very small to very large", lambda state, finished: (scaled(state), finished)),
    changed(
        "with the same numbers, the largest of them finished",
        lambda state, finished: (scaled(state), finished.flip(0)),
    ),
    title="It works when none or all are finished, for any sizes and numbers, and half-zero or "
    "non-contiguous states.",
    points=0.5,
    needs=[test_only_the_finished],
)
test_gradients = task.gradients(
    sized("with several sequences", B=(31, 70), L=(4, 9), H=2),
    changed(
        "with one sequence (B = 1) that goes on, its state still zero",
        lambda state, _: (tuple(map(torch.zeros_like, state)), torch.tensor([False])),
        B=1,
    ),
    if_right=True,
    title="Gradients flow back to the states that were kept, and none to those that were reset.",
    points=0.5,
    needs=[test_only_the_finished],
)
test_dtype = task.dtypes(title="The states keep their dtype.", needs=[test_shape])
test_device = task.devices(
    title="With the state on a GPU, everything is created and computed there.",
    needs=[test_shape, test_only_the_finished, test_dtype],
)


@points(0.5)
@rule("mutation")
@needs(test_only_the_finished)
def test_arguments_untouched(submission, sizes, draw):
    """The call leaves the given state and the mask unchanged."""
    state, finished = random_state(draw), some_finished(draw)
    calls = (
        ("with some sequences finished", (state, finished)),
        ("with every sequence finished", (state, torch.ones_like(finished))),
        ("with no sequence finished", (state, torch.zeros_like(finished))),
    )
    expect_each_untouched(submission.reset_finished, calls, ("state", "finished"))
    call = submission.reset_finished.run((state, finished), grad=True)
    with case("with a state that is part of a graph"):
        expect_untouched(call, (state, finished), ("state", "finished"))
