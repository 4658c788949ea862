"""`clip_gradients(parameters, max_norm)`: gradients that are large together, made smaller by one factor."""

import torch

from autograder.checking import (
    Without,
    case,
    compare,
    fail,
    in_words,
    needs,
    points,
    reference,
    rule,
    without,
)
from autograder.exercises.from_scratch import expect_from_scratch

CLIPPING = Without(
    operators="^no operator$",
    code=(("torch/nn/utils/clip_grad.py", r"_?clip_\w+"),),
    say="Here you scale the gradients yourself: torch's clipping functions must not do the work.",
)
HELD = """
class Held:
    "Parameters with these gradients, to be gone through any number of times, or `once`."

    def __init__(self, once, *gradients):
        self.gradients, self.once = gradients, once
        shapes = [(3,) if each is None else each.shape for each in gradients]
        self.held = [nn.Parameter(torch.zeros(shape)) for shape in shapes]
        for parameter, gradient in zip(self.held, gradients):
            parameter.grad = gradient
        self.left = iter(self.held)

    def __iter__(self):
        return self.left if self.once else iter(self.held)

    def __call__(self):
        "The gradients as they are now, and whether each is still the tensor that it was."
        pairs = list(zip(self.held, self.gradients))
        same = [parameter.grad is each for parameter, each in pairs]
        return [parameter.grad for parameter, _ in pairs], same
"""

clipped = reference("reference_clip_gradients:clipped")


def drawn(draw):
    """Gradients of three parameters, of different sizes, and of one that has none."""
    return [draw("H D"), 3 * draw("H"), None, 0.1 * draw("H H")]


def called(submission, gradients, max_norm, once=False):
    """Return the answer, the gradients after the call, and which are still the same tensors."""
    held = submission.given("Held", once, *gradients, source=HELD, dtype=None)
    answer = submission.clip_gradients.request(held, max_norm)
    after = held.request()
    return answer.ask(), *after.ask()


def expect_norm(seen, wanted):
    if isinstance(seen, torch.Tensor):
        fail("You return a tensor; expected a Python float. Take the number out of it.")
    if type(seen) is not float:
        given = "nothing (`None`)" if seen is None else in_words(seen)
        fail(f"Expected one float, the norm; you returned {given}.")
    if abs(seen - wanted) > 1.2e-6 * wanted:
        fail(
            "The norm is not the right one. Expected is the 2-norm of all gradients as if they were one long "
            "vector, as they were before the call."
        )


def expect_gradients_after(after, wanted):
    for number, (seen, right) in enumerate(zip(after, wanted, strict=True)):
        if right is None:
            if seen is not None:
                fail(f"Parameter {number} had no gradient, and has one afterwards.")
            continue
        if not isinstance(seen, torch.Tensor):
            fail(f"Parameter {number} has no gradient any more.")
        if said := compare(seen, right):
            fail(f"The gradient of parameter {number} is not the right one afterwards: {said}")


@points(0)
@rule("from-scratch")
@without(CLIPPING)
def test_from_scratch(submission, sizes, draw):
    """Your code scales the gradients, not torch's clipping functions."""
    held = submission.given("Held", False, draw("H D"), draw("H"), source=HELD, dtype=None)
    expect_from_scratch(submission, "clip_gradients", submission.clip_gradients, (held, 1.0))


@points(0.5)
@rule("values")
@needs(test_from_scratch)
def test_norm(submission, sizes, draw):
    """It returns the norm of all gradients together, as it was before, as a float."""
    for max_norm, words in ((2.0, "where the norm is above `max_norm`"), (1000.0, "where it is below")):
        gradients = [draw("H D"), 3 * draw("H"), 0.1 * draw("H H")]
        with case(words):
            expect_norm(called(submission, gradients, max_norm)[0], clipped(gradients, max_norm)[0])


@points(0.5)
@rule("values")
@needs(test_from_scratch)
def test_scaled(submission, sizes, draw):
    """Where the norm is above `max_norm`, one factor brings it there; where it is not, nothing changes."""
    for max_norm, words in (
        (2.0, "where the norm is above `max_norm`"),
        (1000.0, "where the norm is below `max_norm`"),
        (0.5, "where `max_norm` is below 1"),
    ):
        gradients = [draw("H D"), 3 * draw("H"), 0.1 * draw("H H")]
        with case(words):
            expect_gradients_after(
                called(submission, gradients, max_norm)[1], clipped(gradients, max_norm)[1]
            )


@points(0)
@rule("mutation")
@needs(test_norm, test_scaled)
def test_in_place(submission, sizes, draw):
    """The gradients are scaled where they are: each `.grad` is the tensor that it was."""
    _, _, same = called(submission, [draw("H D"), draw("H")], 2.0)
    if not all(same):
        fail(
            "After the call a `.grad` is another tensor. Whoever holds the old one sees nothing of the "
            "clipping: write the smaller numbers into the tensor that is there."
        )


@points(0)
@rule("generality")
@needs(test_norm, test_scaled)
def test_any_iterable(submission, sizes, draw):
    """It works for an iterator, which can be gone through only once, and where a `.grad` is None."""
    for once, words in (
        (False, "where a parameter's `.grad` is None"),
        (True, "with an iterator, such as `network.parameters()`"),
    ):
        gradients = drawn(draw)
        with case(words):
            norm, right = clipped(gradients, 2.0)
            seen, after, _ = called(submission, gradients, 2.0, once)
            expect_norm(seen, norm)
            expect_gradients_after(after, right)
    one = [draw("H")]
    with case("with one parameter"):
        norm, right = clipped(one, 1.0)
        seen, after, _ = called(submission, one, 1.0)
        expect_norm(seen, norm)
        expect_gradients_after(after, right)
