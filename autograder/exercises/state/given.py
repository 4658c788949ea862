"""Inputs for the tasks on state: an LSTM and its states, and looks at a state from inside."""

from typing import Any

import torch
from torch import nn

from autograder.checking import Call, Draw, StudentError, Submission, fail

STATE: dict[str, Any] = {"names": ("h", "c"), "dims": "L B H"}
"""The names and shapes of a pair of states in messages."""

PROBES = """
def looking():
    def look(kind, function, *arguments):
        looks = [shared, kept, cut_in_place, past_of_state, past_of_step]
        return {look.__name__: look for look in looks}[kind](function, *arguments)

    return look


def shared(init_state, *arguments):
    h, c = init_state(*arguments)
    try:
        with torch.no_grad():
            contents.fill(h, 1.0)
    except RuntimeError:  # memory that cannot be written into
        return [torch.ones(1)] if contents.address_of(h) == contents.address_of(c) else []
    return [contents.numbers_of(c)]


def kept(init_state, *arguments):
    try:
        with torch.no_grad():
            for part in init_state(*arguments):
                contents.fill(part, 1.0)
    except RuntimeError:
        return []
    return [contents.numbers_of(part) for part in init_state(*arguments)]


def cut_in_place(detach_state, h, c):
    state = grown(h, c)
    container = tuple(state)
    detach_state(container)
    return [not contents.has_graph(part) for part in state]


def grown(h, c):
    return tuple(part.clone().requires_grad_() * 1.0 for part in (h, c))


def past_of_state(detach_state, h, c):
    return [contents.has_graph(part) for part in detach_state(grown(h, c))]


def past_of_step(tbptt_step, *arguments):
    return [contents.has_graph(part) for part in tbptt_step(*arguments)[1]]
"""
"""Looks at what shows only where the tensors live: numbers that were written into one state and stand in the
other (`shared`) or in what a later call hands out (`kept`), whether a state was cut off in place, and whether
autograd computed the state that is returned (`past_of_…`)."""


def reference_lstm(draw: Draw, dtype: torch.dtype = torch.float64) -> nn.LSTM:
    """A deep LSTM with random weights and biases."""
    sizes = draw.sizes
    return draw.module(nn.LSTM, sizes.D, sizes.H, sizes.L, batch_first=True, dtype=dtype)


def random_state(draw: Draw, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    """The states h and c of every layer, none of them zero."""
    return draw("L B H", dtype=dtype), draw("L B H", dtype=dtype)


def look(submission: Submission, kind: str, task: str, *arguments: Any) -> Any:
    """Run one of `PROBES` with the student's function and the arguments."""
    probe = submission.given("looking", source=PROBES, dtype=None)
    return probe(kind, getattr(submission, task).attribute(), *arguments)


def expect_no_past(submission: Submission, kind: str, task: str, *arguments: Any) -> None:
    """Expect that autograd keeps nothing of what the returned state was computed from.

    A backward pass alone does not tell: it may end at once in a function that gives no gradient on.
    """
    past = look(submission, kind, task, *arguments)
    kept = past if isinstance(past, list) else []
    which = [name for name, each in zip(STATE["names"], kept, strict=False) if each]
    if which:
        fail(
            f"`{which[0]}` still has a `grad_fn`, so all that it was computed from stays in memory, whether "
            "a gradient flows back or not. Return tensors that are off the graph."
        )


def hold_numbers(states: Any) -> bool:
    """Return whether a look found a state that does not hold zeros alone."""
    return not isinstance(states, list) or any(
        not isinstance(each, torch.Tensor) or bool(each.any()) for each in states
    )


def expect_off_graph(call: Call, names: tuple[str, ...], shape: tuple[int, ...]) -> None:
    """Expect no gradient to flow from the returned states back into what the call was given.

    A state that asks for gradients itself, as the beginning of a new graph, passes.
    """
    expect_fit_for_training(call)
    if not any(call.attached):
        return
    which = [f"`{name}`" for name, attached in zip(names, call.attached, strict=False) if attached]
    told = (
        f"{' and '.join(which)} {'is' if len(which) == 1 else 'are'} still part of the graph that made "
        f"{'it' if len(which) == 1 else 'them'}, so a later backward pass would run on into this call. Cut "
        "off both states, and return the ones that are cut off."
    )
    try:
        gradients = call.backward([torch.ones(shape, dtype=torch.float64) for _ in names])
    except StudentError:
        fail(told)
    if any(grad is not None for grad in (*gradients.inputs, *gradients.parameters.values())):
        fail(told)


def expect_fit_for_training(call: Call) -> None:
    """Expect that training can go on from the returned states: none was made in inference mode."""
    if "inference" in call.left:
        fail(
            "What you return was made in `torch.inference_mode()`, so training cannot go on from it: the "
            "next backward pass stops. `torch.no_grad()` and `detach()` make tensors that can be used again."
        )
