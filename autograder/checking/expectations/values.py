"""Expectations of an answer, and the words that a student reads where they are not met.

Every failure is a `CheckFailed` whose text says what was seen, what was expected and what to look
at next; none contains the expected numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import torch

from autograder.checking.expectations.comparing import compare, counted, recognized
from autograder.checking.expectations.wording import in_words, listed, structure
from autograder.checking.explain.evidence import Difference, Evidence
from autograder.checking.explain.failure import CheckFailed
from autograder.checking.explain.heatmap import difference
from autograder.checking.explain.location import located
from autograder.checking.explain.shapes import Elsewhere, explain_shape, read_shapes
from autograder.checking.inputs.dimensions import Dimensions
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.recognition.wrong import FEWEST
from autograder.checking.remote.errors import StudentError
from autograder.checking.tolerance import TOLERANCE, agree, are_rounded, tolerance
from autograder.protocol.values import map_tree, tree_leaves


class WrongValues(CheckFailed):
    """Numbers of the right shape that are not the right ones, as `expect` finds them."""

    result: str = ""
    """The name of the result that they are."""
    seen: torch.Tensor | None = None
    """The numbers, where `expect` found them."""
    right: torch.Tensor | None = None
    """The right ones."""
    dims: tuple[str, ...] = ()
    """Their dimensions."""
    sizes: Sizes | None = None
    is_explained: bool = False
    """True if the message says what turns them into the right ones."""


class WrongShape(CheckFailed):
    """A result of another shape than the right one, as `expect` finds it."""

    def __init__(self, name: str, seen: torch.Tensor, dims: str, sizes: Sizes) -> None:
        shape = tuple(seen.shape)
        self.name, self.seen, self.shape, self.dims, self.sizes = name, seen, shape, dims, sizes
        self.told = explain_shape(name, shape, dims, sizes)
        super().__init__(self.told, evidence=Evidence(*read_shapes(name, shape, dims, sizes)))

    def borne_out_by(self, other: WrongShape) -> tuple[str, Evidence]:
        """Return the message and the evidence, with only what another's shape, at other sizes, bears out."""
        elsewhere = Elsewhere(other.shape, other.sizes)
        about = (self.name, self.shape, self.dims, self.sizes, elsewhere)
        return str(self).replace(self.told, explain_shape(*about)), Evidence(*read_shapes(*about))


def fail(message: str, *, earned: float = 0.0, accused: str = "") -> NoReturn:
    """Fail the check with a message for the student.

    `message` says what was seen, what was expected and what to look at next. `earned` is the part of the
    check's points that is given anyway, from 0 to below 1; `accused` is the name of what must not be used and
    is, where the check is about that. Raises `CheckFailed`, always, and `ValueError` for another `earned`.

        if tokens.dtype != torch.int64:
            fail(f"The tokens are {tokens.dtype}; expected torch.int64, the dtype of token ids.", earned=0.5)
    """
    raise CheckFailed(message, earned, accused=accused)


