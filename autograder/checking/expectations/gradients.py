"""Expectations of gradients, and the words that a student reads when they do not flow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import torch

from autograder.checking.expectations.comparing import ROUNDED, compare
from autograder.checking.expectations.values import case, fail
from autograder.checking.expectations.wording import capital, in_a_row, in_words
from autograder.checking.inputs.cache import computed_once, computed_once_of_leaves
from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.references import recorded
from autograder.checking.remote.connection import Request
from autograder.checking.remote.errors import StudentError
from autograder.checking.remote.handle import Call, Handle
from autograder.checking.remote.observations import Gradients
from autograder.checking.tolerance import agree, are_rounded, identical
from autograder.protocol.values import map_tree, tree_leaves

_ONCE_RIGHT = (
    "The same call just before, in training mode, is right: does something stay behind from one call to the "
    "next, or does `eval()` change what is computed?"
)
"""The first question to a student whose gradient has other values only in the second of two calls."""
_IS_IT_CUT = "Is part of the computation cut off from the graph, by `detach()`, `.data` or `torch.no_grad()`?"
"""The first question where nothing more is known."""


def expect_gradients(
    target: Handle,
    reference: Callable[..., Any],
    arguments: tuple[Any, ...],
    *,
    names: Sequence[str],
    draw: Draw,
    parameters: Mapping[str, torch.Tensor] | None = None,
    tell: str = "",
    in_eval: bool = False,
    results: Sequence[str] = (),
    modules: Sequence[str] = (),
) -> None:
    """Expect gradients to reach every floating argument, and every parameter, with the reference's values.

    `target` is the student's function or module. `reference(*arguments)` computes the same from copies of the
    arguments, and depends on nothing else. A function of the file, or a `functools.partial` of one, is called
    once for a class that gets the same tensors; a lambda made in the check, once for each submission.
    `parameters` are the leaves it uses, under the names that the module registers (`as_leaves` makes them of
    drawn ones); of a call with several modules `modules` are these modules' names, and a parameter is called
    `fc.weight`. `names` are the floating arguments', `results` those of the floating results. `draw` gives
    the weights of the sum whose gradients these are; `tell` is the first question to a student whose gradient
    has other values. A missing gradient passes for a zero one. With `in_eval` the target is a module whose
    modes do not differ, and the same is expected of it once more after `eval()`. Raises `CheckFailed` where
    the gradients are not so, `StudentError` where the call or its backward pass stops.

        softmax = partial(torch.softmax, dim=-1)
        expect_gradients(submission.softmax, softmax, (scores,), names=("scores",), draw=draw)

        leaves = as_leaves(parameters)  # those that the student's cell was filled with
        right = partial(step, leaves)
        expect_gradients(cell, right, (x,), names=("x",), parameters=leaves, draw=draw)
    """
    sources = dict(parameters or {})
    # What is the student's, or was handed to them, no reference may use, and no result is known again by it.
    ours = tuple(None if isinstance(each, Handle) else each for each in arguments)
    shapes, attached = _outline(reference, ours)
    weights = [draw.like(shape) for shape in shapes]
    right = _right(reference, ours, sources, weights)
    as_it_is = target.gradient_requests(arguments, weights)
    if not in_eval:
        _expect(as_it_is, right, arguments, names, sources, shapes, attached, tell, results, modules)
        return
    target.eval()
    evaluating = target.gradient_requests(arguments, weights)
    _expect(as_it_is, right, arguments, names, sources, shapes, attached, tell, results, modules)
    with case("in eval()"):
        _expect(evaluating, right, arguments, names, sources, shapes, attached, _ONCE_RIGHT, results, modules)


def _expect(
    requests: tuple[Request[Call], Request[Gradients]],
    right: tuple[list[torch.Tensor], dict[str, torch.Tensor]],
    arguments: tuple[Any, ...],
    names: Sequence[str],
    sources: Mapping[str, torch.Tensor],
    shapes: Sequence[torch.Size],
    attached: Sequence[bool],
    tell: str,
    results: Sequence[str],
    modules: Sequence[str],
) -> None:
    """Expect the gradients of one call to be right: of the inputs, and of the sources by name."""
    forward, backward = requests
    call = forward.ask()
    of_inputs, of_sources = right
    seen = [
        part
        for part in tree_leaves(call.value)
        if isinstance(part, torch.Tensor) and part.is_floating_point()
    ]
    if [part.shape for part in seen] != list(shapes):
        fail("Gradients cannot be compared until the results have the right shapes.")
    try:
        gradients = backward.ask()
    except StudentError as error:
        _explain_in_place(error, call, arguments, names)
        raise
    if not gradients.attached:
        fail(
            "The results are cut off from the graph: no gradient reaches any input. Look for `detach()`, "
            "`.data`, `.item()`, `torch.no_grad()`, or a tensor rebuilt with `torch.tensor(...)`."
        )
    frozen = {name for name in sources if _sent_as(name, modules) in gradients.frozen}
    pairs = list(zip(names, gradients.inputs, of_inputs, strict=False))
    pairs += [(name, gradients.parameters.get(_sent_as(name, modules)), of_sources[name]) for name in sources]
    for name, got, _ in pairs:
        if got is not None and not isinstance(got, torch.Tensor):
            fail(f"The gradient of `{name}` is {in_words(got)}; expected a dense tensor.")
    dtypes = [part.dtype for part in seen]
    arrived = [(got, want) for _, got, want in pairs if got is not None and got.shape == want.shape]
    if arrived and len(arrived) == len(pairs) and agree(*zip(*arrived, strict=True), dtypes=dtypes):
        return
    for name, got, want in pairs:
        if got is None and want.any():
            _fail_unreached(name, name in frozen)
        got = torch.zeros_like(want) if got is None else got
        if got.shape != want.shape or compare(got, want, dtypes=dtypes):
            told = _written_into(call, arguments, names) or _cut_off(call, attached, results) or tell
            if got.shape == want.shape and are_rounded(got, want):
                told = ROUNDED
            fail(f"`{name}` gets a gradient, but a wrong one. {told or _IS_IT_CUT}")


def _fail_unreached(name: str, is_frozen: bool) -> NoReturn:
    """Fail because no gradient reaches an input or a parameter, which may have ceased to ask for one."""
    if is_frozen:
        fail(
            f"No gradient reaches `{name}`, because it no longer asks for any, and training would leave "
            "it as it is. Look for `requires_grad_(False)` and `requires_grad = False`."
        )
    fail(
        f"No gradient reaches `{name}`. Somewhere between `{name}` and the result the graph is "
        "cut: look for `detach()`, `.data`, `.item()`, `torch.no_grad()`, or a tensor rebuilt with "
        "`torch.tensor(...)`."
    )


@computed_once
def as_leaves(parameters: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the same numbers in tensors that ask for gradients; take them by `torch.autograd.grad`.

    `parameters` are tensors by name, of any shapes; so is what is returned. They are the same for every
    submission, so what `backward` put into their `grad` would stay there. Raises nothing.

        leaves = as_leaves(draw.named({"W": (sizes.D, sizes.H), "b": (sizes.H,)}))
    """
    return {name: value.detach().requires_grad_() for name, value in parameters.items()}


