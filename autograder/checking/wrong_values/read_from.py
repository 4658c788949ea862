"""Tells which part of an argument wrong numbers are made from: of `h_n[0]`, or of `x[:, -1]`.

The call is made again with other numbers in one part at a time. Where the argument was drawn, the whole check
is run: it computes anew what is right for them, so what is said of the right answer has been seen, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from autograder.checking.expectations.comparing import tolerance
from autograder.checking.expectations.values import WrongValues
from autograder.checking.expectations.wording import in_a_row
from autograder.checking.inputs.draw import Draw, Other
from autograder.checking.remote.connection import Connection
from autograder.checking.wrong_values.dependence import other_numbers
from autograder.checking.wrong_values.wrong_call import WrongCall, arguments_of
from autograder.protocol.values import tensors_in

_MOST_RUNS = 30
"""Parts that are changed, one run of the check each."""
_MOST_PLACES = 6
"""Indices of a dimension that are all tried: of more, the first and the last two."""
_MOST_NAMED = 2

WrongWith = Callable[[Other], WrongValues | None]
"""Runs the check with another tensor in place of a drawn one; returns what it finds wrong."""


def elsewhere_read(
    call: WrongCall, raised: WrongValues, draw: Draw, wrong_with: WrongWith, names: Sequence[str]
) -> str:
    """Say on which part of a drawn argument the wrong numbers depend and the right ones do not, if on any.

    `names` are those of the call's arguments. Sequences, which are computed one by one, are not told apart.
    """
    apart, runs = _apart(raised), 0
    if apart is None:
        return ""
    for parts in _dimensions(call, raised, names):
        if not draw.has_drawn(parts[0].tensor):
            continue
        runs += len(parts)
        if runs > _MOST_RUNS:
            return ""
        found = [wrong_with((part.tensor, part.changed())) for part in parts]
        same = [each for each in found if each is not None and _is_same_finding(each, raised)]
        if len(same) < len(parts):
            continue
        pairs = list(zip(parts, same, strict=True))
        yours = {part for part, each in pairs if _differs(each.seen, raised.seen, apart)}
        right = {part for part, each in pairs if _differs(each.right, raised.right, apart)}
        only_yours = [part for part in parts if part in yours - right]
        only_right = [part for part in parts if part in right - yours]
        if only_yours:
            changed = [_changed(each.seen, raised.seen, apart) for part, each in pairs if part in only_yours]
            whose = "Your" if torch.stack(changed).any(0).all() else "Some of your"
            told = f"{whose} wrong numbers change with those in {_listed(only_yours)}"
            if only_right:
                return f"{told}, and the right ones with those in {_listed(only_right)} instead."
            return f"{told}; the right ones in their places do not."
        if only_right:
            return (
                f"The right numbers there change with those in {_listed(only_right)}; your wrong ones do not."
            )
    return ""


def read_alone(
    connection: Connection, call: WrongCall, raised: WrongValues, names: Sequence[str], draw: Draw | None
) -> str:
    """Say on which part of an argument the wrong numbers depend alone, if it is one or two.

    Of arguments that `draw` has drawn nothing is said: what is right with other numbers there can be known.
    """
    apart, answered = _apart(raised), tensors_in(call.answer(connection))
    at = next((at for at, each in enumerate(answered) if _is_equal(each, raised.seen)), None)
    if apart is None or at is None:
        return ""
    confined = _confined_to(apart)  # numbers that are wrong in one place may well be made from that place
    runs = 0
    for parts in _dimensions(call, raised, names):
        (name, tensor), size = (parts[0].name, parts[0].tensor), parts[0].size
        if len(parts) < size or size in confined or not any(each is tensor for each in call.call.args):
            continue
        if draw is not None and draw.has_drawn(tensor):
            continue
        runs += size
        if runs > _MOST_RUNS:
            return ""
        read = []
        for part in parts:
            answers = tensors_in(call.with_others({id(tensor): part.changed()}).answer(connection))
            if len(answers) != len(answered) or answers[at].shape != answered[at].shape:
                return ""
            if _differs(answers[at], answered[at], apart):
                read.append(part)
        if 0 < len(read) < size and len(read) <= _MOST_NAMED:
            return f"Of `{name}` your wrong numbers depend on {_listed(read)} alone."
    return ""


@dataclass(frozen=True, eq=False)
class _Part:
    """One index of one dimension of an argument."""

    name: str
    tensor: torch.Tensor
    at: int
    place: int

    def __str__(self) -> str:
        return f"`{self.name}[{':, ' * self.at}{-1 if self.place == self.size - 1 else self.place}]`"

    @property
    def size(self) -> int:
        """Return the size of the dimension."""
        return self.tensor.shape[self.at]

    def changed(self) -> torch.Tensor:
        """Return the argument with other numbers in this part."""
        changed = self.tensor.clone()
        part = changed.select(self.at, self.place)
        part.copy_(other_numbers(part))
        return changed


def _dimensions(call: WrongCall, raised: WrongValues, names: Sequence[str]) -> Iterator[list[_Part]]:
    """Give the parts of each argument along each dimension but that of the sequences."""
    assert raised.sizes is not None
    known = raised.sizes.dimensions
    independent = {size for letter, size in raised.sizes.by_letter().items() if known[letter].independent}
    for name, tensor in arguments_of(call, names):
        for at, size in enumerate(tensor.shape):
            if tensor.is_floating_point() and size > 1 and size not in independent:
                places = range(size) if size <= _MOST_PLACES else (0, 1, size - 2, size - 1)
                yield [_Part(name, tensor, at, place) for place in places]


def _apart(raised: WrongValues) -> torch.Tensor | None:
    """Return where the numbers are wrong, `None` where nothing can be said of them."""
    seen, right = raised.seen, raised.right
    if seen is None or right is None or raised.sizes is None or seen.is_complex():
        return None
    if not torch.isfinite(seen.double()).all():
        return None
    rtol, atol = tolerance(seen, right)
    return ~torch.isclose(seen.double(), right.double(), rtol, atol)


def _confined_to(apart: torch.Tensor) -> set[int]:
    """Return the sizes of dimensions along which numbers are wrong in some places only."""
    return {
        size
        for at, size in enumerate(apart.shape)
        if not (apart.any(dim=[d for d in range(apart.dim()) if d != at]) if apart.dim() > 1 else apart).all()
    }


def _is_same_finding(one: WrongValues, other: WrongValues) -> bool:
    return (one.result, one.dims, one.sizes) == (other.result, other.dims, other.sizes)


def _is_equal(one: torch.Tensor, other: torch.Tensor | None) -> bool:
    return other is not None and one.shape == other.shape and torch.equal(one, other.to(one.dtype))


def _differs(one: torch.Tensor | None, other: torch.Tensor | None, where: torch.Tensor) -> bool:
    return bool(_changed(one, other, where).any())


def _changed(one: torch.Tensor | None, other: torch.Tensor | None, where: torch.Tensor) -> torch.Tensor:
    """Return which of the numbers at some places are others."""
    if one is None or other is None:
        return torch.zeros(int(where.sum()), dtype=torch.bool)
    return one[where].double() != other[where].double()


def _listed(parts: Sequence[_Part]) -> str:
    more = len(parts) - _MOST_NAMED
    if more <= 0:
        return in_a_row(list(map(str, parts)))
    all_tried = parts[0].size <= _MOST_PLACES
    return in_a_row([*map(str, parts[:_MOST_NAMED]), f"{more} more" if all_tried else "others"])
