"""The rules that `StackedLSTM` and `MultiLayerLSTM` obey alike."""

from collections.abc import Callable, Iterator
from typing import Any

import torch

from autograder.checking import (
    DTYPES,
    EXTREMES,
    Draw,
    Handle,
    Sizes,
    Submission,
    asked,
    case,
    expect,
    expect_device_neutral,
    expect_dtypes,
    expect_follows,
    expect_untouched,
)
from autograder.exercises.stacking.given import RATE, filled_stack, inputs, new_stack, stack_parameters


def small_calls(draw: Draw) -> Iterator[tuple[Sizes, tuple[Any, ...], str]]:
    """Calls without a state and with one: their sizes, their arguments, and what they are in words.

    One has two steps and the other two layers, which show what many do: every kernel takes long where it is
    watched.
    """
    steps, layers = draw.at(draw.sizes.but(L=1, T=2)), draw.at(draw.sizes.but(L=2, T=1))
    yield steps.sizes, inputs(steps)[:1], "without a state"
    yield layers.sizes, inputs(layers), "with a state"


def expect_own_dtype(submission: Submission, kind: str, names: tuple[str, ...], draw: Draw) -> None:
    """Expect results of the dtype of module and input, with a state and without, with dropout."""
    for sizes, arguments, context in small_calls(draw):
        with case(context):
            expect_dtypes(
                getattr(submission, kind),
                arguments,
                made_with=(sizes.D, sizes.H, sizes.L, RATE),
                names=names,
                dtypes=DTYPES if len(arguments) > 1 else EXTREMES,
                autocast=len(arguments) > 1,
            )


def expect_own_device(submission: Submission, kind: str, names: tuple[str, ...], draw: Draw) -> None:
    """Expect results on the GPU of module and input, with a state and without, with dropout."""
    for sizes, arguments, context in small_calls(draw):
        with case(context):
            expect_device_neutral(
                getattr(submission, kind),
                arguments,
                made_with=(sizes.D, sizes.H, sizes.L, RATE),
                names=names,
                gradients=len(arguments) > 1,  # once is enough, and they are most of what this costs
            )


def expect_any_size(
    submission: Submission,
    kind: str,
    reference: Callable[..., Any],
    draw: Draw,
    *,
    proj: bool = False,
    **form: Any,
) -> tuple[Handle, dict[str, torch.Tensor]]:
    """Expect right values for other depths and sizes, and where the inputs are not contiguous.

    `reference(parameters, x, state)` computes them. Returns a stack of the draw's own sizes and its
    parameters. A stack is made anew only where its own sizes are others: that costs as much as several calls.
    """
    sizes = draw.sizes
    calls = []
    for other, context in (
        (sizes.but(L=1), "with one layer"),
        (sizes.but(L=5), "with five layers"),
        (sizes.but(B=2, T=2, D=2, H=2, L=2), "with every size 2"),
        (sizes.but(B=1, T=1, D=1, H=1, L=1), "with every size 1"),
    ):
        here = draw.at(other)
        parameters, arguments = stack_parameters(here, proj=proj), inputs(here)
        stack = filled_stack(submission, kind, other, parameters)
        calls.append((stack.request(*arguments), parameters, arguments, other, context))
    parameters = stack_parameters(draw, proj=proj)
    stack = filled_stack(submission, kind, sizes, parameters)
    for other, context in (
        (sizes.but(B=1), "with one sequence (B = 1)"),
        (sizes.but(T=1), "with one time step (T = 1)"),
        (sizes.but(B=3, T=4), "with another number of sequences and steps"),
    ):
        arguments = inputs(draw.at(other))
        calls.append((stack.request(*arguments), parameters, arguments, other, context))
    arguments = draw.strided("B T D"), (draw.strided("L B H"), draw.strided("L B H"))
    context = "with inputs that are not contiguous in memory"
    calls.append((stack.request(*arguments), parameters, arguments, sizes, context))
    for answer, held, given, other, context in asked(calls):
        with case(context):
            expect(answer(), reference(held, *given), **form, sizes=other)
    return stack, parameters


def expect_stack_follows(
    submission: Submission,
    kind: str,
    reference: Callable[..., Any],
    draw: Draw,
    *,
    proj: bool = False,
    **form: Any,
) -> None:
    """Expect a stack to compute with the parameters that it has at the time, in training and in eval()."""
    here = draw.at(draw.sizes.but(L=2, T=2))
    states = [stack_parameters(here, proj=proj) for _ in range(3)]
    x, state = inputs(here)
    stack = filled_stack(submission, kind, here.sizes, states[0])
    expect_follows(
        submission,
        stack,
        lambda: stack.request(x, state),
        lambda held: reference(held, x, state),
        states,
        **form,
        sizes=here.sizes,
    )


def expect_inputs_untouched(submission: Submission, kind: str, draw: Draw) -> None:
    """Expect a call to leave x and both states as they were, without dropout and with it."""
    two = draw.at(draw.sizes.but(L=2))
    calls = []
    for dropout in (None, RATE):
        arguments = inputs(two)
        module = new_stack(submission, kind, two.sizes, dropout=dropout)
        calls.append((module.run_request(arguments), arguments))
    for call, arguments in asked(calls):
        expect_untouched(call(), arguments, ("x", "state"))


def expect_no_dropout_after_eval(
    submission: Submission,
    kind: str,
    reference: Callable[..., Any],
    draw: Draw,
    *,
    proj: bool = False,
    **form: Any,
) -> None:
    """Expect a module with dropout, after training and eval(), to compute like one without."""
    two = draw.at(draw.sizes.but(L=2))
    parameters, arguments = stack_parameters(two, proj=proj), inputs(two)
    module = filled_stack(submission, kind, two.sizes, parameters, dropout=RATE)
    module.train()
    module.defer(*arguments)
    module.eval()
    contexts = (f"after eval() with dropout={RATE}", f"in a second call after eval(), dropout={RATE}")
    for answer, context in asked((module.request(*arguments), context) for context in contexts):
        with case(context):
            expect(answer(), reference(parameters, *arguments), **form, sizes=two.sizes)
