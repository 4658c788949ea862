"""Several calls of one task, asked in one request and judged one by one, and inputs beyond the usual."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any, TypeVar

import torch
from torch import nn

from autograder.checking import (
    CheckFailed,
    Handle,
    Sizes,
    StudentError,
    asked,
    case,
    expect,
    expect_untouched,
)

Recurrent = TypeVar("Recurrent", bound=nn.RNNBase)


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


@contextmanager
def if_right(
    task: Handle, arguments: tuple[Any, ...], right: Any, *, always: bool = False, **form: Any
) -> Iterator[None]:
    """Let a failure in the block count only where the task's answer for these arguments is right.

    Where it does not, a check of values at such sizes says so, and the same slip shall not cost twice. With
    `always` what fails in the block fails.
    """
    try:
        yield
    except (CheckFailed, StudentError):
        if always:
            raise
        try:
            expect(task(*arguments), right, **form)
        except (CheckFailed, StudentError):
            return
        raise


def far_apart(values: torch.Tensor, dim: int, powers: int = 6) -> torch.Tensor:
    """The numbers scaled along a dimension: from a millionth at its beginning to a million times at its end.

    What mixes them loses the small ones, and what stops at a limit the large ones.
    """
    factors = torch.logspace(-powers, powers, values.shape[dim], dtype=values.dtype)
    return values * factors.reshape([-1 if place == dim else 1 for place in range(values.dim())])


def remembering(network: Recurrent) -> Recurrent:
    """A copy of the network with weights by which a step still shows after more than a hundred others.

    An LSTM's forget gates stay open. The state of an RNN changes its sign at every step, so it neither
    fades nor grows into the ends of tanh.
    """
    network = deepcopy(network)
    with torch.no_grad():
        for name, values in network.named_parameters():
            values.mul_(0.02)
            if isinstance(network, nn.LSTM) and name.startswith("bias_ih"):
                values[network.hidden_size : 2 * network.hidden_size].add_(12.0)
            if isinstance(network, nn.RNN) and name.startswith("weight_hh"):
                values.sub_(torch.eye(network.hidden_size, dtype=values.dtype))
    return network
