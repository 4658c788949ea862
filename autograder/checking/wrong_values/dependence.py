"""Tells what a wrong answer does not depend on, and which sequences it mixes.

The call that was answered wrongly is made again and again, with one of its tensors changed each time. So only
what has been seen is said: nothing of the right answer is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, permutations
from typing import Any

import torch
from msgspec.structs import replace

from autograder.checking.expectations.comparing import tolerance
from autograder.checking.expectations.values import WrongValues
from autograder.checking.expectations.wording import listed
from autograder.checking.inputs.dimensions import Dimension
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.remote.connection import Connection
from autograder.checking.wrong_values.wrong_call import WrongCall
from autograder.protocol.messages import Construct, Load
from autograder.protocol.values import tensors_in, tree_leaves

_MOST_TRIED = 24
"""Tensors that are changed, one call each."""
_MOST_OF_A_STATE = 16
"""Tensors of a module that are changed one by one."""
_MOST_NAMED = 3
_MOST_PARTS = 3
"""Tensors in a list or tuple that is looked at."""
_MOST_BLOCKS = 4
"""Blocks of rows that a tensor is taken apart into; four are tried in every order."""


def dependence(connection: Connection, call: WrongCall, raised: WrongValues, names: Sequence[str]) -> str:
    """Say what the answer to a call does not depend on, or that it mixes sequences; `""` if neither.

    `names` are those of the call's arguments.
    """
    wrong, right = raised.seen, raised.right
    if wrong is None or right is None or not varies(right) or not torch.isfinite(_comparable(wrong)).all():
        return ""
    seen = call.answer(connection)
    if not tensors_in(seen):
        return ""
    if not ((wrong != 0) & (wrong != 1)).any():
        return ""  # zeros and ones, as a largest number is marked with: other inputs may give the same ones
    tried = _Tried(connection, call, seen, names)
    # Without a state, or with one step, the right answer may not depend on every number either.
    unused, of = tried.unused(_whole_numbers if raised.is_special else _whole)
    if of > 1 and len(unused) == of and not raised.is_special:
        return (
            "Your answer does not depend on the call's inputs at all: with other numbers it stays the same."
        )
    if not unused and raised.sizes is not None and not raised.is_special:
        unused, _ = tried.unused(partial(_by_blocks, raised.sizes))
    return _not_used(unused) or _mixed(connection, call, seen, raised) or tried.in_another_order(raised)


def varies(right: torch.Tensor) -> bool:
    """Return whether the right numbers can depend on anything: zeros to start from do not."""
    return right.numel() == 1 or bool((right != right.reshape(-1)[:1]).any())


def _not_used(unused: Sequence[tuple[str, str]]) -> str:
    """Say of which names, and of which part of each, an answer is independent."""
    if not unused:
        return ""
    part = unused[0][0]
    names = [name for its, name in unused if its == part]
    more = f" (and {len(names) - _MOST_NAMED} more)" if len(names) > _MOST_NAMED else ""
    told = f"{part}{listed(names[:_MOST_NAMED])}{more}"
    return f"Your answer does not depend on {told}: with other numbers there it stays the same."


Change = Callable[[torch.Tensor], Iterator[tuple[str, torch.Tensor]]]
"""Gives the parts of a tensor in words that end before its name, each with the tensor that has other numbers
there."""


def _blocks_in_order(value: Any, rows: int, order: Sequence[int]) -> Any:
    """Return a tensor that consists of so many blocks with them in another order, others as they are."""
    if not isinstance(value, torch.Tensor) or not value.dim() or len(value) != rows * len(order):
        return value
    blocks = value.split(rows)
    return torch.cat([blocks[at] for at in order])


def near(answer: torch.Tensor, right: torch.Tensor) -> bool:
    """Return whether an answer is the right one to tolerance."""
    if answer.dtype.is_complex or right.dtype.is_complex:
        return False
    seen, wanted = answer.detach().to(torch.float64), right.detach().to(torch.float64)
    return torch.allclose(seen, wanted, *tolerance(answer, right))


def _whole(value: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    yield "", other_numbers(value)
    if value.dtype == torch.bool:  # an answer may ask if all are true, or if one is
        yield from (("", torch.full_like(value, each)) for each in (True, False))
    elif not value.is_floating_point():  # an answer may look at the extremes only
        yield from (("", torch.full_like(value, int(each))) for each in (value.min(), value.max()))


def _whole_numbers(value: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    """Give other numbers for those that are whole: lengths, tokens and masks count in every case."""
    if not value.is_floating_point():
        yield from _whole(value)


def _by_blocks(sizes: Sizes, value: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    """Give a tensor of a few equal blocks of rows with other numbers in each of them."""
    rows = _rows_of_a_block(sizes, len(value)) if value.dim() and value.is_floating_point() else 0
    for first in range(0, len(value), rows) if rows else ():
        changed = value.clone()
        inside = slice(first, first + rows)
        changed[inside] = other_numbers(value[inside])
        told = f"block {first // rows} (rows {first} to {first + rows - 1}) of "
        yield told, changed


def _rows_of_a_block(sizes: Sizes, rows: int) -> int:
    """Return the size of the only dimension that so many rows are a multiple of, 0 if there is none."""
    found = {
        size
        for letter, size in sizes.by_letter().items()
        if sizes.dimensions[letter].multiples and not sizes.dimensions[letter].incidental
        if size > 1 and not rows % size and 2 <= rows // size <= _MOST_BLOCKS
    }
    return found.pop() if len(found) == 1 else 0


@dataclass(frozen=True)
class _Tried:
    """A call that is made again with other numbers, and its answer with those that it had."""

    connection: Connection
    call: WrongCall
    seen: Any
    arguments: Sequence[str]
    """The names of its arguments."""

    def unused(self, change: Change) -> tuple[list[tuple[str, str]], int]:
        """Return the parts and names whose change leaves the answer as it is, and how many were tried."""
        same: dict[tuple[str, str], bool] = {}
        for told, changed in islice(self._changes(change), _MOST_TRIED):
            if same.get(told, True) and (answer := changed.answer(self.connection)) is not None:
                same[told] = equal_answers(self.seen, answer)
        return [told for told, is_same in same.items() if is_same], len(same)

    def in_another_order(self, raised: WrongValues) -> str:
        """Say in which order of the blocks of what the call is given the result would be the right one."""
        if raised.sizes is None or raised.right is None:
            return ""
        given, last = self.call.call.args, len(self.call.messages) - 1
        rows = {
            name: _rows_of_a_block(raised.sizes, len(value))
            for name, value in zip(self.arguments, given, strict=False)
            if isinstance(value, torch.Tensor) and value.dim() and value.is_floating_point()
        }
        cut = {name: each for name, each in rows.items() if each}
        if len({*cut.values()}) != 1:
            return ""
        (size, *_) = cut.values()
        found = []
        for order in permutations(range(_MOST_BLOCKS)):
            args = tuple(_blocks_in_order(value, size, order) for value in given)
            answer = self.call.changed(last, replace(self.call.call, args=args)).answer(self.connection)
            if any(near(each, raised.right) for each in answers_like(raised.right, answer)):
                found.append(order)
        if len(found) != 1 or found[0] == tuple(range(_MOST_BLOCKS)):
            return ""  # a result that is made from some of the blocks tells nothing of the others
        of = f"of rows of {listed([*cut])}"
        moved = [f"{block}" for at, block in enumerate(found[0]) if at != block]
        if len(moved) == 2:
            return f"If you swap blocks {' and '.join(sorted(moved))} {of}, it is right."
        return f"If you take the blocks {of} in the order {', '.join(map(str, found[0]))}, it is right."

    def _changes(self, change: Change) -> Iterator[tuple[tuple[str, str], WrongCall]]:
        """Give each change of a tensor that the call or one of its modules is given."""
        last = len(self.call.messages) - 1
        given = self.call.call
        for place, value in enumerate(given.args):
            name = self.arguments[place] if place < len(self.arguments) else f"args[{place}]"
            for told, changed in _argument_changed(name, value, partial(self.call.part, place, name), change):
                args = (*given.args[:place], changed, *given.args[place + 1 :])
                yield told, self.call.changed(last, replace(given, args=args))
        for at, message in enumerate(self.call.messages[:-1]):
            if not isinstance(message, (Construct, Load)) or not message.state:
                continue
            for told, changed in _state_changed(message.state, change):
                yield told, self.call.changed(at, replace(message, state={**message.state, **changed}))


def _argument_changed(
    name: str, value: Any, part_called: Callable[[int], str], change: Change
) -> Iterator[tuple[tuple[str, str], Any]]:
    """Give the changes of an argument: of a tensor, or of each tensor in a short list or tuple."""
    if _can_change(value):
        yield from (((part, name), changed) for part, changed in change(value))
    elif isinstance(value, (list, tuple)) and len(value) <= _MOST_PARTS:
        for at, inner in enumerate(value):
            if _can_change(inner):
                for part, changed in change(inner):
                    yield (part, part_called(at)), type(value)((*value[:at], changed, *value[at + 1 :]))


def _state_changed(
    state: Mapping[str, Any], change: Change
) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """Give the changes of a module's tensors: of each, or, where they are many, of all in each submodule."""
    can = {name: value for name, value in state.items() if _can_change(value)}
    if len(can) <= _MOST_OF_A_STATE:
        for name, value in can.items():
            yield from (((part, name), {name: changed}) for part, changed in change(value))
        return
    owners = dict.fromkeys(name.rpartition(".")[0] for name in can)
    for owner in owners:
        own = {name: value for name, value in can.items() if name.rpartition(".")[0] == owner}
        whole = {name: changed for name, value in own.items() for part, changed in change(value) if not part}
        if owner and whole.keys() == own.keys():
            yield ("", owner), whole


