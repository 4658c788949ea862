"""Expectations of a call on another device, and the words where they are not met.

On machines without a GPU the worker simulates one (worker/simulated/device.py). Values, shapes and dtypes
are judged here; where things ended up and what was seen on the way is the student's process's word.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from autograder.checking.expectations.comparing import TOLERANCE, agree
from autograder.checking.expectations.placed.calls import Arguments, cast, placed_in_turn
from autograder.checking.expectations.placed.events import REGISTER, WHERE, is_beyond, judge_events, remark_on
from autograder.checking.expectations.placed.near import expect_near, is_as_right
from autograder.checking.expectations.values import case, fail
from autograder.checking.expectations.wording import in_words
from autograder.checking.remote.errors import WorkerLost
from autograder.checking.remote.handle import Handle
from autograder.checking.remote.observations import Placed
from autograder.protocol.events import Event, Line
from autograder.protocol.looks import AS_IT_IS
from autograder.protocol.values import tensors_in

_CALLS = 4
"""Calls on a real GPU after the first, over which its memory is watched."""
_NOT_THE_STUDENTS = ("OutOfMemoryError", "AcceleratorError")
"""Exceptions of torch's when a GPU is full or has failed; the checks' tensors are small."""
_TORCHS_OWN = re.compile(
    r"Internal error|INTERNAL ASSERT FAILED|[Pp]lease (file an issue|report a bug to PyTorch)"
)


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
    right: Any = None,
) -> None:
    """Expect a call on another device to answer as on the CPU, there, and to take no way through the CPU.

    `target` is a function, or with `made_with` a class, and `arguments` are those of the call (a function
    that makes them anew, where there are modules among them: they stay moved). `names` are the results' names
    in order, nested ones flattened. `made_with` are the arguments that make the module to be called, `state`
    its parameters by name, `method` the method to be called. `device` is `"pretend"`, or a real one
    (`"cuda:1"`). `reads` allows numbers to be read from tensors (a loss as a float), or written one by one
    into a tensor on the CPU; lengths may always be read. `on_cpu` are the positions of arguments that stay on
    the CPU, from 0, `stays` the names of results that may. Without `gradients` there is no backward pass.
    `right` is the right answer, where it is known and the task gives right ones elsewhere: then the CPU has
    to give it here, too.

    Where the student's process has a real GPU, the call is made there as well, with cuDNN and without. Raises
    `CheckFailed` where the answer is not so, `StudentError` where the call stops.

        expect_device_neutral(submission.conv1d, (x, weight, bias), names="y")
        expect_device_neutral(submission.GRUCell, (x, h), made_with=(sizes.D, sizes.H), names="h_next")
        expect_device_neutral(submission.mean_of, (x, lengths), names="mean", on_cpu=(1,))
        expect_device_neutral(submission.encode, lambda: (given_anew(), x), names=("output", "h_n"))
    """
    names = (names,) if isinstance(names, str) else tuple(names)

    def calls(*ways: tuple[str, torch.dtype, bool], **more: Any) -> list[Placed]:
        made = [
            {
                "device": where,
                "dtype": dtype,
                "default_dtype": dtype,
                "made_with": made_with,
                "state": cast(dict(state), dtype) if state else None,
                "method": method,
                "on_cpu": tuple(on_cpu),
                "gradients": backward,
                **more,
            }
            for where, dtype, backward in ways
        ]
        return list(placed_in_turn(target, arguments, made))

    # A fault of another rule is not told again here: code may know one dtype only, or no gradients.
    ways = itertools.product((torch.float32, torch.float64), (True, False) if gradients else (False,))
    for way in ways:
        here, there = calls(("cpu", *way), (device, *way))
        if here.error is None:
            break
    if here.error is not None:
        raise here.error
    if right is not None:
        expect_near(here, right)
    if there.error is not None and way[1] and all(event.kind == "guard" for event in there.events):
        # Of overwritten numbers, gradients complain on some devices only: that is another rule's.
        way = (way[0], False)
        here, there = calls(("cpu", *way), (device, *way))
    # Torch gives up inside itself over some tensors that only pretend: nothing is known of a GPU then.
    looks: list[Event] = []
    if device != "pretend" or not _given_up(there):

        def again(way_to_answer: int, lines: Sequence[Line | None] | None) -> Placed:
            (seen,) = calls((device, *way), looks=(way_to_answer, lines))
            return seen

        looks = judge_events(there, reads, again)
        if not is_beyond(there):  # a GPU would not have stopped there
            is_steady = _all_alike(here, there) or _all_alike(here, *calls(("cpu", *way)))
            _expect_there(here, there, names, stays, values=is_steady, right=right)
        remark_on(target, looks)
    if device != "pretend" or not target.on_gpu:
        return
    # A GPU draws other random numbers than the CPU: what depends on them cannot be compared.
    (other,) = calls(("cpu", *way), call_seed=1)
    drawn = any(map(_differ, tensors_in(here.value), tensors_in(other.value)))
    # A look by numpy that is known to be one stops the call here no more than there.
    bare = {"looks": (AS_IT_IS, None)} if any(event.operation == "numpy" for event in looks) else {}
    for cudnn in (True, False):
        (there,) = calls(("cuda", *way), cudnn=cudnn, repeat=_CALLS, **bare)
        if bare and there.error is None:
            there = replace(there, value=there.value[0])
        if there.error is not None and there.error.type in _NOT_THE_STUDENTS:
            raise WorkerLost("infra_error", f"the GPU failed: {there.error.message}")
        with case("on a real GPU" if cudnn else "on a real GPU, without cuDNN"):
            _expect_there(here, there, names, stays, values=not drawn, right=right)
            _expect_flat(there.memory)


def _expect_there(
    here: Placed,
    there: Placed,
    names: Sequence[str],
    stays: Sequence[str],
    *,
    values: bool = True,
    right: Any = None,
) -> None:
    """A call on a device ended, moved all that moves, and answered there what it answers on the CPU.

    Without `values`, and under autocast, the two are not compared; where it is known, `right` still is.
    """
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
    if values:
        _expect_same_values(here, there, names)
    if right is not None and not is_as_right(there.value, right):
        fail(
            "With the input on a GPU the answer is not the right one, which it gives on the CPU. Does the "
            "code look at the device?"
        )
    if any(where != there.device for where in there.gradient_places):
        fail(
            "With the input on a GPU, a gradient comes back on the CPU. Does part of the computation "
            "happen there?"
        )


def _expect_flat(memory: Sequence[int]) -> None:
    """Calls after the first, which makes the libraries' workspaces, leave the GPU's memory as it was."""
    later = memory[1:]
    if len(later) > 1 and all(one < next_ for one, next_ in itertools.pairwise(later)):
        fail(
            f"Every call leaves {later[-1] - later[-2]} more bytes of the GPU's memory in use. What is "
            "kept from call to call, in a list, a dict or an attribute?"
        )


def _given_up(there: Placed) -> bool:
    """Return whether torch has stopped inside itself; code that raises its words has not met its limits."""
    guarded = any(event.kind == "guard" for event in there.events)
    return not guarded and there.error is not None and bool(_TORCHS_OWN.search(there.error.message))


def _expect_same_values(here: Placed, there: Placed, names: Sequence[str]) -> None:
    if any(event.kind == "autocast" for event in there.events):
        return  # the pretend device has no autocast: these are right, and not comparable
    if _all_alike(here, there):
        return
    if len(tensors_in(there.value)) < len(tensors_in(here.value)):
        fail(
            f"With the input on a GPU it returns {in_words(there.value)}, on the CPU {in_words(here.value)}. "
            "Does the code look at the device?"
        )
    values = list(zip(names, tensors_in(here.value), tensors_in(there.value), strict=False))
    for name, one, other in values:
        if _differ(other, one):
            fail(
                f"With the input on a GPU, `{name}` has different values than on the CPU. Does the code "
                "look at the device, or use memory that it never filled (`torch.empty`)?"
            )
    pairs = list(zip(here.inputs, there.inputs, strict=False))
    pairs += [(slope, there.parameters.get(name)) for name, slope in here.parameters.items()]
    for slope, moved in pairs:
        if slope is None and moved is None:
            continue
        if not isinstance(slope, torch.Tensor) or not isinstance(moved, torch.Tensor):
            fail(
                "With the input on a GPU, the gradients differ from those on the CPU: the graph is cut there."
            )
        if _differ(moved, slope):
            fail(
                "With the input on a GPU, the gradients differ from those on the CPU: the graph is cut there."
            )


def _all_alike(here: Placed, there: Placed) -> bool:
    """Return whether all results and gradients are there in both and the same, by one comparison."""
    every = [
        [*tensors_in(seen.value), *seen.inputs, *(seen.parameters.get(name) for name in here.parameters)]
        for seen in (there, here)
    ]
    pairs = list(itertools.zip_longest(*every))
    if not pairs or any(
        not isinstance(one, torch.Tensor)
        or not isinstance(other, torch.Tensor)
        or one.shape != other.shape
        or one.dtype is not other.dtype
        for one, other in pairs
    ):
        return False
    return agree(*zip(*pairs, strict=True), equal_nan=True)


def _differ(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two results differ; what is infinite, nan or complex in both is for other checks."""
    if one.shape != other.shape or one.dtype is not other.dtype:
        return True
    rtol, atol = TOLERANCE.get(other.dtype, (1e-4, 1e-5))
    return not torch.allclose(one, other, rtol, atol, equal_nan=True)
