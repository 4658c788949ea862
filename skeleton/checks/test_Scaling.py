"""`Scaling(size)`: a module that gives each feature a weight, which is learned.

As with a function, the task is stated once, and `standard` makes the checks that every class of modules has:
those of its parameters besides.
"""

from autograder.checking import Dimension, Dimensions, ModuleSpec, standard, worth

DIMENSIONS = Dimensions(  # a letter for each, and the words in which messages speak of it
    B=Dimension("batch", one="item", small=(1, 2), independent=True),
    D="features",
)

task = ModuleSpec(
    "Scaling",
    made_with={"size": "D"},
    parameters={"weight": "D"},
    inputs={"x": "B D"},
    outputs={"y": "B D"},
    reference="reference_Scaling:right",
)

standard(
    task,
    registered=worth(1, title="Its one parameter is `weight`, (size,)."),
    shape=worth(title="The result has the shape of `x`, (batch, features)."),
    values=worth(1, title="Each feature is multiplied by its weight."),
    follows=worth(teaching_only=True),
    gradients=worth(1, title="Gradients reach the input and the weights."),
)