@recorded
@computed_once_of_leaves
def _outline(
    reference: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[list[torch.Size], list[bool]]:
    """Return the shapes of the right results, and which of them have a graph."""
    results, _ = _computed(reference, arguments)
    return [part.shape for part in results], [part.requires_grad for part in results]


@recorded
@computed_once_of_leaves
def _right(
    reference: Callable[..., Any],
    arguments: tuple[Any, ...],
    sources: Mapping[str, torch.Tensor],
    weights: Sequence[torch.Tensor],
) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
    """The gradients for the floating arguments, and for the sources by name."""
    results, leaves = _computed(reference, arguments)
    total = torch.stack([(part * weight).sum() for part, weight in zip(results, weights, strict=True)]).sum()
    wanted = [*leaves, *sources.values()]
    found = torch.autograd.grad(total, wanted, allow_unused=True)
    right = [
        torch.zeros_like(leaf) if grad is None else grad for leaf, grad in zip(wanted, found, strict=True)
    ]
    return right[: len(leaves)], dict(zip(sources, right[len(leaves) :], strict=True))


def _computed(
    reference: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Return the reference's results for copies of the arguments, and the floating ones among these."""
    leaves: list[torch.Tensor] = []
    results = tree_leaves(reference(*_with_grad(arguments, leaves)))
    return [part for part in results if isinstance(part, torch.Tensor)], leaves


def _sent_as(name: str, modules: Sequence[str]) -> str:
    """Return the name that the student's side gives a parameter of one of several modules.

    See `parameters_of_all` in `worker/tracing/module_contents.py`.
    """
    if not modules:
        return name
    module, _, own = name.partition(".")
    place = modules.index(module)
    return f"{place}.{own}" if place else own


def _cut_off(call: Call, wanted: Sequence[bool], results: Sequence[str]) -> str:
    """Say which of several results has no graph although the right computation's has."""
    tensors = [part for part in tree_leaves(call.value) if isinstance(part, torch.Tensor)]
    attached = [flag for part, flag in zip(tensors, call.attached, strict=False) if part.is_floating_point()]
    cut = [
        f"`{results[place]}`" if len(results) == len(attached) else f"result {place + 1} of {len(attached)}"
        for place, (flag, right) in enumerate(zip(attached, wanted, strict=False))
        if right and not flag
    ]
    if not cut:
        return ""
    return (
        f"{capital(in_a_row(cut))} {'is' if len(cut) == 1 else 'are'} cut off from the graph: look for "
        "`detach()`, `.data` or `torch.no_grad()` on the way to what you return."
    )


def _written_into(call: Call, arguments: Sequence[Any], names: Sequence[str]) -> str:
    """Say that the call wrote into one of its floating arguments."""
    before, after = tree_leaves(arguments), tree_leaves(call.arguments)
    floating = [
        (old, new)
        for old, new in zip(before, after, strict=False)
        if isinstance(old, torch.Tensor) and old.is_floating_point()
    ]
    changed = [name for name, (old, new) in zip(names, floating, strict=False) if not identical(old, new)]
    if not changed:
        return ""
    return (
        f"The call wrote into `{changed[0]}`, which it was given: the gradient needs the numbers that were "
        "there before, or knows nothing of the write. Operations that end in `_`, `+=`, `.data` and "
        "assignments such as `h[...] = ` write into a tensor: make a new one instead."
    )


def _explain_in_place(
    error: StudentError, call: Call, arguments: Sequence[Any], names: Sequence[str]
) -> None:
    """Say so where the backward pass stopped because numbers it needs were overwritten."""
    if "inplace" not in error.message:
        return
    told = _written_into(call, arguments, names) or (
        "A tensor was written into after its first use, and the gradient needs the numbers it held before. "
        "Operations that end in `_`, `+=` and assignments such as `h[...] = ` write into a tensor: make a "
        "new one instead."
    )
    fail(f"The backward pass stopped. {told}")


def _with_grad(value: Any, leaves: list[torch.Tensor]) -> Any:
    def leaf(item: Any) -> Any:
        if isinstance(item, torch.Tensor) and item.is_floating_point():
            item = item.detach().clone().requires_grad_()
            leaves.append(item)
        return item

    return map_tree(value, leaf)
