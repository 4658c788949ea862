"""Expectations of an answer, and the words that a student reads where they are not met.

Every failure is a `CheckFailed` whose text says what was seen, what was expected and what to look
at next; none contains the expected numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import torch

from autograder.checking.expectations.comparing import TOLERANCE, agree, compare, recognized, tolerance
from autograder.checking.expectations.source import forbidden_uses
from autograder.checking.expectations.wording import in_words, listed, structure
from autograder.checking.explain.evidence import Difference, Evidence
from autograder.checking.explain.failure import CheckFailed
from autograder.checking.explain.heatmap import difference
from autograder.checking.explain.shapes import explain_shape, read_shapes
from autograder.checking.inputs.draw import Sizes
from autograder.checking.remote.errors import StudentError
from autograder.checking.remote.handle import Call
from autograder.checking.remote.submission import Submission
from autograder.protocol.values import map_tree, tree_leaves


class WrongValues(CheckFailed):
    """Numbers of the right shape that are not the right ones, as `expect` finds them."""

    seen: torch.Tensor | None = None
    """The numbers, where `expect` found them."""
    right: torch.Tensor | None = None
    """The right ones."""
    dims: tuple[str, ...] = ()
    """Their dimensions."""
    sizes: Sizes | None = None
    is_explained: bool = False
    """True if the message says what turns them into the right ones."""


def fail(message: str, *, earned: float = 0.0, accused: str = "") -> NoReturn:
    """Fail the check with a message for the student; `earned` is the part of its points given anyway.

    `accused` is the name of what must not be used and is, where the check is about that.
    """
    raise CheckFailed(message, earned, accused=accused)


@contextmanager
def case(words: str, sizes: Sizes | None = None) -> Iterator[None]:
    """Say which input it was when something fails inside, as in `case("with one sequence (B = 1)")`.

    `sizes` are the input's, where they are not the check's.
    """
    told = f"{words[:1].upper()}{words[1:]}"
    try:
        yield
    except CheckFailed as error:
        if told:
            error.args = (f"{told}: {error}",)
            error.is_special = True
        raise
    except StudentError as error:
        error.case, error.sizes = told, sizes
        raise


def expect(
    answer: Any,
    reference: Any,
    *,
    names: str | Sequence[str],
    dims: str | Sequence[str],
    sizes: Sizes,
    values: bool = True,
) -> Any:
    """The answer has the reference's structure, shapes and (unless `values=False`) values; it is returned.

    `names` are the results' names in order, nested results flattened; `dims` their dimensions, as
    `"B T H"`, one for all or one each. dtypes are not compared: that is `expect_dtype`'s rule.
    """
    names = (names,) if isinstance(names, str) else tuple(names)
    every = [dims] * len(names) if isinstance(dims, str) else list(dims)
    _require_sense(names, every, reference, sizes)
    results, wanted = _results(answer, reference, names), tree_leaves(reference)
    for name, dim, result, right in zip(names, every, results, wanted, strict=True):
        if tuple(result.shape) != tuple(right.shape):
            _expect_unswapped(name, names, results, wanted)
            shape = tuple(result.shape)
            evidence = Evidence(*read_shapes(name, shape, dim, sizes))
            raise CheckFailed(explain_shape(name, shape, dim, sizes), evidence=evidence)
    if not values:
        return answer
    # What a coarser one went into is as coarse, whatever its own dtype: that is for `expect_dtype`.
    dtypes = [result.dtype for result in results if result.dtype in TOLERANCE]
    if agree(results, wanted, dtypes=dtypes):
        return answer
    apart = [
        compare(result, right, dim, dtypes=dtypes)
        for dim, result, right in zip(every, results, wanted, strict=True)
    ]
    if any(apart):
        first = next(position for position, difference in enumerate(apart) if difference)
        known = _named_like(results[first], first, dict(zip(names, wanted, strict=True)))
        known = known or recognized(results[first], wanted[first], every[first], sizes, dtypes=dtypes)
        fine = [name for name, difference in zip(names, apart, strict=True) if not difference]
        others = f" {listed(fine)} {'is' if len(fine) == 1 else 'are'} right." if fine else ""
        wrong = WrongValues(
            f"`{names[first]}` has the right shape but not the right values"
            f"{f'. {known}' if known else f': {apart[first]}'}{others}",
            evidence=Evidence(difference=_picture(names[first], results[first], wanted[first], every[first])),
        )
        wrong.seen, wrong.right = results[first].detach(), wanted[first].detach()
        wrong.dims, wrong.sizes = tuple(every[first].split()), sizes
        wrong.is_explained = bool(known)
        raise wrong
    return answer


def expect_shapes(answer: Any, dims: Any, *, names: str | Sequence[str], sizes: Sizes) -> Any:
    """The answer has this structure and these shapes; it is returned, and may be taken apart.

    `dims` has the dimensions of each result where the answer has the result: `("B T H", ("B H", "B H"))`.
    """
    shapes = map_tree(dims, lambda each: torch.zeros(()).expand(sizes.shape(each)))
    return expect(answer, shapes, names=names, dims=tree_leaves(dims), sizes=sizes, values=False)


def parts_of(answer: Any, names: str | Sequence[str]) -> tuple[torch.Tensor, ...]:
    """The answer's tensors, of whatever shapes, one for each name; one name asks for a tensor itself."""
    none = torch.zeros(())
    if isinstance(names, str):
        return tuple(_results(answer, none, (names,)))
    return tuple(_results(answer, tuple(none for _ in names), tuple(names)))


