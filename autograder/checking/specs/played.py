"""Calls in a row, made with a reference: what each returns, and the state that it leaves behind.

The reference may change what it is given, as torch's own functions do: it gets copies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from autograder.checking.expectations.comparing import compare
from autograder.checking.expectations.values import fail
from autograder.checking.expectations.wording import in_words
from autograder.checking.inputs.cache import computed_once
from autograder.checking.inputs.references import recorded
from autograder.checking.specs.inputs import Optimizer

State = Mapping[str, torch.Tensor]
"""Parameters and buffers by name."""


@recorded
@computed_once
def modules_played(
    reference: Callable[..., Any],
    buffers: Sequence[str],
    calls: Sequence[tuple[State, tuple[Any, ...], bool]],
) -> list[tuple[Any, State]]:
    """Return the results of a module's calls in a row, and its buffers after each.

    A call is what the module holds, its inputs, and whether it is in training mode. The buffers are those of
    the first call, and then those that the call before has left.
    """
    seen: list[tuple[Any, State]] = []
    state: State = {}
    for held, inputs, training in calls:
        result, state = called(reference, {**held, **state}, buffers, training, *inputs)
        seen.append((result, state))
    return seen


def called(
    reference: Callable[..., Any], held: State, buffers: Sequence[str], training: bool, *inputs: Any
) -> tuple[Any, State]:
    """Return the result of one call of a module that holds this, and its buffers after it."""
    copies = {name: held[name].detach().clone() for name in buffers}
    held = {**held, **copies}
    result = reference(held, *inputs, training=training)
    return result, {name: held[name].detach() for name in buffers}


def result_of(
    reference: Callable[..., Any], held: State, buffers: Sequence[str], training: bool, *inputs: Any
) -> Any:
    """Return the result of one call of a module that holds this."""
    return called(reference, held, buffers, training, *inputs)[0]


@recorded
def functions_played(
    reference: Callable[..., Any],
    names: Sequence[str],
    changes: Sequence[str],
    calls: Sequence[Sequence[Any]],
) -> list[tuple[Any, State]]:
    """Return the results of a function's calls in a row, and what the modules hold that it changes.

    `names` are the inputs'. A module or an optimizer in several calls is the same one.
    """
    here: dict[int, Any] = {}
    seen: list[tuple[Any, State]] = []
    for inputs in calls:
        named = dict(zip(names, inputs, strict=False))
        for value in named.values():
            if isinstance(value, nn.Module) and id(value) not in here:
                here[id(value)] = deepcopy(value)
        for value in named.values():
            if isinstance(value, Optimizer) and id(value) not in here:
                here[id(value)] = value.over(here[id(named[value.of])])
        result = reference(*(here.get(id(value), value) for value in inputs))
        state = {
            f"{name}.{inner}": value.detach().clone()
            for name in changes
            for inner, value in here[id(named[name])].state_dict().items()
        }
        seen.append((result, state))
    return seen


def expect_state(seen: Mapping[str, Any], right: State, when: str) -> None:
    """Expect these values among what a module holds.

    `when` says when they were looked at. Raises `CheckFailed` for the first that is missing, of another shape
    or otherwise.
    """
    for name, wanted in right.items():
        value = seen.get(name)
        if not isinstance(value, torch.Tensor) or value.shape != wanted.shape:
            shape = f"of shape {tuple(value.shape)}" if isinstance(value, torch.Tensor) else in_words(value)
            fail(f"`{name}` is {shape} {when}; expected a tensor of shape {tuple(wanted.shape)}.")
        if told := compare(value, wanted):
            fail(f"`{name}` does not hold the right values {when}: {told}")
