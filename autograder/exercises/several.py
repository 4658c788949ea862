"""Several calls of one task, asked in one request and judged one by one, and inputs beyond the usual."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import torch

from autograder.checking import (
    Handle,
    Sizes,
    StudentError,
    asked,
    case,
    expect,
    expect_untouched,
)


def expect_each(
    task: Handle,
    reference: Callable[..., Any],
    calls: Iterable[tuple[str, Sizes, tuple[Any, ...]]],
    **form: Any,
) -> None:
    """Expect each answer to be the reference's for the same arguments.

    `calls` have the words for a call, its sizes and its arguments. Asked together they cost little more than
    one of them, so many sizes can be looked at. `form` is what `expect` takes.
    """
    requests = [(task.request(*arguments), words, sizes, arguments) for words, sizes, arguments in calls]
    for answer, words, sizes, arguments in asked(requests):
        with case(words):
            expect(answer(), reference(*arguments), **form, sizes=sizes)


def expect_each_untouched(
    task: Handle, calls: Iterable[tuple[str, tuple[Any, ...]]], names: tuple[str, ...], **unjudged: Any
) -> None:
    """Expect each call to leave its arguments and torch's settings as they were; asked together, too.

    The first is the usual one. That another comes to its end at all is for other checks to say.
    """
    requests = [(task.run_request(arguments), words, arguments) for words, arguments in calls]
    for number, (call, words, arguments) in enumerate(asked(requests)):
        with suppress(*[StudentError] if number else []), case(words):
            expect_untouched(call(), arguments, names, **unjudged)


def far_apart(values: torch.Tensor, dim: int, powers: int = 6) -> torch.Tensor:
    """The numbers scaled along a dimension: from a millionth at its beginning to a million times at its end.

    What mixes them loses the small ones, and what stops at a limit the large ones.
    """
    factors = torch.logspace(-powers, powers, values.shape[dim], dtype=values.dtype)
    return values * factors.reshape([-1 if place == dim else 1 for place in range(values.dim())])
