"""`scale(x, weight)`: each feature times its weight.

The task is stated once, and each `test_…` below it makes a check of that: `title` is the sentence that
students read, `points` what it is worth (in sum what the task's check cell says), `needs` which checks must
have passed before. docs/checks.md of lstm-autograder has all that can be stated, and how to write a check
of your own.
"""

from autograder.checking import Dimension, Dimensions, FunctionSpec, recorded

DIMENSIONS = Dimensions(  # a letter for each, and the words in which messages speak of it
    B=Dimension("batch", one="item", independent=True),
    D="features",
)


@recorded
def reference(x, weight):
    """Return the right answer, which `@recorded` keeps from students."""
    return x * weight


task = FunctionSpec(
    "scale",
    inputs={"x": "B D", "weight": "D"},
    outputs={"y": "B D"},
    reference=reference,
)

test_shape = task.shape(title="The result has the shape of `x`, (batch, features).")
test_values = task.values(title="Each feature is multiplied by its weight.", points=1, needs=[test_shape])
test_gradients = task.gradients(
    title="Gradients reach the input and the weights.", points=1, needs=[test_values]
)
