"""`scale(x, weight)`: each feature times its weight.

The task is stated once, and `standard` makes the checks that every task has: a number is what a check is
worth (in sum what the task's check cell says), `worth(…)` gives it a title of its own, and a sentence in its
place says why the task has no such check. docs/checks.md of lstm-autograder has all that can be stated, and
how to write a check of your own.
"""

from autograder.checking import Dimension, Dimensions, FunctionSpec, standard, worth

DIMENSIONS = Dimensions(  # a letter for each, and the words in which messages speak of it
    B=Dimension("batch", one="item", small=(1, 2), independent=True),
    D="features",
)

task = FunctionSpec(
    "scale",
    inputs={"x": "B D", "weight": "D"},
    outputs={"y": "B D"},
    reference="reference_scale:right",
)

standard(
    task,
    shape=worth(title="The result has the shape of `x`, (batch, features)."),
    values=worth(1, title="Each feature is multiplied by its weight."),
    gradients=worth(1, title="Gradients reach the input and the weights."),
)