def _picture(name: str, result: torch.Tensor, wanted: torch.Tensor, dims: str) -> Difference | None:
    if result.dtype.is_complex:
        return None
    seen, right = result.detach().to(torch.float64), wanted.detach().to(torch.float64)
    return difference(name, result, wanted, ~torch.isclose(seen, right, *tolerance(result, wanted)), dims)


def expect_dtype(answer: Any, dtype: torch.dtype, *, names: str | Sequence[str]) -> None:
    """Every result has the dtype."""
    names = (names,) if isinstance(names, str) else tuple(names)
    leaves = tree_leaves(answer)
    for name, result in zip(names, leaves, strict=False):
        if not isinstance(result, torch.Tensor):
            fail(f"`{name}` is {in_words(result)}, not a tensor.")
        if result.dtype != dtype:
            fail(
                f"`{name}` is {result.dtype} although everything passed in is {dtype}. Something on the "
                "way was created or converted with a fixed dtype: create new tensors from an existing one "
                "(`new_zeros`, `zeros_like`, or `dtype=x.dtype`)."
            )
    if len(leaves) != len(names):
        fail(f"Expected {listed(names)}; you returned {in_words(answer)}.")


def carried(returned: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """The state for a further call: what was returned, or the right one where it is of another dtype.

    That is another check's rule, and its rounding would be told again as wrong values.
    """
    pairs = zip(returned, wanted, strict=True)
    return tuple(part if part.dtype == right.dtype else right for part, right in pairs)


def expect_no_kernel(call: Call, pattern: str, say: str) -> None:
    """None of torch's kernels whose name matches did the work."""
    found = [name for name in call.kernels if re.search(pattern, name)]
    if found:
        fail(f"{say} The call ran `{found[0]}`.", accused=found[0])


def expect_no_mention(submission: Submission, task: str, pattern: str, say: str) -> None:
    """The task's source, read on the trusted side, does not call what `pattern` forbids."""
    uses = forbidden_uses(submission.sources, task, pattern)
    if uses:
        cell, line, used = uses[0]
        where = "your cell" if cell == task else f"the cell `{cell}`, which your answer uses,"
        fail(f"{say} Line {line} of {where} uses `{used}`.", accused=used)


def expect_not_shared(before: torch.Tensor, after: torch.Tensor, name: str) -> None:
    """A copy stayed as it was although the original was changed."""
    if not torch.equal(before, after):
        fail(
            f"`{name}` changed when the original was changed afterwards: the two share memory. Copy the "
            "numbers (`copy_`, `clone`), do not assign the tensor itself."
        )


def _require_sense(names: Sequence[str], dims: Sequence[str], reference: Any, sizes: Sizes) -> None:
    """Refuse what a check asks for if it makes no sense, with right answers, too: `ValueError`."""
    parts = len(tree_leaves(reference))
    if not len(names) == len(dims) == parts:
        raise ValueError(f"There are {parts} results, and {len(names)} names and {len(dims)} dims for them")
    for dim in dims:
        sizes.shape(dim)


def _results(
    answer: Any, reference: Any, names: tuple[str, ...], *, nested: bool = False
) -> list[torch.Tensor]:
    """The answer's tensors in the reference's structure, or a failure that says what was returned."""
    said = f"{listed(names)} {'is' if len(names) == 1 else 'are'}" if nested else "you returned"
    wanted = structure(reference, list(names)) if not isinstance(reference, torch.Tensor) else listed(names)
    if answer is None and not nested:
        fail(f"Expected {wanted}; you returned nothing (`None`). Is a `return` missing?")
    if isinstance(reference, torch.Tensor):
        if isinstance(answer, (list, tuple)) and len(answer) == 1:
            fail(
                f"Expected {wanted} itself; {said} {'it ' if not nested else ''}inside a "
                f"{type(answer).__name__} of one."
            )
        if not isinstance(answer, torch.Tensor):
            fail(f"Expected {wanted}, a tensor; {said} {in_words(answer)}.")
        return [answer]
    if not isinstance(answer, (list, tuple)) or len(answer) != len(reference):
        fail(f"Expected {wanted}; {said} {in_words(answer)}.")
    rest = list(names)
    flat: list[torch.Tensor] = []
    for part, own in zip(answer, reference, strict=True):
        flat += _results(part, own, tuple(rest.pop(0) for _ in tree_leaves(own)), nested=True)
    return flat


def _named_like(result: torch.Tensor, position: int, wanted: Mapping[str, torch.Tensor]) -> str:
    """A hint where a result holds what another one should hold."""
    for place, (name, other) in enumerate(wanted.items()):
        if place != position and other.shape == result.shape and not compare(result, other):
            return f"They are the values that `{name}` should have: is something in another order?"
    return ""


def _expect_unswapped(
    name: str, names: Sequence[str], results: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor]
) -> None:
    """Fail where the result of this name and another one have each other's shape."""
    here = names.index(name)
    for other, result, right in zip(names, results, wanted, strict=True):
        if result.shape == wanted[here].shape and results[here].shape == right.shape:
            fail(f"`{name}` and `{other}` have changed places: each has the shape of the other.")
