"""The rules that `StackedLSTM` and `MultiLayerLSTM` obey alike."""

from collections.abc import Iterator
from typing import Any

from autograder.checking import (
    Draw,
    Sizes,
    Submission,
    Target,
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_untouched,
)
from autograder.exercises.stacking.given import RATE, inputs, new_stack


def small_calls(draw: Draw) -> Iterator[tuple[Sizes, tuple[Any, ...], str]]:
    """Calls without a state and with one: their sizes, their arguments, and what they are in words.

    Two steps and layers show what many do, and one of each what is made in place of a state: every kernel
    takes long where it is watched.
    """
    one, two = draw.at(draw.sizes.but(L=1, T=1)), draw.at(draw.sizes.but(L=2, T=2))
    yield one.sizes, inputs(one)[:1], "without a state"
    yield two.sizes, inputs(two), "with a state"


def expect_own_dtype(submission: Submission, kind: str, names: tuple[str, ...], draw: Draw) -> None:
    """Module and input of one dtype give results of that dtype, with a state and without, with dropout."""
    for sizes, arguments, context in small_calls(draw):
        with case(context):
            expect_dtypes(
                getattr(submission, kind),
                arguments,
                made_with=(sizes.D, sizes.H, sizes.L, RATE),
                names=names,
            )


def expect_own_device(submission: Submission, kind: str, names: tuple[str, ...], draw: Draw) -> None:
    """Module and input on a GPU give results there, with a state and without, with dropout."""
    for sizes, arguments, context in small_calls(draw):
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
