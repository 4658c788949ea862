"""Expectations of a call in another dtype, and the words where they are not met.

Dtypes of results are judged here; which line brought another one in is the student's process's word.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import torch

from autograder.checking.expectations.placed.calls import Arguments, cast, placed_in_turn
from autograder.checking.expectations.placed.events import REGISTER, is_held, quoted
from autograder.checking.expectations.placed.looks import counting
from autograder.checking.expectations.placed.near import expect_near, near
from autograder.checking.expectations.values import case, fail
from autograder.checking.expectations.wording import capital, in_words, listed
from autograder.checking.explain.failure import Rounded
from autograder.checking.remote.handle import Handle
from autograder.checking.remote.observations import Placed
from autograder.protocol.events import Line
from autograder.protocol.looks import AS_IT_IS
from autograder.protocol.values import Keywords, tensors_in, tree_leaves

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
    autocast: bool = False,
    alike: bool = True,
    right: Any = None,
) -> None:
    """Expect a call in each dtype to answer in that dtype, without rounding on the way.

    In float32 it answers what it answers in float64, whatever torch's default is, but for rounding;
    `alike=False` is for what draws its results from a seed of its own. `right` is the right answer, where it
    is known and the task gives right ones elsewhere: then float32 and float64 have to give it here, too.

    Floating arguments are given in each of `dtypes`, and modules are moved to it. With `autocast` it is
    called under `torch.autocast`, too (float32 outside, bfloat16 inside), where the call must only end:
    rounding grows from step to step of a right recurrence, so its values there say nothing. That is for
    tasks whose text speaks of autocast: `index_put`, `scatter` and `lerp` stop there, which nobody would
    guess. The other arguments are those of `expect_device_neutral`. Raises `CheckFailed` where the answer is
    not so, `StudentError` where the call stops for another reason.

        expect_dtypes(submission.conv1d, (x, weight, bias), names="y")
        expect_dtypes(submission.GRUCell, (x,), made_with=(sizes.D, sizes.H), names="h_next", dtypes=EXTREMES)
    """
    names = (names,) if isinstance(names, str) else tuple(names)

    def calls(*ways: tuple[torch.dtype, Keywords]) -> Iterator[Placed]:
        made = []
        for dtype, more in ways:
            as_made = made_with is not None and dtype is torch.float32
            made.append(
                {
                    "device": "cpu",
                    "dtype": dtype,
                    "made_with": made_with,
                    "state": cast(dict(state), dtype) if state else None,
                    # Torch's default must be right without being asked for: numpy's numbers are float64. The
                    # notebook may have chosen another default.
                    "default_dtype": torch.float32 if as_made else None,
                    "method": method,
                    "as_made": as_made,
                    **more,
                }
            )
        return placed_in_turn(target, arguments, made)

    def traced(dtype: torch.dtype, **more: Any) -> Placed:
        return next(calls((dtype, {"trace": "all", **more})))

    def strays_in(seen: Placed, dtype: torch.dtype) -> list[tuple[str, torch.Tensor]]:
        return [
            (name, result)
            for name, result in zip(names, tensors_in(seen.value), strict=False)
            if follows and result.is_floating_point() and result.dtype is not dtype
        ]

    # A function of lengths alone cannot know what dtype the rest of a program has.
    first = arguments() if callable(arguments) else arguments
    follows = made_with is not None or not all(_is_whole(leaf) for leaf in tree_leaves(first))
    # Rounding shows in no answer by itself. What else may go wrong does, and is then looked at again.
    each = [(dtype, {"trace": "coarser" if dtype is torch.float64 else ""}) for dtype in dtypes]
    # The CPU's autocast stops at some mixtures that a GPU's widens: what passes with either is right.
    # A module is made with other numbers where torch's default is another.
    once_more = (
        [(torch.float64, {"default_dtype": torch.float64})] if alike and made_with is None and follows else []
    )
    every = calls(*each, *once_more, *([(torch.float32, {"autocast": "cpu"})] if autocast else []))
    exact: Placed | None = None
    for dtype in dtypes:
        seen = next(every)
        if seen.error is not None:
            seen = _without_numpy(target, seen, lambda *looks, dtype=dtype: calls((dtype, {"looks": looks})))
        strays = strays_in(seen, dtype)
        if seen.error is not None or strays:
            _fail_in_dtype(seen, traced(dtype), dtype, strays)
        if exact is not None and len(tensors_in(seen.value)) < len(tensors_in(exact.value)):
            fail(
                f"With inputs of {_word(dtype)} it returns {in_words(seen.value)}, with inputs of float64 "
                f"{in_words(exact.value)}. Does the code look at the dtype?"
            )
        if seen.events:
            seen = traced(dtype)
        rounded = next((event for event in seen.events if event.kind == "rounded"), None)
        if rounded is not None:
            raise Rounded(
                f"With inputs of float64, {quoted(rounded.line)} rounds numbers to a coarser dtype, and "
                "they stay rounded. Compute in the dtype of the input."
            )
        if right is not None and dtype in (torch.float64, torch.float32):
            expect_near(seen, right)
        if dtype is torch.float64:
            exact = seen
        elif dtype is torch.float32 and alike and exact is not None and not near(seen.value, exact.value):
            _expect_alike(calls, *_OF_DTYPES)
    for seen in itertools.islice(every, len(once_more)):
        if seen.error is None and (strays := strays_in(seen, torch.float64)):
            again = traced(torch.float64, default_dtype=torch.float64)
            _fail_in_dtype(seen, again, torch.float64, strays)
        if seen.error is None and exact is not None and not near(seen.value, exact.value):
            _expect_alike(calls, *_OF_DEFAULTS)
        if seen.error is None and right is not None:
            expect_near(seen, right)
    if not autocast or (seen := next(every)).error is None:
        return
    (widened,) = calls((torch.float32, {"autocast": "cuda"}))
    if widened.error is not None:
        more = {"autocast": "cuda"}
        widened = _without_numpy(
            target, widened, lambda *looks: calls((torch.float32, {"looks": looks, **more}))
        )
    if widened.error is not None:
        with case("under `torch.autocast` in bfloat16"):
            stops = "with inputs of float32 the call stops"
            _fail_in_dtype(seen, traced(torch.float32, autocast="cpu"), torch.float32, stops=stops)


def expect_without_numpy(value: Any) -> None:
    """Expect no number that went through numpy in what a call with `numpy=True` returned.

    `value` is tensors and numbers in nested tuples, lists and dicts. Raises `CheckFailed` where one of them
    is nan, which is what numpy was given there.

        call = submission.fit.run((model, x, y), default_dtype=None, numpy=True)
        expect_without_numpy(call.value)
    """
    for leaf in tree_leaves(value):
        if isinstance(leaf, float):
            leaf = torch.tensor(leaf)
        if isinstance(leaf, torch.Tensor) and leaf.isnan().any():
            fail(
                "The call stops there: numpy has no bfloat16, and a number that you return goes through "
                "numpy. `.item()` gives the number of a one-element tensor in any dtype."
            )


_ONE_DEFAULT = {"default_dtype": torch.float32, "as_made": False}
"""For modules that are made with the same numbers, whatever dtype the notebook has as torch's default."""
_OF_DTYPES = (
    (torch.float32, _ONE_DEFAULT),
    (torch.float64, _ONE_DEFAULT),
    "With inputs of float32 it gives different numbers than with the same inputs of float64, and rounding "
    "does not explain it. Does the code look at the dtype?",
)
_OF_DEFAULTS = (
    (torch.float64, {"default_dtype": torch.float64}),
    (torch.float64, {"default_dtype": torch.float32}),
    "With the same inputs of float64 it gives different numbers when torch's default dtype is different. "
    "Results must depend on the inputs alone: does the code use `torch.get_default_dtype()`?",
)


