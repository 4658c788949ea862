"""Expectations of a module in use: it computes with the parameters of now, in either mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from autograder.checking.expectations.comparing import compare
from autograder.checking.expectations.values import case, expect, fail
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.remote.connection import Request, asked
from autograder.checking.remote.handle import Handle
from autograder.checking.remote.submission import Submission
from autograder.protocol.values import tree_leaves

STEPPING = """
class Stepping:
    def __init__(self, module):
        self.named = dict(module.named_parameters())

    @torch.no_grad()
    def __call__(self, state):
        for name, parameter in self.named.items():
            parameter.sub_(parameter - state[name].to(parameter.dtype))
"""
"""An optimizer's step, in place, over the parameters that were there when it was made: to a given state.

One of torch's own would import torch's compiler first, two seconds of work."""

Held = Mapping[str, torch.Tensor]
"""A module's parameters by name."""


def stepping(submission: Submission, module: Handle) -> Handle:
    """An optimizer over the module's parameters of now: called with a state, it takes one step to it."""
    return submission.given("Stepping", module, source=STEPPING, dtype=None)


def expect_follows(
    submission: Submission,
    module: Handle,
    request: Callable[[], Request[Any]],
    reference: Callable[[Held], Any],
    states: Sequence[Held],
    *,
    names: str | Sequence[str],
    dims: str | Sequence[str],
    sizes: Sizes,
    second: Handle | None = None,
) -> None:
    """Expect each answer to be that of the parameters of its time, after an optimizer's step and a load.

    `request()` describes a call, of the module itself or of a function that is given it, always with the same
    arguments; `reference(state)` is the right answer. The module is filled with the first of three `states`
    (parameters by name) and in training mode; the second one comes by a step while it trains, the third is
    loaded in `eval()`. `names`, `dims` (`"B T H"`) and `sizes` are those of `expect`. `second` is another
    module of the same class, which is filled with the third state first, and must make no difference. Raises
    `CheckFailed` where an answer is not so, `StudentError` where a call stops, `ValueError` unless there are
    three states.

        cell.load_state_dict(states[0])
        request, right = (lambda: cell.request(x, h)), (lambda state: step(state, x, h))
        expect_follows(submission, cell, request, right, states, names="h_next", dims="B H", sizes=sizes)
    """
    loaded, stepped_to, loaded_later = states
    if second is not None:
        second.load_state_dict(loaded_later)
    step = stepping(submission, module)
    calls = [(request(), loaded, "at the first call")]
    step.defer(stepped_to)
    calls.append((request(), stepped_to, "after an optimizer step"))
    module.eval()
    calls.append((request(), stepped_to, "in eval()"))
    module.load_state_dict(loaded_later)
    calls.append((request(), loaded_later, "in eval(), after load_state_dict()"))
    old: Held | None = None
    for answer, held, context in asked(calls):
        seen, right = answer(), reference(held)
        with case(context):
            if old is not None and not _alike(seen, right) and _alike(seen, reference(old)):
                fail(
                    "The results still come from the old parameters: the new ones make no difference. "
                    "Anything made from parameters (joined, copied, converted) is out of date after the "
                    "next step of training, so make it again in every call."
                )
            if second is not None and not _alike(seen, right) and _alike(seen, reference(loaded_later)):
                fail(
                    "The parameters used are those of another module of the same class, made later. Keep "
                    "what belongs to one module on `self`, not on the class or in a global variable."
                )
            expect(seen, right, names=names, dims=dims, sizes=sizes)
        old = held


def _alike(one: Any, other: Any) -> bool:
    """Return whether two answers hold the same numbers, to tolerance."""
    pairs = list(zip(tree_leaves(one), tree_leaves(other), strict=False))
    return all(
        isinstance(each, torch.Tensor) and each.shape == two.shape and not compare(each, two)
        for each, two in pairs
    )
