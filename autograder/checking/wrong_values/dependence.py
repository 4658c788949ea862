"""Tells what a wrong answer does not depend on, and which sequences it mixes.

The call that was answered wrongly is made again and again, with one of its tensors changed each time. So only
what has been seen is said: nothing of the right answer is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from msgspec.structs import replace

from autograder.checking.expectations.values import WrongValues
from autograder.checking.expectations.wording import listed
from autograder.checking.inputs.dimensions import Dimension, plural
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.remote.connection import Connection
from autograder.checking.tolerance import REPEATED, comparable, identical
from autograder.checking.wrong_values.wrong_call import Budget, WrongCall
from autograder.protocol.messages import Construct, Load
from autograder.protocol.tensors import tensors_in
from autograder.protocol.values import tree_leaves

_MOST_OF_A_STATE = 8
"""Tensors of a module that are changed one by one."""
_MOST_NAMED = 3
_MOST_PARTS = 3
"""Tensors in a list or tuple that is looked at."""


def dependence(
    connection: Connection, call: WrongCall, raised: WrongValues, names: Sequence[str], budget: Budget
) -> str:
    """Say what the answer to a call does not depend on, or that it mixes sequences; `""` if neither.

    `names` are those of the call's arguments. Raises `BudgetSpent` where the calls do not suffice.
    """
    wrong, right = raised.seen, raised.right
    if wrong is None or right is None or not _varies(right) or not torch.isfinite(comparable(wrong)).all():
        return ""
    if not ((wrong != 0) & (wrong != 1)).any():
        return ""  # zeros and ones, as a largest number is marked with: other inputs may give the same ones
    budget.spend()
    seen = call.answer(connection)
    if not tensors_in(seen):
        return ""
    # Without a state, or with one step, the right answer may not depend on every number either.
    changes = _changes(call, names, _whole_numbers if raised.is_special else _whole)
    unused, of = _unused(connection, seen, changes, budget)
    if of > 1 and len(unused) == of and not raised.is_special:
        return (
            "Your answer does not depend on the call's inputs at all: with other numbers it stays the same."
        )
    return _not_used(unused) or _mixed(connection, call, seen, raised, budget)


def _varies(right: torch.Tensor) -> bool:
    """Return whether the right numbers can depend on anything: zeros to start from do not."""
    return right.numel() == 1 or bool((right != right.reshape(-1)[:1]).any())


def _not_used(names: Sequence[str]) -> str:
    """Say of which names an answer is independent."""
    if not names:
        return ""
    more = f" (and {len(names) - _MOST_NAMED} more)" if len(names) > _MOST_NAMED else ""
    told = f"{listed(names[:_MOST_NAMED])}{more}"
    return f"Your answer does not depend on {told}: with other numbers there it stays the same."


Change = Callable[[torch.Tensor], Iterator[torch.Tensor]]
"""Gives tensors of other numbers in place of one."""


def _whole(value: torch.Tensor) -> Iterator[torch.Tensor]:
    yield _other_numbers(value)
    if value.dtype == torch.bool:  # an answer may ask if all are true, or if one is
        yield from (torch.full_like(value, each) for each in (True, False))
    elif not value.is_floating_point():  # an answer may look at the extremes only
        yield from (torch.full_like(value, int(each)) for each in (value.min(), value.max()))


def _whole_numbers(value: torch.Tensor) -> Iterator[torch.Tensor]:
    """Give other numbers for those that are whole: lengths, tokens and masks count in every case."""
    if not value.is_floating_point():
        yield from _whole(value)


def _unused(
    connection: Connection, seen: Any, changes: Iterator[tuple[str, WrongCall]], budget: Budget
) -> tuple[list[str], int]:
    """Return the names whose change leaves the answer as it is, and how many were tried."""
    same: dict[str, bool] = {}
    for name, changed in changes:
        if not same.get(name, True):
            continue
        budget.spend()
        if (answer := changed.answer(connection)) is not None:
            same[name] = _equal_answers(seen, answer)
    return [name for name, is_same in same.items() if is_same], len(same)


def _changes(call: WrongCall, arguments: Sequence[str], change: Change) -> Iterator[tuple[str, WrongCall]]:
    """Give each change of a tensor that the call or one of its modules is given, with the tensor's name."""
    last, given = len(call.messages) - 1, call.call
    for place, value in enumerate(given.args):
        name = arguments[place] if place < len(arguments) else f"args[{place}]"
        for told, changed in _argument_changed(name, value, partial(call.part, place, name), change):
            args = (*given.args[:place], changed, *given.args[place + 1 :])
            yield told, call.changed(last, replace(given, args=args))
    for at, message in enumerate(call.messages[:-1]):
        if isinstance(message, (Construct, Load)) and message.state:
            state = {name: each for name, each in message.state.items() if name not in call.buffers}
            for told, other in _state_changed(state, change):
                yield told, call.changed(at, replace(message, state={**message.state, **other}))


