"""Expectations of what a module registers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from autograder.checking.expectations.values import fail
from autograder.checking.expectations.wording import in_words, listed
from autograder.checking.remote.handle import Handle
from autograder.protocol.answers import Registered
from autograder.protocol.values import Opaque


def expect_module(made: Any, kind: str) -> Handle:
    """Expect a class to have made an `nn.Module`, and return it, to be called.

    `made` is what calling it gave, `kind` how a message names the class. Raises `CheckFailed` for anything
    else.

        cell = expect_module(submission.make_cell(sizes.D, sizes.H), "`make_cell(…)`")
    """
    if not isinstance(made, Handle):
        own = isinstance(made, Opaque) and made.own
        base = " Is `nn.Module` its base class?" if own else ""
        fail(f"{kind} must be an `nn.Module`; calling it gave {in_words(made)}.{base}")
    if not made.is_module:
        fail(f"{kind} must be an `nn.Module`; it creates {made.type} objects. Is `nn.Module` its base class?")
    return made


def make_module(kind: Handle, *args: Any, told: str, **kwargs: Any) -> Handle:
    """Make a module of a student's class, together with the next request, and return it, to be called.

    `kind` is the class, `args` and `kwargs` what it is called with, `told` how a message names it. A check's
    first call brings all that it needs so: a request takes longer than most of what students do. That request
    raises `CheckFailed` where the class makes no `nn.Module`, `StudentError` where making it stops.

        cell = make_module(submission.GRUCell, sizes.D, sizes.H, told="`GRUCell(input_size, hidden_size)`")
        cell.load_state_dict(parameters)
        expect(cell(x, h), step(parameters, x, h), names="h_next", dims="B H", sizes=sizes)
    """
    return kind.made(args, kwargs, lambda made: expect_module(made, told))


def expect_registered(
    target: Handle | Registered,
    expected: Mapping[str, tuple[str, tuple[int, ...]]],
    kind: str,
    *,
    buffers: Collection[str] = (),
) -> None:
    """Expect a module, or what is known of it, to have exactly these trainable parameters, and these buffers.

    `expected` has for each parameter's name the shape in words and in numbers, `buffers` are names; `kind` is
    how a message names the class. Raises `CheckFailed` for a name that is missing or too many, another shape,
    a parameter that asks for no gradient, and two in the same memory.

        shapes = {"W": ("(inputs, outputs)", (sizes.D, sizes.H)), "b": ("(outputs,)", (sizes.H,))}
        expect_registered(layer, shapes, "`Linear`")
    """
    seen = target.registered() if isinstance(target, Handle) else target
    _expect_none_missing(seen, expected, kind)
    saved = [name for name in seen.saved if name not in seen.shapes]
    _expect_buffers(seen, saved, buffers, kind)
    extra = [name for name in (*seen.shapes, *saved) if name not in expected and name not in buffers]
    if extra:
        fail(
            f"{kind} has {_few(extra)} in addition to the parameters that the task gives, so weights saved "
            f"from another {kind} will not load into it."
        )
    for name, (words, shape) in expected.items():
        if seen.shapes[name] != shape:
            fail(f"`{name}` has shape {seen.shapes[name]}; expected {words} = {shape}.")
        if name not in seen.trainable:
            fail(f"`{name}` does not require gradients, so an optimizer would never change it.")
    for names in seen.shared:
        fail(
            f"{_few(names)} share memory: what is written into one, by training or by `load_state_dict`, "
            "appears in the other. Create a separate tensor for each."
        )


def _expect_buffers(seen: Registered, saved: Collection[str], buffers: Collection[str], kind: str) -> None:
    """Fail where a module does not register all of these buffers, `saved` being the buffers that it has."""
    trained = [name for name in buffers if name in seen.shapes]
    if trained:
        fail(
            f"{_few(trained)} of {kind} must be registered as a buffer, not as a parameter: an optimizer "
            "changes whatever is among the parameters."
        )
    missing = [name for name in buffers if name not in saved]
    if missing:
        fail(
            f"{kind} has no buffer named {_few(missing)} when it is created. A plain tensor on `self` "
            "is left behind by `.to()` and by `state_dict()`. In `__init__`, register it as a buffer."
        )


def _expect_none_missing(seen: Registered, expected: Collection[str], kind: str) -> None:
    """Fail where a module does not register all of these parameters."""
    missing = [name for name in expected if name not in seen.shapes]
    unsaved = [name for name in missing if name not in seen.saved]
    if not missing:
        return
    missing = unsaved or missing  # the worst first
    parameters, them = ("parameter", "it") if len(missing) == 1 else ("parameters", "them")
    if not unsaved:
        fail(
            f"{kind} has no separate {parameters} named {_few(missing)}, although its `state_dict()` lists "
            f"{them}: a buffer is saved, but no optimizer trains it, and a second name for what is already "
            "there adds nothing. In `__init__`, make a separate "
            "`nn.Parameter`, or module, for each name."
        )
    if all("." in name for name in missing):
        fail(
            f"{kind} has no {parameters} named {_few(missing)}, so `state_dict()`, `.to()` and optimizers "
            f"cannot see {them}. The module that should hold {them} was created with other settings "
            "(without biases, or with fewer layers), is of another kind, is in a plain Python list, has "
            "another name, or is a second name for a module that is already there."
        )
    others = [name for name in seen.shapes if name not in expected]
    if others:
        fail(
            f"{kind} has no {parameters} named {_few(missing)}, but it has {_few(others)}. Assign each "
            "`nn.Parameter` to `self` under the name that the task gives, so that saved weights load into "
            "any such module."
        )
    told, lost = f"no {parameters} named {_few(missing)}", f"cannot see {them}"
    if not seen.shapes:
        told, lost = "no parameters at all", "find nothing"
    fail(
        f"{kind} has {told} when it is created, so `state_dict()`, `.to()` and optimizers {lost}. In "
        "`__init__`, assign a separate `nn.Parameter` to `self` under each name; a plain tensor, a "
        "buffer, a Python list or dict, or a second name for the same parameter does not count."
    )


def _few(names: Sequence[str], most: int = 12) -> str:
    """The names, or the first of them and how many more there are."""
    return (
        listed(names)
        if len(names) <= most
        else f"{', '.join(listed([n]) for n in names[:6])} and {len(names) - 6} more"
    )
