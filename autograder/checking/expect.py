"""What a check may expect of an answer, and the words a student reads when it is not so.

Every failure is a `CheckFailed` whose text says what was seen, what was expected and what to look
at next; none contains the expected numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import torch

from autograder.checking.draw import NAMES, Draw, Sizes
from autograder.checking.scratch import forbidden_uses
from autograder.checking.shapes import explain_shape
from autograder.checking.submission import Call, Submission, Target
from autograder.worker.wire import Opaque, map_tree, tree_leaves

TOLERANCE = {
    torch.float64: (1e-6, 1e-9),
    torch.float32: (1e-4, 1e-5),
    torch.float16: (1e-2, 1e-2),
    torch.bfloat16: (5e-2, 5e-2),
}
"""Relative and absolute difference allowed, by the coarser of the two dtypes compared."""


class CheckFailed(AssertionError):
    """The answer is not what the check asks for. The text is for the student."""


def fail(message: str) -> NoReturn:
    """Fail the check with a message for the student."""
    raise CheckFailed(message)


def expect(
    answer: Any,
    reference: Any,
    *,
    names: str | Sequence[str],
    dims: str | Sequence[str],
    sizes: Sizes,
    values: bool = True,
    context: str = "",
) -> None:
    """The answer has the reference's structure, shapes and (unless `values=False`) values.

    `names` are the results' names in order, nested results flattened; `dims` their dimensions, as
    `"B T H"`, one for all or one each. dtypes are not compared: that is `expect_dtype`'s rule.
    `context` says which input it was, as in `"with one sequence (B = 1)"`.
    """
    names = (names,) if isinstance(names, str) else tuple(names)
    every = [dims] * len(names) if isinstance(dims, str) else list(dims)
    prefix = f"{context[0].upper()}{context[1:]}: " if context else ""
    results = _results(answer, reference, names, prefix)
    for name, dim, result, wanted in zip(names, every, results, tree_leaves(reference), strict=True):
        if tuple(result.shape) != tuple(wanted.shape):
            fail(prefix + explain_shape(name, tuple(result.shape), dim, sizes))
    if values:
        for name, dim, result, wanted in zip(names, every, results, tree_leaves(reference), strict=True):
            difference = compare(result, wanted, dim)
            if difference:
                fail(f"{prefix}`{name}` has the right shape but not the right values: {difference}")


def compare(result: torch.Tensor, wanted: torch.Tensor, dims: str = "") -> str:
    """How two tensors of one shape differ, in words, or `""` when they agree to tolerance."""
    coarser = result.dtype if _tolerance(result.dtype) > _tolerance(wanted.dtype) else wanted.dtype
    rtol, atol = _tolerance(coarser)
    if result.dtype.is_complex:
        return "they are complex numbers."
    seen, right = result.detach().to(torch.float64), wanted.detach().to(torch.float64)
    if not torch.isfinite(seen).all():
        return f"{int((~torch.isfinite(seen)).sum())} of {seen.numel()} numbers are not finite (nan or inf)."
    apart = (seen - right).abs() > atol + rtol * right.abs()
    if not apart.any():
        return ""
    largest = (seen - right).abs().max().item()
    count = f"{int(apart.sum())} of {apart.numel()} numbers differ, by up to {largest:.2g}"
    return f"{count}{_located(apart, dims)}."


def expect_dtype(answer: Any, dtype: torch.dtype, *, names: str | Sequence[str]) -> None:
    """Every result has the dtype."""
    names = (names,) if isinstance(names, str) else tuple(names)
    leaves = tree_leaves(answer)
    for name, result in zip(names, leaves, strict=False):
        if not isinstance(result, torch.Tensor):
            fail(f"`{name}` is {_seen(result)}, not a tensor.")
        if result.dtype != dtype:
            fail(
                f"`{name}` is {result.dtype} although everything passed in is {dtype}. Something on the way was "
                "created or converted with a fixed dtype: create new tensors from an existing one "
                "(`new_zeros`, `zeros_like`, or `dtype=x.dtype`)."
            )
    if len(leaves) != len(names):
        fail(f"Expected {_list(names)}; you returned {_seen(answer)}.")


def expect_untouched(call: Call, arguments: Sequence[Any], names: Sequence[str]) -> None:
    """The call left its arguments as they were."""
    for name, before, after in zip(names, arguments, call.arguments, strict=True):
        for old, new in zip(tree_leaves(before), tree_leaves(after), strict=False):
            if isinstance(old, torch.Tensor) and not (
                isinstance(new, torch.Tensor) and old.shape == new.shape and torch.equal(old, new)
            ):
                fail(
                    f"The call changed its argument `{name}`, which belongs to the caller. Operations that end in `_`, "
                    "`+=` and assignments such as `x[...] = ` write into the tensor they are given: "
                    "make a new tensor instead."
                )


def expect_gradients(
    target: Target,
    reference: Callable[..., Any],
    arguments: tuple[Any, ...],
    *,
    names: Sequence[str],
    draw: Draw,
    parameters: Mapping[str, torch.Tensor] | None = None,
    tell: str = "",
) -> None:
    """Gradients reach every floating argument, and every parameter, with the reference's values.

    `reference(*arguments)` computes the same from copies of the arguments; `parameters` are the
    leaves it uses, under the names that the module registers. `names` are the floating arguments'.
    A missing gradient passes for a zero one.
    """
    leaves: list[torch.Tensor] = []
    wanted = [part for part in tree_leaves(reference(*_with_grad(arguments, leaves))) if isinstance(part, torch.Tensor)]
    weights = [draw.like(part.shape) for part in wanted]
    call = target.run(arguments, grad=True)
    seen = [part for part in tree_leaves(call.value) if isinstance(part, torch.Tensor) and part.is_floating_point()]
    if [part.shape for part in seen] != [part.shape for part in wanted]:
        fail("Gradients cannot be compared until the results have the right shapes.")
    gradients = call.backward(weights)
    if not gradients.attached:
        fail(
            "The results are cut off from the graph: no gradient reaches any input. Look for `detach()`, `.data`, "
            "`.item()`, `torch.no_grad()`, or a tensor rebuilt with `torch.tensor(...)`."
        )
    sources = dict(parameters or {})
    total = sum((part * weight).sum() for part, weight in zip(wanted, weights, strict=True))
    right = torch.autograd.grad(total, [*leaves, *sources.values()], allow_unused=True)
    pairs = list(zip(names, leaves, gradients.inputs, right, strict=False))
    pairs += [
        (name, leaf, gradients.parameters.get(name), grad)
        for (name, leaf), grad in zip(sources.items(), right[len(leaves) :], strict=True)
    ]
    for name, leaf, got, want in pairs:
        want = torch.zeros_like(leaf) if want is None else want
        if got is None and want.abs().max() > 0:
            fail(
                f"No gradient reaches `{name}`. Somewhere between `{name}` and the result the graph is cut: look for "
                "`detach()`, `.data`, `.item()`, `torch.no_grad()`, or a tensor rebuilt with `torch.tensor(...)`."
            )
        got = torch.zeros_like(leaf) if got is None else got
        if got.shape != want.shape or compare(got, want):
            told = tell or "A part of the computation is cut off from the graph, or the results are right for other reasons."
            fail(f"The gradient of `{name}` is not the one that the right computation gives. {told}")


def expect_registered(target: Target, expected: Mapping[str, tuple[str, tuple[int, ...]]], kind: str) -> None:
    """The module registers exactly these trainable parameters: name → (shape in words, shape)."""
    seen = target.describe()
    if not seen.is_module:
        fail(f"{kind} must be an `nn.Module`; it makes {seen.type} objects.")
    missing = [name for name in expected if name not in seen.parameters]
    if missing:
        fail(
            f"{kind} registers no parameter named {_list(missing)}, so `state_dict()`, `.to()` and optimizers do not see it. "
            "Assign an `nn.Parameter` to `self` under that name; a plain tensor or a Python list is not registered."
        )
    extra = [name for name in seen.parameters if name not in expected]
    if extra:
        fail(f"{kind} registers {_list(extra)} besides the parameters asked for; a saved model of another student would not load.")
    for name, (words, shape) in expected.items():
        if tuple(seen.parameters[name].shape) != shape:
            fail(f"`{name}` has shape {tuple(seen.parameters[name].shape)}; expected {words} = {shape}.")
        if name not in seen.trainable:
            fail(f"`{name}` does not ask for gradients, so an optimizer would never change it.")


def expect_no_kernel(call: Call, pattern: str, say: str) -> None:
    """None of torch's kernels whose name matches did the work."""
    found = [name for name in call.kernels if re.search(pattern, name)]
    if found:
        fail(f"{say} The call ran `{found[0]}`.")


