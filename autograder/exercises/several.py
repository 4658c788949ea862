"""Several calls of one task, asked in one request and judged one by one, and inputs beyond the usual."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import torch

from autograder.checking import Handle, StudentError, asked, case, expect_untouched


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


def far_apart(values: torch.Tensor, dim: int) -> torch.Tensor:
    """The numbers scaled along a dimension: from a millionth at its beginning to a million times at its end.

    What mixes them loses the small ones, and what stops at a limit the large ones.
    """
    factors = torch.logspace(-6, 6, values.shape[dim], dtype=values.dtype)
    return values * factors.reshape([-1 if place == dim else 1 for place in range(values.dim())])