def _expect_alike(
    calls: Callable[..., Iterator[Placed]],
    one: tuple[torch.dtype, Keywords],
    other: tuple[torch.dtype, Keywords],
    told: str,
) -> None:
    """Two ways to call it give the same but for rounding, unless the results are drawn."""
    seen, exact, drawn = calls(one, other, (other[0], {**other[1], "call_seed": 1}))
    ended = all(each.error is None for each in (seen, exact, drawn))
    if ended and near(drawn.value, exact.value) and not near(seen.value, exact.value):
        fail(told)


def _without_numpy(target: Handle, stopped: Placed, calls: Callable[..., Iterator[Placed]]) -> Placed:
    """The call as it goes on where only a look by numpy has stopped it, else the one that has stopped.

    Numpy has no bfloat16, so a `print(h.numpy())` ends every call in that dtype. It is a look like any other.
    """

    def again(way: int, lines: Sequence[Line | None] | None) -> Placed:
        return next(calls(way, lines))

    true = again(AS_IT_IS, None)
    looks = [event for event in true.events if event.kind == "numpy"]
    if not looks:
        return stopped
    line = capital(quoted(looks[0].line))
    if true.error is not None or counting(looks, again) is not None:
        fail(
            f"In bfloat16 the call stops, because numpy does not have that dtype. {line} passes it numbers "
            "that your result depends on. Torch can do what numpy does there, in any dtype."
        )
    target.remark(
        f"{line} stops a call in bfloat16, a dtype that numpy does not have: write `.float()` before "
        "`.numpy()`. What you return does not depend on it, so it costs no points."
    )
    return replace(true, value=true.value[0], events=())


def _fail_in_dtype(
    first: Placed,
    seen: Placed,
    dtype: torch.dtype,
    strays: Sequence[tuple[str, torch.Tensor]] = (),
    *,
    stops: str = "",
) -> NoReturn:
    """Fail with the line that brought another dtype in, as far as the trace tells it.

    `seen` is the `first` call made once more, under the eyes of the trace; it may have gone otherwise.
    `stops` says that the call has stopped, where the dtype of its inputs does not say all.
    """
    word = _word(dtype)
    origin = _stray_dtype(seen, word)
    error = first.error or seen.error
    if error is None:
        name, result = strays[0]
        fail(f"With inputs of {word}, `{name}` comes out as {_word(result.dtype)}{origin or _DEFAULT}")
    if origin:
        fail(f"{stops or f'In {word} the call stops'}{origin} (torch says: {error.message})")
    error.case = f"In {word}"
    raise error


def _stray_dtype(seen: Placed, word: str) -> str:
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