def expect_no_mention(submission: Submission, task: str, pattern: str, say: str) -> None:
    """The task's solution cell, read on the trusted side, does not call what `pattern` forbids."""
    uses = forbidden_uses(submission.sources.get(task, ""), task, pattern)
    if uses:
        line, used = uses[0]
        fail(f"{say} Line {line} of your cell uses `{used}`.")


def expect_not_shared(before: torch.Tensor, after: torch.Tensor, name: str) -> None:
    """A copy stayed as it was although the original was changed."""
    if not torch.equal(before, after):
        fail(
            f"`{name}` changed when the original was changed afterwards: the two share memory. Copy the numbers "
            "(`copy_`, `clone`), do not assign the tensor itself."
        )


def _results(answer: Any, reference: Any, names: tuple[str, ...], prefix: str) -> list[torch.Tensor]:
    """The answer's tensors in the reference's structure, or a failure that says what was returned."""
    if answer is None:
        fail(f"{prefix}Expected {_list(names)}; you returned nothing (`None`). Is a `return` missing?")
    if isinstance(reference, torch.Tensor):
        if isinstance(answer, (list, tuple)) and len(answer) == 1:
            fail(f"{prefix}Expected {_list(names)} itself; you returned it inside a {type(answer).__name__} of one.")
        if not isinstance(answer, torch.Tensor):
            fail(f"{prefix}Expected {_list(names)}, a tensor; you returned {_seen(answer)}.")
        return [answer]
    if not isinstance(answer, (list, tuple)) or len(answer) != len(reference):
        fail(f"{prefix}Expected {_structure(reference, list(names))}; you returned {_seen(answer)}.")
    rest = list(names)
    flat: list[torch.Tensor] = []
    for part, wanted in zip(answer, reference, strict=True):
        own = tuple(rest.pop(0) for _ in tree_leaves(wanted))
        flat += _results(part, wanted, own, prefix)
    return flat


