"""`scale(x, weight)`: each feature times its weight.

A check is a function: its docstring is the title that students read, `@points` is what it is worth (in sum
what the task's check cell says), `@rule` what it is about, `@needs` which checks must have passed before. It
gets the student's functions as `submission`, sizes that are all different as `sizes`, and random inputs from
`draw`.
docs/checks.md of lstm-autograder has all of it.
"""

from autograder.checking import expect, expect_gradients, needs, points, recorded, rule


def given(draw):
    """The task's arguments: one tensor for each, by the names of its dimensions."""
    return draw("B D"), draw("D")


@recorded
def reference(x, weight):
    """The right answer: what the task computes, which `@recorded` keeps from students."""
    return x * weight


@points(0)
@rule("shape")
def test_shape(submission, sizes, draw):
    """The result has the shape of `x`, (batch, features)."""
    arguments = given(draw)
    answer = submission.scale(*arguments)
    expect(answer, reference(*arguments), names="y", dims="B D", sizes=sizes, values=False)


@points(1)
@rule("values")
@needs(test_shape)
def test_values(submission, sizes, draw):
    """Each feature is multiplied by its weight."""
    arguments = given(draw)
    expect(submission.scale(*arguments), reference(*arguments), names="y", dims="B D", sizes=sizes)


@points(1)
@rule("gradient")
@needs(test_values)
def test_gradients(submission, sizes, draw):
    """Gradients reach the input and the weights."""
    expect_gradients(submission.scale, reference, given(draw), names=("x", "weight"), draw=draw)
