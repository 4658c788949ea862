"""Expectations of a call on another device.

On machines without a GPU the worker simulates one (worker/portability). Where things ended up and what was
seen on the way is the student's process's word.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from autograder.checking.expectations.portability.calls import Arguments, cast, probe_in_turn
from autograder.checking.expectations.portability.events import (
    FAULTS,
    REGISTER,
    WHERE,
    fail_at_event,
    remark_on,
)
from autograder.checking.expectations.values import case, fail
from autograder.checking.remote.errors import StudentError, WorkerLost
from autograder.checking.remote.handle import Handle
from autograder.checking.remote.observations import Probed

_NOT_THE_STUDENTS = ("OutOfMemoryError", "AcceleratorError")
"""Exceptions of torch's when a GPU is full or has failed; the checks' tensors are small."""


def expect_device_neutral(
    target: Handle,
    arguments: Arguments,
    *,
    names: str | Sequence[str],
    made_with: tuple[Any, ...] | None = None,
    state: Mapping[str, torch.Tensor] | None = None,
    method: str | None = None,
    device: str = "pretend",
    reads: bool = False,
    on_cpu: Sequence[int] = (),
    stays: Sequence[str] = (),
    gradients: bool = True,
) -> None:
    """Expect a call on another device to answer there, and to take no way through the CPU.

    `target` is a function, or with `made_with` a class, and `arguments` are those of the call (a function
    that makes them anew, where there are modules among them: they stay moved). `names` are the results' names
    in order, nested ones flattened. `made_with` are the arguments that make the module to be called, `state`
    its parameters by name, `method` the method to be called. `device` is `"pretend"`, or a real one
    (`"cuda:1"`). `on_cpu` are the positions of arguments that stay on the CPU, from 0, `stays` the names of
    results that may. Without `gradients` there is no backward pass. Numbers that Python reads cost nothing;
    `reads`, which once allowed them, has no effect.

    Where the student's process has a real GPU, the call is made there as well. Raises `CheckFailed` where the
    answer is not so, `StudentError` where the call stops.

        expect_device_neutral(submission.conv1d, (x, weight, bias), names="y")
        expect_device_neutral(submission.GRUCell, (x, h), made_with=(sizes.D, sizes.H), names="h_next")
        expect_device_neutral(submission.mean_of, (x, lengths), names="mean", on_cpu=(1,))
        expect_device_neutral(submission.encode, lambda: (given_anew(), x), names=("output", "h_n"))
    """
    names = (names,) if isinstance(names, str) else tuple(names)

    def call(where: str, dtype: torch.dtype, backward: bool) -> Probed:
        way = {
            "device": where,
            "dtype": dtype,
            "default_dtype": dtype,
            "made_with": made_with,
            "state": cast(dict(state), dtype) if state else None,
            "method": method,
            "on_cpu": tuple(on_cpu),
            "gradients": backward,
        }
        return next(probe_in_turn(target, arguments, [way]))

    # A fault of another rule is not told again here: code may know one dtype only, or no gradients.
    error: StudentError | None = None
    for way in itertools.product((torch.float32, torch.float64), (True, False) if gradients else (False,)):
        there = call(device, *way)
        if there.error is None or any(event.kind in FAULTS for event in there.events):
            break
        error = call("cpu", *way).error
        if error is None and not way[1]:  # of overwritten numbers, gradients complain on some devices only
            break
    else:
        assert error is not None
        raise error
    fail_at_event(there.events)
    if not any(event.kind == "beyond" for event in there.events):  # a GPU would not have stopped there
        _expect_there(there, names, stays)
    remark_on(target, there.events)
    if device == "pretend" and target.on_gpu:
        there = call("cuda", *way)
        if there.error is not None and there.error.type in _NOT_THE_STUDENTS:
            raise WorkerLost("infra_error", f"the GPU failed: {there.error.message}")
        with case("on a real GPU"):
            _expect_there(there, names, stays)


def _expect_there(there: Probed, names: Sequence[str], stays: Sequence[str]) -> None:
    """Expect a call on a device to end, to have moved all that moves, and to answer there."""
    if there.error is not None:
        with case("on another device (a GPU)"):
            raise there.error
    if there.stayed:
        fail(
            f"`{there.stayed[0]}` stays on the CPU when the module is moved with `.to(device)`. {REGISTER} "
            "If you wrote your own `to` or `_apply`, it must move everything."
        )
    for name, where in zip(names, there.places, strict=False):
        if where != there.device and name not in stays:
            fail(
                f"With the input on a GPU, `{name}` comes back on the {where.upper()}: a result belongs "
                f"where the input is. Follow `{name}` back to where it was created. {WHERE}"
            )
    if any(where != there.device for where in there.gradient_places):
        fail(
            "With the input on a GPU, a gradient comes back on the CPU. Does part of the computation "
            "happen there?"
        )
