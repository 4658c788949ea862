"""Tells what change of a call's arguments would make a wrong answer right: a transpose, or two exchanged.

The call is made again with the change, and its answer compared with the right one of the call as it was.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import torch

from autograder.checking.expectations.values import WrongValues
from autograder.checking.expectations.wording import listed
from autograder.checking.remote.connection import Connection
from autograder.checking.wrong_values.dependence import near, varies
from autograder.checking.wrong_values.wrong_call import WrongCall, tensors_of
from autograder.protocol.values import tensors_in

_MOST_TRIED = 30
"""Changes, one call each."""
_MOST_NAMED = 4
"""Matrices that are named one by one."""

Changed = Mapping[int, torch.Tensor]
"""Other tensors, by the identity of those that they replace."""


def made_right(connection: Connection, call: WrongCall, raised: WrongValues, names: Sequence[str]) -> str:
    """Return a sentence about the one change that makes the answer right; `""` unless there is just one.

    `names` are those of the call's arguments.
    """
    right = raised.right
    if right is None or not right.is_floating_point() or not varies(right):
        return ""
    given = list(tensors_of(call, names))
    found: list[str] = []
    for told, changed in itertools.islice(_changes(given), _MOST_TRIED):
        answer = call.with_others(changed).answer(connection)
        made = tensors_in(answer)[call.place : call.place + 1]
        if any(each.shape == right.shape and near(each, right) for each in made):
            found.append(told)
    return found[0] if len(found) == 1 else ""


def _changes(given: Sequence[tuple[str, torch.Tensor]]) -> Iterator[tuple[str, Changed]]:
    square = [(name, each) for name, each in given if _is_square(each)]
    for group in _groups(square):
        names = [name for name, _ in group]
        told = listed(names) if len(names) <= _MOST_NAMED else f"{listed(names[:2])} and the like"
        sentence = f"If you transpose {told}, it is right: is a transpose missing, or one too many?"
        yield sentence, {id(each): each.T for _, each in group}
    for (one, first), (other, second) in itertools.combinations(given, 2):
        if first.shape == second.shape and first.is_floating_point() and not torch.equal(first, second):
            sentence = f"If you swap `{one}` and `{other}`, it is right."
            yield sentence, {id(first): second, id(second): first}


def _groups(square: Sequence[tuple[str, torch.Tensor]]) -> list[list[tuple[str, torch.Tensor]]]:
    """Return the square matrices to be transposed together: each, those of one kind, and all."""
    kinds: dict[str, list[tuple[str, torch.Tensor]]] = {}
    for each in square:
        kinds.setdefault(_kind(each), []).append(each)
    several = [group for group in kinds.values() if len(group) > 1]
    return [*([each] for each in square), *several, *([list(square)] if len(kinds) > 1 else [])]


def _kind(named: tuple[str, torch.Tensor]) -> str:
    """Return a parameter's name without the numbers of layers in it."""
    return "".join(character for character in named[0] if not character.isdecimal())


def _is_square(value: torch.Tensor) -> bool:
    return value.is_floating_point() and value.dim() == 2 and value.shape[0] == value.shape[1] > 1
