"""`mean_over_time(x)`: the mean of every sequence over its time steps."""

from autograder.checking import FunctionSpec, standard, worth

task = FunctionSpec(
    "mean_over_time",
    inputs={"x": "B T D"},
    outputs={"mean": "B D"},
    reference="reference_mean_over_time:mean_of_steps",
)

standard(
    task,
    shape=worth(title="It returns one vector for every sequence, (batch, features)."),
    values=worth(0.5, title="Every sequence's vector is the mean of its time steps."),
    any_size="it is for grading only: see hidden_mean_over_time.py",
    gradients=worth(title="Gradients reach every step."),
    dtypes=worth(title="The mean has the dtype of x."),
    devices=worth(title="With x on a GPU, everything is created and computed there."),
    leaves_arguments=worth(title="The call leaves x unchanged."),
)
