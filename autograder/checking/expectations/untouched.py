"""Things that a call must leave alone: its arguments, the modules among them, and torch's settings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import torch
from torch import nn

from autograder.checking.expectations.values import fail
from autograder.checking.remote.handle import Call, Handle
from autograder.checking.tolerance import identical
from autograder.protocol.values import tree_leaves

_SETTINGS = {
    "gradients": (
        "Your code switches gradients off and leaves them off: whatever is trained afterwards, anywhere in "
        "this notebook, learns nothing. `with torch.no_grad():` switches them on again at its end, "
        "`torch.set_grad_enabled(False)` by itself does not."
    ),
    "dtype": (
        "Your code changes torch's default dtype and does not change it back: every tensor created "
        "afterwards, anywhere in this notebook, gets another dtype. Pass a `dtype` to the tensors that you "
        "create, taken from a tensor you have."
    ),
    "device": (
        "Your code changes torch's default device and does not change it back: every tensor created "
        "afterwards, anywhere in this notebook, is on another device. Create new tensors from one that you "
        "have, or pass its device."
    ),
}
"""The words about torch's settings, by their names."""

_MODULES = {
    "mode": (
        "The call changes the mode of `{name}`. Training or evaluation is for the caller to choose, with "
        "`train()` and `eval()`."
    ),
    "settings": (
        "The call changes a setting of `{name}`, such as `batch_first` or `dropout`. It belongs to the "
        "caller, whose next call would compute something else."
    ),
    "trainable": (
        "The call changes which parameters of `{name}` require gradients, so an optimizer would train "
        "other parameters than the caller meant. Leave `requires_grad` alone."
    ),
    "gradients": (
        "The call changes the gradients that the parameters of `{name}` hold in `.grad`. They are the "
        "caller's, who may be adding them up over several batches."
    ),
}
"""The words about what a module carries besides its numbers."""


def expect_untouched(
    call: Call, arguments: Sequence[Any], names: Sequence[str], *, unjudged: Collection[str] = ()
) -> None:
    """Expect a call to have left its arguments as they were, modules among them, and torch's settings.

    `call` is what `run` returned, `arguments` those that it was made with, `names` theirs, in order.
    `unjudged` are kinds of things that a module may be left with: `"mode"`, `"settings"`, `"trainable"`,
    `"gradients"`. Its numbers are not looked at (`expect_weights_untouched` does). Raises `CheckFailed` for
    the first that is otherwise, `ValueError` unless there are as many names as arguments.

        expect_untouched(submission.gru_cell.run((x, h)), (x, h), ("x", "h"))
    """
    for name, before, after in zip(names, arguments, call.arguments, strict=True):
        for old, new in zip(tree_leaves(before), tree_leaves(after), strict=False):
            if isinstance(old, torch.Tensor) and not identical(old, new):
                fail(
                    f"The call changed its argument `{name}`, which belongs to the caller. Operations that "
                    "end in `_`, `+=` and assignments such as `x[...] = ` write into the tensor they are "
                    "given: make a new tensor instead."
                )
    for place, name in enumerate(names):
        expect_module_untouched(call, place, name, unjudged=unjudged)
    expect_settings_untouched(call)


def expect_module_untouched(call: Call, place: int, name: str, *, unjudged: Collection[str] = ()) -> None:
    """Expect the module at a place among a call's arguments to be as it was, but for its numbers.

    `place` counts from 0, `name` is the argument's; `unjudged` as for `expect_untouched`. Raises
    `CheckFailed` where its mode, its settings, what asks for gradients in it, or the gradients it holds are
    otherwise.

        call = submission.encode.run((x, given))
        expect_module_untouched(call, 1, "encoder")
    """
    for kind, said in _MODULES.items():
        if kind not in unjudged and (place, kind) in call.left:
            fail(said.format(name=name))


def expect_settings_untouched(call: Call) -> None:
    """Expect the check's calls so far to have left torch's settings: gradients on, default dtype and device.

    `call` is the last one. Raises `CheckFailed` for the first setting that is otherwise.

        expect_settings_untouched(submission.train_step.run((model, x)))
    """
    for setting, said in _SETTINGS.items():
        if setting in call.left:
            fail(said)


def expect_weights_untouched(given: Handle, module: nn.Module, name: str) -> None:
    """Expect what was handed over, a copy of a module, to have its weights still.

    `given` is the copy on the student's side, `module` the original, `name` the argument's. Raises
    `CheckFailed` for the first parameter or buffer with other numbers.

        given = submission.given("GRU", sizes.D, sizes.H, state=gru.state_dict())
        submission.encode(x, given)
        expect_weights_untouched(given, gru, "encoder")
    """
    after = given.state_dict()
    for parameter, value in module.state_dict().items():
        if not torch.equal(after[parameter], value):
            fail(f"The call changed `{name}.{parameter}`. Use the weights, but do not write into them.")


def expect_not_shared(before: torch.Tensor, after: torch.Tensor, name: str) -> None:
    """Expect a copy to be as it was although the original was changed.

    `before` and `after` are the copy's numbers before and after that, `name` its name. Raises `CheckFailed`
    where they differ.

        submission.copy_weights(cell, given)
        before = cell.state_dict()
        given.load_state_dict({name: 0 * value for name, value in gru.state_dict().items()})
        expect_not_shared(before["W"], cell.state_dict()["W"], "W")
    """
    if not identical(before, after):
        fail(
            f"`{name}` changed when the original was changed afterwards: the two share memory. Copy the "
            "numbers (`copy_`, `clone`), do not assign the tensor itself."
        )