def _argument_changed(
    name: str, value: Any, part_called: Callable[[int], str], change: Change
) -> Iterator[tuple[str, Any]]:
    """Give the changes of an argument: of a tensor, or of each tensor in a short list or tuple."""
    if _can_change(value):
        yield from ((name, changed) for changed in change(value))
    elif isinstance(value, (list, tuple)) and len(value) <= _MOST_PARTS:
        for at, inner in enumerate(value):
            if _can_change(inner):
                for changed in change(inner):
                    yield part_called(at), type(value)((*value[:at], changed, *value[at + 1 :]))


def _state_changed(state: Mapping[str, Any], change: Change) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give the changes of a module's tensors: of each, or, where they are many, of all in each submodule."""
    can = {name: value for name, value in state.items() if _can_change(value)}
    if len(can) <= _MOST_OF_A_STATE:
        for name, value in can.items():
            yield from ((name, {name: changed}) for changed in change(value))
        return
    for owner in dict.fromkeys(name.rpartition(".")[0] for name in can):
        own = {name: value for name, value in can.items() if name.rpartition(".")[0] == owner}
        whole = {name: changed for name, value in own.items() for changed in change(value)}
        if owner and whole.keys() == own.keys():
            yield owner, whole


def _can_change(value: Any) -> bool:
    if not isinstance(value, torch.Tensor) or not value.numel() or value.is_complex():
        return False
    return value.is_floating_point() or value.dtype == torch.bool or bool(value.min() != value.max())


def _other_numbers(value: torch.Tensor) -> torch.Tensor:
    """Return other numbers of the same kind and range."""
    if value.dtype == torch.bool:
        return ~value
    if value.is_floating_point():
        return 0.37 - 0.7 * value
    return value.min() + value.max() - value  # whole numbers may be indices: no other one is known to fit


def _equal_answers(seen: Any, answer: Any) -> bool:
    """Return whether two answers hold the same numbers, to the last digit."""
    old, new = tree_leaves(seen), tree_leaves(answer)
    return len(old) == len(new) and all(map(identical, old, new))


def _mixed(connection: Connection, call: WrongCall, seen: Any, raised: WrongValues, budget: Budget) -> str:
    """Say that a sequence's answer changes with another sequence's input."""
    sizes, dims, wrong = raised.sizes, raised.dims, raised.seen
    if sizes is None or wrong is None:
        return ""
    known = sizes.dimensions
    at = next((at for at, dim in enumerate(dims) if dim in known and known[dim].independent), None)
    if at is None or _is_ambiguous(sizes, dims[at]):
        return ""
    last = len(call.messages) - 1
    (size,) = sizes.shape(dims[at])
    for place in (0, size - 1):
        args = tuple(_other_sequence(size, place, each) for each in call.call.args)
        if _equal_answers(args, call.call.args):
            return ""
        budget.spend()
        changed = call.changed(last, replace(call.call, args=args)).answer(connection)
        for before, after in zip(_answers_like(wrong, seen), _answers_like(wrong, changed), strict=False):
            apart = ~torch.isclose(comparable(before), comparable(after), *REPEATED)
            others = [dim for dim in range(apart.dim()) if dim != at]
            moved = (apart.any(dim=others) if others else apart).tolist()
            moved[place] = False
            if any(moved):
                word = known[dims[at]]
                return (
                    f"Its part for {word.index(moved.index(True))} changes when only the numbers given for "
                    f"{word.index(place)} change: are {_several(word)} mixed somewhere?"
                )
    return ""


def _answers_like(tensor: torch.Tensor, value: Any) -> list[torch.Tensor]:
    """Return the tensors of an answer that have the shape and dtype of one."""
    return [each for each in tensors_in(value) if each.shape == tensor.shape and each.dtype == tensor.dtype]


def _other_sequence(size: int, place: int, leaf: Any) -> Any:
    """Return a tensor with other numbers in one sequence, if its shape tells which dimension they are in.

    Tuples of tensors are read, too, and lists are not: their tensors may be the sequences. Of whole numbers
    only those of two dimensions or more are changed: lengths stay as they are.
    """
    if isinstance(leaf, tuple):
        return tuple(_other_sequence(size, place, each) for each in leaf)
    if not isinstance(leaf, torch.Tensor) or list(leaf.shape).count(size) != 1 or not _can_change(leaf):
        return leaf
    if not leaf.is_floating_point() and leaf.dim() < 2:
        return leaf
    at = list(leaf.shape).index(size)
    changed = leaf.clone()
    changed.select(at, place).copy_(_other_numbers(leaf).select(at, place))
    return changed


def _several(dimension: Dimension) -> str:
    return plural(dimension.one) if dimension.one else f"numbers of different {dimension.name} indices"


def _is_ambiguous(sizes: Sizes, letter: str) -> bool:
    """Return whether another dimension has the size of this one, or this has only one index."""
    (size,) = sizes.shape(letter)
    return size < 2 or list(sizes.by_letter().values()).count(size) > 1
