"""`init_state(x, num_layers, hidden_size)`: a state of zeros that fits a batch."""

import torch

from autograder.checking import (
    USUAL,
    Case,
    FunctionSpec,
    expect_untouched,
    fail,
    needs,
    points,
    rule,
    sized,
    standard,
    strided,
    worth,
)
from autograder.exercises.state.given import expect_fit_for_training, hold_numbers, look

INFINITY = float("inf")


task = FunctionSpec(
    "init_state",
    inputs={
        "x": "B T D",
        "num_layers": lambda draw: draw.sizes.L,
        "hidden_size": lambda draw: draw.sizes.H,
    },
    outputs={"h_0": "L B H", "c_0": "L B H"},
    reference="reference_init_state:zeros",
)

standard(
    task,
    shape=worth(title="It returns (h_0, c_0), each (layers, batch, hidden)."),
    values=worth(
        0.5,
        USUAL.named("on the first call"),
        USUAL.named("called a second time, with a finite x"),
        Case(
            "with infinity in x",
            changed=lambda x, *numbers: (x.index_fill(1, torch.tensor([0]), INFINITY), *numbers),
        ),
        name="zeros",
        title="Both states are zero in every layer, whatever is in x, on every call.",
    ),
    any_size=worth(
        0,
        sized("with one sequence (B = 1)", B=1),
        sized("with one time step (T = 1)", T=1),
        sized("with one layer (L = 1)", L=1),
        sized("with more of everything", B=(31, 70), T=(31, 130), L=(7, 13)),
        sized("with many hidden units", B=2, H=(33, 130)),
        sized("with every size 1", B=1, T=1, D=1, H=1, L=1),
        sized("with every size 4", B=4, T=4, D=4, H=4, L=4),
        strided("with an x that is not contiguous in memory"),
        title="It works for one sequence, one step, one layer, equal sizes, and a non-contiguous x.",
    ),
    gradients="zeros depend on nothing",
    dtypes=worth(title="Both states have the dtype of x."),
    devices=worth(0.5, title="With x on a GPU, both states are created there.", needs=["shape", "dtype"]),
    leaves_arguments="what it may write into is what `own_memory` looks at",
)


@points(0.5)
@rule("mutation")
@needs("zeros")
def test_own_memory(submission, sizes, draw):
    """h_0 and c_0 are two tensors: writing into one changes neither the other nor x."""
    arguments = (draw("B T D"), sizes.L, sizes.H)
    if hold_numbers(look(submission, "shared", "init_state", *arguments)):
        fail(
            "`h_0` and `c_0` share memory: what is written into one appears in the other. Create two "
            "tensors, not one with two names."
        )
    if hold_numbers(look(submission, "kept", "init_state", *arguments)):
        fail(
            "What is written into a state appears in the state that the next call returns: the same "
            "tensors are returned again. Create new ones in every call."
        )
    call = submission.init_state.run(arguments)
    expect_fit_for_training(call)
    expect_untouched(call, arguments, ("x", "num_layers", "hidden_size"))
