"""Modules handed to a task on the student's side: torch's own, and some that tell how they were driven."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from autograder.checking import CheckFailed, Draw, FunctionSpec, Handle, Submission, expect, fail
from autograder.checking import expect_weights_untouched as expect_weights_untouched

DRIVEN = """
from itertools import count
from types import MethodType


def driven(kind, numbers, before, wants_packed, *args, **kwargs):
    module, calls, turns = getattr(nn, kind)(*args, **kwargs), [], count(before + 1)
    plain = type(module).forward

    def forward(self, input, hx=None):
        packed = isinstance(input, nn.utils.rnn.PackedSequence)
        read = input.data if packed else input
        calls.append([] if packed else list(input.shape))
        wave = numbers.to(read) * next(turns) + read.detach().sum() + (wants_packed and not packed)
        return shrunk(plain(self, input, hx), wave, kind)

    module.calls, module.forward = calls, MethodType(forward, module)
    return module


def shrunk(answer, wave, kind):
    def h(values):
        return values * ((wave + 9 * values).cos() / 4 + 0.75)

    def c(values):
        return values * ((wave + 9 * values).sin() / 4 + 0.75)

    if kind == "LSTMCell":
        return h(answer[0]), c(answer[1])
    output, state = answer
    if isinstance(output, nn.utils.rnn.PackedSequence):
        output = type(output)(h(output.data), *output[1:])
    else:
        output = h(output)
    return output, (h(state[0]), c(state[1])) if kind == "LSTM" else h(state)
"""
"""A module of torch's and nothing else, by its type too, whose answers tell how it was driven.

What a call gives is smaller than torch's, unit by unit: by numbers that follow from which call it is, from
all that it reads, from the number itself, and, with `wants_packed`, from whether the input is not packed:
what one step is divided by says nothing of another. So what is made of the answers is right only where each
call was as asked. The last step of an output is still the final state, the range is still that of a state,
and gradients flow. `calls` lists the shape of each input, `[]` for a packed one: for messages, since the
student's code can write there what it likes.
"""


def hand_over(submission: Submission, module: nn.RNNBase | nn.LSTMCell) -> Handle:
    """Return a module like this one on the student's side."""
    kind, size, layers = _made_with(module)
    return submission.given(
        kind, *size, **layers, state=module.state_dict(), dtype=next(module.parameters()).dtype
    )


def hand_over_driven(
    submission: Submission, module: nn.RNNBase | nn.LSTMCell, marks: torch.Tensor, *, wants_packed: bool
) -> Handle:
    """Return such a module on the student's side whose answers tell how it was driven, by `marks` (H)."""
    kind, size, layers = _made_with(module)
    dtype = next(module.parameters()).dtype
    return submission.given(
        "driven",
        kind,
        marks,
        0,
        wants_packed,
        *size,
        **layers,
        source=DRIVEN,
        state=module.state_dict(),
        dtype=dtype,
    )


def driven_here(module: nn.RNNBase | nn.LSTMCell, marks: torch.Tensor, before: int) -> nn.Module:
    """Return the module that `hand_over_driven` makes, on this side, as it is after `before` calls.

    It takes any input for one of the right kind.
    """
    kind, size, layers = _made_with(module)
    made = made_here(DRIVEN, "driven", kind, marks, before, False, *size, **layers)
    made.to(next(module.parameters()).dtype).load_state_dict(module.state_dict())
    return made


def made_here(source: str, name: str, *args: Any, **kwargs: Any) -> Any:
    """Make on this side what a source that is sent to the student's side defines under a name."""
    # Nobody puts anything in the place of torch's own methods here, so they may be asked.
    contents = SimpleNamespace(asks_for_gradients=attrgetter("requires_grad"))
    home: dict[str, Any] = {"torch": torch, "nn": nn, "contents": contents}
    exec(source, home)
    return home[name](*args, **kwargs)


def each_driven(
    task: Handle, given: Handle, module: nn.Module, rounds: Iterable[tuple[Any, ...]]
) -> Iterator[Any]:
    """Yield the answers of a task to arguments, one after another, with the same driven module."""
    for arguments in rounds:
        given.load_state_dict(module.state_dict())  # what writes into the weights is another check's affair
        yield task(given, *arguments)


def expect_driven(
    answers: Iterable[Any],
    wanted: Iterable[Sequence[Any]],
    given: Handle,
    explain: Callable[[list[tuple[int, ...]]], str],
    **form: Any,
) -> None:
    """Expect the answers, one after another, of a driven module that was called as asked.

    More than one, since a call too many at the end of the first shows in the next. `wanted` has for each
    those that are right. Where one is not among them, `explain` says why from what `given.calls` lists of the
    calls made for it. That is the word of the student's process, so no points depend on it.
    """
    for rounds, (answer, right) in enumerate(zip(answers, wanted, strict=True), 1):
        if not any(_is(answer, each, form) for each in right):
            calls = _shapes_of(given.attribute("calls"))
            fail(explain(calls[len(calls) - len(calls) // rounds :]))


def expect_calls(
    spec: FunctionSpec,
    submission: Submission,
    draw: Draw,
    module: nn.RNNBase | nn.LSTMCell,
    rounds: Sequence[tuple[Any, ...]],
    right: Callable[..., Any],
    explain: Callable[[list[tuple[int, ...]]], str],
    *,
    calls: int,
    wants_packed: bool = False,
    taken: Callable[[Any], Any] | None = None,
    **form: Any,
) -> None:
    """Expect a task to call the module that it is given as asked, `calls` times for each of the rounds.

    The rounds are the arguments after the module. `right(module, marks, before, *arguments)` gives what is
    right, or a list of all that is, where the module has been called so often before. `explain` says what is
    wrong with calls whose inputs have these shapes, `""` if nothing is. With `wants_packed` each input must
    be packed, else it may be. `taken` takes from an answer what is compared, and `form` says of that what
    `expect` has to know, where it is not the whole answer.
    """
    numbers = draw.like((draw.sizes.H,), spread=3.0)
    given = hand_over_driven(submission, module, numbers, wants_packed=wants_packed)
    wanted = [right(module, numbers, turn * calls, *arguments) for turn, arguments in enumerate(rounds)]
    answers = each_driven(getattr(submission, spec.task), given, module, rounds)
    expect_driven(
        map(taken, answers) if taken else answers,
        [each if isinstance(each, list) else [each] for each in wanted],
        given,
        lambda shapes: explain(shapes) or elsewhere(next(iter(spec.inputs))),
        **{**spec.form, "sizes": draw.sizes, **form},
    )


def elsewhere(name: str) -> str:
    """The message for answers that are wrong though the calls look as asked."""
    return (
        f"`{name}` was called as it should be, but what you return does not come from these calls. Take "
        "the results, and the state for the next call, from the calls themselves."
    )


def _is(answer: Any, right: Any, form: dict[str, Any]) -> bool:
    try:
        expect(answer, right, **form)
    except CheckFailed:
        return False
    return True


def _shapes_of(calls: Any) -> list[tuple[int, ...]]:
    """The shapes of inputs that the student's process tells of; what has another form is left out."""
    shapes = [each for each in calls if isinstance(each, (list, tuple))] if isinstance(calls, list) else []
    return [tuple(each) for each in shapes if all(type(size) is int for size in each)]


def _made_with(module: nn.RNNBase | nn.LSTMCell) -> tuple[str, tuple[int, int], dict[str, Any]]:
    layers = {"num_layers": module.num_layers, "batch_first": True} if isinstance(module, nn.RNNBase) else {}
    return type(module).__name__, (module.input_size, module.hidden_size), layers
