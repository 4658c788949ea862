"""Expectations of a call in another dtype, and the words where they are not met.

Dtypes of results are judged here; which line brought another one in is the student's process's word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import torch

from autograder.checking.expectations.portability.calls import Arguments, cast, probe_in_turn
from autograder.checking.expectations.portability.events import REGISTER, is_held, quoted
from autograder.checking.expectations.values import fail
from autograder.checking.expectations.wording import in_words, listed
from autograder.checking.explain.failure import Rounded
from autograder.checking.remote.handle import Handle
from autograder.checking.remote.observations import Probed
from autograder.protocol.tensors import tensors_in
from autograder.protocol.values import tree_leaves

DTYPES = (torch.float64, torch.float32, torch.bfloat16)
"""The dtypes that the course means by any floating dtype."""
EXTREMES = (torch.float64, torch.bfloat16)
"""Two of them for a further way to call the same code, such as without a state: no fixed dtype fits both."""
_DEFAULT = ". Where does its dtype come from? Tensors created without a `dtype` are float32 by default."


def expect_dtype(answer: Any, dtype: torch.dtype, *, names: str | Sequence[str]) -> None:
    """Expect every result to be of a dtype.

    `answer` is a tensor or nested tuples of them, `names` are the results' names in order, nested ones
    flattened. Raises `CheckFailed` for a result of another dtype or none, and for more or fewer results.

        call = submission.gru_cell.run((x.float(), h.float()), default_dtype=None)
        expect_dtype(call.value, torch.float32, names="h_next")
    """
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


def expect_dtypes(
    target: Handle,
    arguments: Arguments,
    *,
    names: str | Sequence[str],
    made_with: tuple[Any, ...] | None = None,
    state: Mapping[str, torch.Tensor] | None = None,
    method: str | None = None,
    dtypes: Sequence[torch.dtype] = DTYPES,
) -> None:
    """Expect a call in each dtype to answer in that dtype, without rounding on the way.

    Floating arguments are given in each of `dtypes`, and modules are moved to it. The other arguments are
    those of `expect_device_neutral`. Raises `CheckFailed` where the answer is not so, `StudentError` where
    the call stops for another reason.

        expect_dtypes(submission.conv1d, (x, weight, bias), names="y")
        expect_dtypes(submission.GRUCell, (x,), made_with=(sizes.D, sizes.H), names="h_next", dtypes=EXTREMES)
    """
    names = (names,) if isinstance(names, str) else tuple(names)

    def way(dtype: torch.dtype, trace: str) -> dict[str, Any]:
        as_made = made_with is not None and dtype is torch.float32
        return {
            "device": "cpu",
            "dtype": dtype,
            "made_with": made_with,
            "state": cast(dict(state), dtype) if state else None,
            # Torch's default must be right without being asked for: numpy's numbers are float64. The
            # notebook may have chosen another default.
            "default_dtype": torch.float32 if as_made else None,
            "method": method,
            "as_made": as_made,
            "trace": trace,
        }

    def traced(dtype: torch.dtype) -> Probed:
        return next(probe_in_turn(target, arguments, [way(dtype, "all")]))

    # A function of lengths alone cannot know what dtype the rest of a program has.
    first = arguments() if callable(arguments) else arguments
    follows = made_with is not None or not all(_is_whole(leaf) for leaf in tree_leaves(first))
    # Rounding shows in no answer by itself. What else may go wrong does, and is then looked at again.
    ways = [way(dtype, "coarser" if dtype is torch.float64 else "") for dtype in dtypes]
    for dtype, seen in zip(dtypes, probe_in_turn(target, arguments, ways), strict=True):
        strays = [
            (name, result)
            for name, result in zip(names, tensors_in(seen.value), strict=False)
            if follows and result.is_floating_point() and result.dtype is not dtype
        ]
        if seen.error is not None or strays:
            _fail_in_dtype(seen, traced(dtype), dtype, strays)
        rounded = [event for event in traced(dtype).events if event.kind == "rounded"] if seen.events else []
        if rounded:
            raise Rounded(
                f"With inputs of float64, {quoted(rounded[0].line)} rounds numbers to a coarser dtype, and "
                "they stay rounded. Compute in the dtype of the input."
            )


def _fail_in_dtype(
    first: Probed,
    seen: Probed,
    dtype: torch.dtype,
    strays: Sequence[tuple[str, torch.Tensor]],
) -> NoReturn:
    """Fail with the line that brought another dtype in, as far as the trace tells it.

    `seen` is the `first` call made once more, under the eyes of the trace; it may have gone otherwise.
    """
    word = _word(dtype)
    origin = _stray_dtype(seen, word)
    error = first.error or seen.error
    if error is None:
        name, result = strays[0]
        fail(f"With inputs of {word}, `{name}` comes out as {_word(result.dtype)}{origin or _DEFAULT}")
    if origin:
        fail(f"In {word} the call stops{origin} (torch says: {error.message})")
    error.case = f"In {word}"
    raise error


def _stray_dtype(seen: Probed, word: str) -> str:
    """Name the line that made the tensor which brought another dtype in."""
    event = next((e for e in seen.events if e.kind == "dtype" and e.dtype != word), None)
    if event is None:
        event = next((e for e in seen.events if e.kind == "cast" and e.dtype != word), None)
        if event is None:
            return ""
        return f": {quoted(event.line)} converts numbers to {event.dtype}. Compute in the input's dtype."
    if is_held(event):
        made = f" It was created by {quoted(event.made)}." if event.made else ""
        name = f"`{event.name}`" if event.name else "a tensor that the module holds"
        return f": {name} is {event.dtype}, and {quoted(event.line)} mixes it with the rest.{made} {REGISTER}"
    name = f"`{event.name}`" if event.name else "a tensor"
    origin = f"{quoted(event.made)} creates {name} as" if event.made else f"{name} is"
    mixes = " and" if event.made == event.line else f", and {quoted(event.line)}"
    return (
        f": {origin} {event.dtype}{mixes} mixes it with the rest. New tensors get the input's dtype if you "
        "pass `dtype=`, or create them with a tensor's `new_…` methods or the `…_like` functions."
    )


def _is_whole(value: Any) -> bool:
    """Return whether it is no tensor of a floating dtype and holds none."""
    if isinstance(value, torch.Tensor):
        return not value.is_floating_point()
    return value is None or isinstance(value, (bool, int, float, str))


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