def _can_change(value: Any) -> bool:
    if not isinstance(value, torch.Tensor) or not value.numel() or value.is_complex():
        return False
    return value.is_floating_point() or value.dtype == torch.bool or bool(value.min() != value.max())


def other_numbers(value: torch.Tensor) -> torch.Tensor:
    """Return other numbers of the same kind and range."""
    if value.dtype == torch.bool:
        return ~value
    if value.is_floating_point():
        return 0.37 - 0.7 * value
    return value.min() + value.max() - value  # whole numbers may be indices: no other one is known to fit


def equal_answers(seen: Any, answer: Any) -> bool:
    """Return whether two answers hold the same numbers, to the last digit."""
    old, new = tree_leaves(seen), tree_leaves(answer)
    return len(old) == len(new) and all(map(_alike, old, new))


def _alike(old: Any, new: Any) -> bool:
    if not isinstance(old, torch.Tensor) or not isinstance(new, torch.Tensor):
        return type(old) is type(new) and bool(old == new)
    if old.shape != new.shape or old.dtype != new.dtype:
        return False
    return torch.allclose(_comparable(old), _comparable(new), rtol=0.0, atol=0.0, equal_nan=True)


def _comparable(value: torch.Tensor) -> torch.Tensor:
    """Return numbers that torch can compare: it cannot do so in every dtype of eight bits."""
    return value.detach().to(torch.float64) if value.is_floating_point() else value


def _mixed(connection: Connection, call: WrongCall, seen: Any, raised: WrongValues) -> str:
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
        if equal_answers(args, call.call.args):
            return ""
        other = call.changed(last, replace(call.call, args=args))
        changed = other.answer(connection)
        if not equal_answers(seen, call.answer(connection)) or not equal_answers(
            changed, other.answer(connection)
        ):
            return ""  # what is never filled, or drawn, changes by itself
        for before, after in zip(answers_like(wrong, seen), answers_like(wrong, changed), strict=False):
            apart = ~torch.isclose(_comparable(before), _comparable(after), rtol=1e-9, atol=1e-12)
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


def answers_like(tensor: torch.Tensor, value: Any) -> list[torch.Tensor]:
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
    changed.select(at, place).copy_(other_numbers(leaf).select(at, place))
    return changed


def _several(dimension: Dimension) -> str:
    return f"{dimension.one}s" if dimension.one else f"numbers of different {dimension.name} indices"


def _is_ambiguous(sizes: Sizes, letter: str) -> bool:
    """Return whether another dimension has the size of this one, or this has only one index."""
    (size,) = sizes.shape(letter)
    return size < 2 or list(sizes.by_letter().values()).count(size) > 1