@contextmanager
def case(words: str, sizes: Sizes | None = None) -> Iterator[None]:
    """Say which input it was when something fails in the block.

    `words` come before the message, with a capital letter: "With one image (N = 1): …". `sizes` are the
    input's, where they are not the check's. A `CheckFailed` or `StudentError` that is raised in the block
    goes on with them; nothing else is raised.

        with case("with one image (N = 1)"):
            expect(submission.blur(x), right, names="y", dims="N C H W", sizes=sizes.but(N=1))
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
    made_from: Mapping[str, Sequence[str]] | None = None,
) -> Any:
    """Expect an answer to have the reference's structure, shapes and values, and return it.

    Both are a tensor, or a tuple or list of these, nested or not. `names` are the results' names in order,
    nested results flattened; `dims` their dimensions, as `"B T H"`, one for all or one each, and `sizes` the
    sizes of these: by them a message names a wrong shape. Values are compared to the tolerance of `compare`,
    with `values=False` not at all; dtypes never are: that is `expect_dtype`'s rule. `made_from` says of a
    result from which others it is made, by their names: where both are wrong the message is about those.
    Raises `CheckFailed` where the answer is not so, `ValueError` where there are not as many names or dims as
    results, or an unknown letter or name.

        expect(submission.gru_cell(x, h), step(x, h), names="h_next", dims="B H", sizes=sizes)

        answer = submission.attend(query, keys)  # (context, weights)
        expect(answer, right, names=("context", "weights"), dims=("B H", "B T"), sizes=sizes)
    """
    names = (names,) if isinstance(names, str) else tuple(names)
    every = [dims] * len(names) if isinstance(dims, str) else list(dims)
    _require_sense(names, every, reference, sizes, made_from or {})
    results, wanted = _results(answer, reference, names), tree_leaves(reference)
    for name, dim, result, right in zip(names, every, results, wanted, strict=True):
        if tuple(result.shape) != tuple(right.shape):
            _expect_unswapped(name, names, results, wanted)
            raise WrongShape(name, result, dim, sizes)
    # What a coarser one went into is as coarse, whatever its own dtype: that is for `expect_dtype`.
    dtypes = [result.dtype for result in results if result.dtype in TOLERANCE]
    if not values or agree(results, wanted, dtypes=dtypes):
        return answer
    apart = [
        compare(result, right, dim, dtypes=dtypes, dimensions=sizes.dimensions)
        for dim, result, right in zip(every, results, wanted, strict=True)
    ]
    if any(apart):
        raise _wrong_values(names, apart, results, wanted, every, sizes, dtypes, made_from or {})
    return answer


def _wrong_values(
    names: tuple[str, ...],
    apart: Sequence[str],
    results: Sequence[torch.Tensor],
    wanted: Sequence[torch.Tensor],
    dims: Sequence[str],
    sizes: Sizes,
    dtypes: Sequence[torch.dtype],
    made_from: Mapping[str, Sequence[str]],
) -> WrongValues:
    """Return the failure of results that are not all right; `apart` says how each differs, or `""`."""

    def known_of(name: str) -> str:
        at = names.index(name)
        alike = _named_like(at, names, results, wanted, dims[at], sizes.dimensions)
        return alike or recognized(results[at], wanted[at], dims[at], sizes, dtypes=dtypes)

    cause, consequence = next(name for name, told in zip(names, apart, strict=True) if told), ""
    known = known_of(cause)
    if made_from and not known:
        begins = {
            name: _begins(result, right, dim, sizes, dtypes)
            for name, told, dim, result, right in zip(names, apart, dims, results, wanted, strict=True)
            if told
        }
        cause, consequence = _cause(begins, made_from)
        known = known_of(cause) if consequence else ""
    others = ""
    if consequence:
        others = f" Start with `{cause}`: `{consequence}` is computed from it, and wrong as well."
    if fine := [name for name, told in zip(names, apart, strict=True) if not told]:
        others += f" {listed(fine)} {'is' if len(fine) == 1 else 'are'} right."
    at = names.index(cause)
    seen, right, dim = results[at].detach(), wanted[at].detach(), dims[at]
    wrong = WrongValues(
        f"`{cause}` has the right shape but not the right values"
        f"{f'. {known}' if known else f': {apart[at]}'}{others}",
        evidence=Evidence(difference=_picture(cause, seen, right, dim, sizes)),
    )
    wrong.result, wrong.seen, wrong.right = cause, seen, right
    wrong.dims, wrong.sizes = tuple(dim.split()), sizes
    wrong.is_explained = bool(known) or are_rounded(seen, right)
    return wrong


def expect_shapes(answer: Any, dims: Any, *, names: str | Sequence[str], sizes: Sizes) -> Any:
    """Expect an answer of this structure and these shapes, and return it, to be taken apart.

    `dims` has the dimensions of each result where the answer has the result: `("B T H", ("B H", "B H"))`.
    `names` are the results' names in order, nested results flattened. Raises `CheckFailed` where the answer
    is not so, `ValueError` as `expect` does.

        output, h_n = expect_shapes(model(x), ("B T H", "L B H"), names=("output", "h_n"), sizes=sizes)
    """
    shapes = map_tree(dims, lambda each: torch.zeros(()).expand(sizes.shape(each)))
    return expect(answer, shapes, names=names, dims=tree_leaves(dims), sizes=sizes, values=False)


def parts_of(answer: Any, names: str | Sequence[str]) -> tuple[torch.Tensor, ...]:
    """Return the tensors of an answer, of whatever shapes: one for each name, in a tuple.

    One name, written as a text, asks for a tensor itself; several for a tuple or list of as many. Raises
    `CheckFailed`, which says what was returned, for anything else.

        (tokens,) = parts_of(submission.generate(model, prompt), "tokens")
        first, second = parts_of(submission.pair(x), ("first", "second"))
    """
    none = torch.zeros(())
    if isinstance(names, str):
        return tuple(_results(answer, none, (names,)))
    return tuple(_results(answer, tuple(none for _ in names), tuple(names)))


def _picture(
    name: str, result: torch.Tensor, wanted: torch.Tensor, dims: str, sizes: Sizes
) -> Difference | None:
    apart = _apart(result, wanted)
    return None if apart is None else difference(name, result, wanted, apart, dims, sizes)


def _apart(result: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor | None:
    """Return where numbers are not the right ones to tolerance, `None` of complex ones."""
    if result.dtype.is_complex:
        return None
    seen, right = result.detach().to(torch.float64), wanted.detach().to(torch.float64)
    return ~torch.isclose(seen, right, *tolerance(result, wanted))


def carried(returned: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Return the state for a further call: the one returned, or the right one where it is of another dtype.

    That is another check's rule, and its rounding would be told again as wrong values. Both are tensors in
    the same order; raises `ValueError` unless they are as many.

        output, *state = expect(submission.run(x, h), right, names=names, dims=dims, sizes=sizes)
        further = submission.run(later, *carried(state, right[1:]))
    """
    pairs = zip(returned, wanted, strict=True)
    return tuple(part if part.dtype == right.dtype else right for part, right in pairs)