def _with_grad(value: Any, leaves: list[torch.Tensor]) -> Any:
    def leaf(item: Any) -> Any:
        if isinstance(item, torch.Tensor) and item.is_floating_point():
            item = item.detach().clone().requires_grad_()
            leaves.append(item)
        return item

    return map_tree(value, leaf)


def _tolerance(dtype: torch.dtype) -> tuple[float, float]:
    return TOLERANCE.get(dtype, (0.0, 0.0))


def _located(apart: torch.Tensor, dims: str) -> str:
    """Where the differences lie, along the dimensions in which they do not fill everything."""
    letters = dims.split()
    if len(letters) != apart.dim() or apart.numel() == 0:
        return ""
    places = []
    for position, letter in enumerate(letters):
        others = [dim for dim in range(apart.dim()) if dim != position]
        wrong = apart.any(dim=others) if others else apart
        where = [index for index, bad in enumerate(wrong.tolist()) if bad]
        if len(where) == len(wrong) or letter[-1] not in NAMES:
            continue
        name = {"T": "time step", "B": "sequence", "L": "layer"}.get(letter, f"{NAMES[letter[-1]]} index")
        if letter == "T" and where == list(range(where[0], len(wrong))):
            places.append(f"from {name} {where[0]} on")
        else:
            places.append(f"only in {name} {', '.join(map(str, where[:4]))}{' …' if len(where) > 4 else ''}")
    return f" ({'; '.join(places)}; counting starts at 0)" if places else ""


def _seen(value: Any) -> str:
    """What was returned, in words."""
    if isinstance(value, torch.Tensor):
        return f"one tensor of shape {tuple(value.shape)}"
    if isinstance(value, Opaque):
        return value.what
    if isinstance(value, Target):
        return f"an object of type {value.type}"
    if isinstance(value, (list, tuple)):
        parts = ", ".join(_seen(item) for item in value[:4])
        return f"a {type(value).__name__} of {len(value)}: {parts}{', …' if len(value) > 4 else ''}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"the number {value}"
    if value is None:
        return "`None`"
    return f"{type(value).__name__} {str(value)[:60]!r}"


def _structure(reference: Any, names: list[str]) -> str:
    """The expected nesting with the results' names, as `(output, (h_n, c_n))`."""
    if isinstance(reference, torch.Tensor):
        return names.pop(0)
    return f"`({', '.join(_structure(part, names).strip('`') for part in reference)})`"


def _list(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
