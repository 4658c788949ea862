"""The rules that `StackedLSTM` and `MultiLayerLSTM` obey alike."""

from typing import Any

from autograder.checking import (
    Draw,
    Submission,
    Target,
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_untouched,
)
from autograder.exercises.stacking.given import RATE, inputs, new_stack


def expect_own_dtype(submission: Submission, kind: str, names: tuple[str, ...], draw: Draw) -> None:
    """Module and input of one dtype give results of that dtype, with a state and without, with dropout."""
    small = draw.at(draw.sizes.but(L=2, T=2))
    sizes, (x, state) = small.sizes, inputs(small)
    for arguments, context in (((x,), "without a state"), ((x, state), "with a state")):
        with case(context):
            expect_dtypes(
                getattr(submission, kind),
                arguments,
                made_with=(sizes.D, sizes.H, sizes.L, RATE),
                names=names,
            )


def expect_own_device(submission: Submission, kind: str, names: tuple[str, ...], draw: Draw) -> None:
    """Module and input on a GPU give results there, with a state and without, with dropout."""
    # Two steps and layers show what many do; each kernel takes long on a pretend GPU.
    small = draw.at(draw.sizes.but(L=2, T=2))
    sizes, (x, state) = small.sizes, inputs(small)
    for arguments, context in (((x,), "without a state"), ((x, state), "with a state")):
        with case(context):
            expect_device_neutral(
                getattr(submission, kind),
                arguments,
                made_with=(sizes.D, sizes.H, sizes.L, RATE),
                names=names,
                gradients=len(arguments) > 1,  # once is enough, and they are most of what this costs
            )


def expect_inputs_untouched(submission: Submission, kind: str, draw: Draw) -> None:
    """x and both states are the same after the call as before, without dropout and with it."""
    for dropout in (None, RATE):
        arguments = inputs(draw)
        module = new_stack(submission, kind, draw.sizes, dropout=dropout)
        expect_untouched(module.run(arguments), arguments, ("x", "state"))


def expect_no_dropout_after_eval(
    module: Target, arguments: tuple[Any, ...], wanted: Any, **form: Any
) -> None:
    """A module with dropout that has been in training gives, after eval(), what is wanted on every call."""
    module.train()
    module(*arguments)
    module.eval()
    for context in (f"after eval() with dropout={RATE}", f"in a second call after eval(), dropout={RATE}"):
        with case(context):
            expect(module(*arguments), wanted, **form)
