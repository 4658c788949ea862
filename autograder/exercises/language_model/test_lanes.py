"""`lanes(ids, batch_size)`: a long text cut into pieces that are read side by side."""

import torch

from autograder.checking import (
    Case,
    FunctionSpec,
    expect_dtype,
    needs,
    points,
    rule,
    standard,
    worth,
)


def text(left_over):
    """An input of ids: so many more than `B` rows of `T` hold."""

    def drawn(draw):
        rest = draw.sizes.B - 1 if left_over is None else left_over
        return draw.ints(f"{draw.sizes.B * draw.sizes.T + rest}", 1000)

    return drawn


def leaving(words, left_over, **sizes):
    """A case in which so many ids are left over."""
    return Case(words, sizes, given={"ids": text(left_over)})


task = FunctionSpec(
    "lanes",
    inputs={"ids": text(None), "batch_size": lambda draw: draw.sizes.B},
    outputs={"rows": "B T"},
    reference="reference_lanes:rows",
)

standard(
    task,
    shape=worth(0, leaving("", 3), title="It returns (batch_size, n // batch_size)."),
    values=worth(
        0.5,
        name="rows_are_pieces",
        title="Each row is one contiguous piece of the text, and the rows follow each other.",
    ),
    any_size=worth(
        0.5,
        leaving("when nothing is left over", 0),
        leaving("when one id is left over", 1),
        leaving("with one row", 0, B=1),
        leaving("with one id in each row", 0, T=1),
        leaving("with one id in each row and some left over", None, T=1),
        leaving("with one id in all", 0, B=1, T=1),
        leaving("with as many rows as ids in each", 2, B=4, T=4),
        leaving("with a long text", None, B=(20, 40), T=(300, 400)),
        Case(
            "with ids that are not contiguous in memory",
            given={"ids": lambda draw: draw.ints(f"{draw.sizes.B * draw.sizes.T + 3} 2", 1000)[:, 1]},
        ),
        title="It works whether something is left over or not, for one row, and for one id in each.",
    ),
    gradients="ids are whole numbers, which have no gradient",
    dtypes="ids stay int64, which `ids_stay_whole` looks at",
    devices=worth(
        0.5, needs=["rows_are_pieces"], gradients=False, title="With the ids on a GPU, so are the rows."
    ),
    leaves_arguments=worth(0, title="The call leaves the ids unchanged."),
)


@points(0)
@rule("dtype")
@needs("shape")
def test_ids_stay_whole(submission, sizes, draw):
    """The rows are int64, as the ids are."""
    expect_dtype(submission.lanes(text(1)(draw), sizes.B), torch.int64, names="rows")
