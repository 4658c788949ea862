"""`to_time_major(x)`: the same numbers with the time dimension first."""

import torch

from autograder.checking import USUAL, FunctionSpec, fail, reference, sized, standard, strided, worth

time_first = reference("reference_to_time_major:time_first")


def in_old_order(answer, call):
    """Say so where the numbers stand in the order that they had, under the new shape."""
    (x,) = call.arguments
    as_it_was = isinstance(answer, torch.Tensor) and torch.equal(answer.flatten(), x.flatten())
    if as_it_was and not torch.equal(answer, time_first(x)):
        fail(
            "`x_time_major` has the right shape, but its numbers are still in the order they had in `x`, "
            "so a step holds numbers from other steps. `reshape` and `view` never move a dimension: which "
            "operation swaps two of them?"
        )


task = FunctionSpec(
    "to_time_major", inputs={"x": "B T D"}, outputs={"x_time_major": "T B D"}, reference=time_first
)

standard(
    task,
    shape=worth(title="The time dimension comes first: (time, batch, features)."),
    values=worth(
        0.5,
        name="nothing_mixed",
        title="Step t of sequence b is still step t of sequence b.",
        explain=in_old_order,
    ),
    any_size=worth(
        0.5,
        sized("with as many sequences as steps (B = T = 4)", B=4, T=4),
        sized("with every size 4", B=4, T=4, D=4),
        sized("with one sequence (B = 1)", B=1),
        sized("with one time step (T = 1)", T=1),
        sized("with one feature (D = 1)", D=1),
        sized("with every size 1", B=1, T=1, D=1),
        strided("with an input that is not contiguous in memory"),
        title="It works for as many sequences as steps, for one of each, and for non-contiguous inputs.",
    ),
    gradients=worth(
        0.5,
        USUAL,
        sized("with {T} time steps", B=2, T=(150, 300), D=2),
        title="Gradients flow back to the input.",
    ),
    dtypes=worth(title="The result has the dtype of the input."),
    devices=worth(title="With the input on a GPU, the result is on it as well."),
    leaves_arguments=worth(
        0, name="argument_untouched", title="The call leaves the input unchanged, its shape included."
    ),
)
