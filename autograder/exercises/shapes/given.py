"""Messages on a dict of shapes that is not right, and on a part of a tensor that is another one."""

from collections.abc import Callable
from typing import Any

import torch

from autograder.checking import Case, Handle, Opaque, Sizes, fail, spell


def spoken(answer: Any) -> str:
    """The kind of thing that was returned, in words."""
    if answer is None:
        return "nothing (`None`)"
    if isinstance(answer, Opaque):
        return answer.what
    if isinstance(answer, Handle):
        return f"an object of type {answer.type}"
    name = type(answer).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def expect_shape_dict(answer: Any, names: tuple[str, ...]) -> None:
    """Expect a dict of shapes that has the names: each a tuple or list of whole numbers."""
    if not isinstance(answer, dict):
        fail(f"Expected a dict with a shape under each name; you returned {spoken(answer)}.")
    missing = [name for name in names if name not in answer]
    if missing:
        keys = ", ".join(repr(key)[:30] for key in list(answer)[:6]) or "none"
        fail(f"The dict has no key `{missing[0]!r}`. Its keys are: {keys}.")
    for name, shape in answer.items():
        if not isinstance(shape, (tuple, list)):
            fail(
                f"The key `{name!r}` holds {spoken(shape)}. A shape is a tuple, or a list, of whole numbers."
            )
        if not all(type(size) is int for size in shape):
            fail(f"The shape under `{name!r}` holds something that is not a whole number (`int`).")


def expect_shapes(answer: Any, wanted: dict[str, tuple[int, ...]], sizes: Sizes) -> None:
    """Expect the wanted shapes in the dict. A shape is the answer here, so no message tells it."""
    expect_shape_dict(answer, tuple(wanted))
    for name, right in wanted.items():
        seen = tuple(answer[name])
        if seen == right:
            continue
        told = _in_words(seen, sizes)
        said = f"`{name}` is {told} = {seen}" if any(map(str.isalpha, told)) else f"`{name}` is {seen}"
        if len(seen) != len(right):
            fail(f"{said}. It has {len(seen)} dimensions; torch's has {len(right)}.")
        if sorted(seen) == sorted(right):
            fail(f"{said}. The numbers are right, but their order is not.")
        where = [("first", "second", "third")[at] for at in range(3) if seen[at] != right[at]]
        sides = " and ".join(where) if len(where) < 3 else "first, second and third"
        number = "number is" if len(where) == 1 else "numbers are"
        fail(f"{said}. The {sides} {number} not what a batch-first network gives. Which size belongs there?")
    extra = [key for key in answer if key not in wanted]
    if extra:
        fail(
            f"There is a shape under `{extra[0]!r}`, but this network returns no such tensor: leave the "
            "key out."
        )


def _in_words(shape: tuple[int, ...], sizes: Sizes) -> str:
    """The shape by the names of its sizes, twice or four times one only where networks have that."""
    known: dict[int, list[str]] = {}
    for dim in ("B", "T", "D", "H", "L", "2H", "4H", "2L"):
        known.setdefault(sizes.shape(dim)[0], []).append(spell(dim))
    for other in (sizes.L + 1, sizes.L - 1, sizes.L * sizes.H, 3 * sizes.H, sizes.D + sizes.H):
        known.setdefault(other, []).append(str(other))  # what mistakes give; it may equal one of those
    words = [known[size][0] if len(known.get(size, ())) == 1 else str(size) for size in shape]
    return f"({', '.join(words)})"


def expect_no_other_part(answer: Any, tensor: torch.Tensor, dim: int, wanted: int, word: str) -> None:
    """Expect the answer not to be another of the tensor's parts along `dim`; if it is, say which."""
    for number, part in enumerate(tensor.unbind(dim)):
        if number != wanted and isinstance(answer, torch.Tensor) and torch.equal(answer, part):
            fail(
                f"You returned the values of {word} {number}. What does your index count, and where does "
                "it start?"
            )


def each_number(name: str, letter: str, words: str, **sizes: int) -> Callable[[Sizes], list[Case]]:
    """Return cases for each number that the input `name` can be, below the size of a dimension.

    In its words `{number}` stands for the number, as in "for layer {number} of {L}".
    """

    def case(number: int) -> Case:
        return Case(words.replace("{number}", str(number)), sizes, given={name: lambda _: number})

    return lambda own: [case(number) for number in range(getattr(own.but(**sizes), letter))]