def _begins(
    result: torch.Tensor, right: torch.Tensor, dims: str, sizes: Sizes, dtypes: Sequence[torch.dtype]
) -> int:
    """Return the first index of its ordered dimension at which a result is wrong, 0 where it has none."""
    letters = dims.split()
    known = sizes.dimensions
    at = next((at for at, dim in enumerate(letters) if dim in known and known[dim].ordered), None)
    if at is None:
        return 0
    pairs = zip(result.unbind(at), right.unbind(at), strict=True)
    return next((step for step, pair in enumerate(pairs) if compare(*pair, dtypes=dtypes)), 0)


def _cause(begins: Mapping[str, int], made_from: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """Return the wrong result to look at first, and the wrong one before it that is made from it, or `""`.

    `begins` are the wrong results in order, with the index from which on each is wrong. One that is wrong
    only later than what is made from it is no cause.
    """
    (first, *_), seen = begins, set[str]()
    while first not in seen:
        seen.add(first)
        causes = [each for each in made_from.get(first, ()) if begins.get(each, math.inf) <= begins[first]]
        first = next((each for each in causes if each not in seen), first)
    (named, *_) = begins
    return first, named if first != named else ""


def _require_sense(
    names: Sequence[str],
    dims: Sequence[str],
    reference: Any,
    sizes: Sizes,
    made_from: Mapping[str, Sequence[str]],
) -> None:
    """Refuse what a check asks for if it makes no sense, with right answers, too: `ValueError`."""
    unknown = {name for whole, parts in made_from.items() for name in (whole, *parts)} - {*names}
    if unknown:
        raise ValueError(f"There is no result called {min(unknown)!r}, which `made_from` names")
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
                f"Expected {wanted} itself; {said} {'it ' if not nested else ''}wrapped in a "
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


def _named_like(
    here: int,
    names: Sequence[str],
    results: Sequence[torch.Tensor],
    wanted: Sequence[torch.Tensor],
    dims: str,
    dimensions: Dimensions,
) -> str:
    """A hint where a result holds what another one should hold, in all places or in those that are wrong."""
    seen = results[here]
    apart = _apart(seen, wanted[here])
    for at, (name, result, right) in enumerate(zip(names, results, wanted, strict=True)):
        if at == here or right.shape != seen.shape:
            continue
        if not compare(seen, right):
            if result.shape == right.shape and not compare(result, right):
                return (
                    f"They are the values of `{name}`, which is right: is one tensor or list used for both?"
                )
            return f"They are the values that `{name}` should have: are your results in another order?"
        if apart is not None and apart.sum() >= FEWEST and not compare(seen[apart], right[apart]):
            told = f"{counted(apart)} are wrong{located(apart, dims, dimensions)}"
            return f"{told}. They are those that `{name}` should have there: is one taken for the other?"
    return ""


def _expect_unswapped(
    name: str, names: Sequence[str], results: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor]
) -> None:
    """Fail where the result of this name and another one have each other's shape."""
    here = names.index(name)
    for other, result, right in zip(names, results, wanted, strict=True):
        if result.shape == wanted[here].shape and results[here].shape == right.shape:
            fail(f"`{name}` and `{other}` are swapped: each has the shape of the other.")
