"""Events of a call on another device, in words: where it mixed devices, and where it looked at numbers.

Which line it was is the student's process's word.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.checking.expectations.placed.looks import Again, counting
from autograder.checking.expectations.values import fail
from autograder.checking.expectations.wording import capital
from autograder.checking.remote.handle import Handle
from autograder.checking.remote.observations import Elsewhere, Placed
from autograder.protocol.events import Event, Line

WHERE = (
    "Create new tensors where the input is: torch's functions that create tensors take a `device`; a "
    "tensor's `new_…` methods and the `…_like` functions use that tensor's device."
)
"""The advice for a tensor that is made on the wrong device."""
REGISTER = (
    "A module's `.to()` moves what the module has registered: parameters, buffers and submodules. Anything "
    "in a Python list or dict, or a plain tensor in an attribute, is not registered."
)
"""The reason why a tensor of a module stays behind when the module is moved or converted."""


def judge_events(there: Placed, reads: bool, again: Again) -> list[Event]:
    """Fail for the first fault that was seen, those that stop a call before those that only cost time.

    Returns the looks at numbers that are none, because nothing that is returned depends on them.
    """
    order = ("hard-coded", "generator", "mixed")
    faults = [event for kind in order for event in there.events if event.kind == kind]
    looking = ["written", "readback"]
    if not reads:  # `kept[i] = loss` into a tensor on the CPU costs what `loss.item()` costs
        looking += ["number written", "sync", "shape"]
    looks = [event for kind in looking for event in there.events if event.kind == kind]
    if not faults and not is_beyond(there):
        # Of a call that does not end nothing is known but that it looked.
        found = looks[:1] if there.error is not None else [counting(looks, again)]
        faults = [event for event in found if event is not None]
    for event in faults:
        fail(_words_for(event))
    return looks


def _words_for(event: Event) -> str:
    """Return what is wrong at an event, and what to write instead."""
    line = quoted(event.line)
    made = quoted(event.made) if event.made else ""
    name = f"`{event.name}`" if event.name else "a tensor"
    match event.kind:
        case "hard-coded":
            return (
                f"{line} asks for the device `{event.operation}`, but the input may be on another one. Use "
                "the input's device (`x.device`), not a fixed one and not the best one there is."
            )
        case "generator":
            return (
                f"With the input on a GPU the call stops: {line} draws with a random generator on another "
                "device. Create the `torch.Generator` with the input's `device`, or draw on the "
                "generator's own device and move the result."
            )
        case "mixed" if is_held(event):
            origin = f" It was created by {made}." if made else ""
            return (
                f"{name} stays on the CPU when the module is moved with `.to(device)`, and {line} needs it "
                f"on the GPU.{origin} {REGISTER}"
            )
        case "mixed" if event.operation in ("_pack_padded_sequence", "_pad_packed_sequence"):
            return (
                f"{line} gets the lengths on the GPU. Packing needs them on the CPU; lengths, unlike data, "
                "may always be moved there."
            )
        case "mixed" if event.name and made == line:
            # A name that a line uses has its tensor from elsewhere, and no line that ran made it.
            return (
                f"With the input on a GPU the call stops: {line} mixes {name}, which came in on the CPU, "
                "with what is on the GPU. Move it to the GPU first, for example with `.to(x.device)`."
            )
        case "mixed":
            # Another cell has a name of its own for it.
            name = "a tensor" if isinstance(event.line, Elsewhere) else name
            origin = f"{made} creates {name} on the CPU" if made else f"{name} is on the CPU"
            needs = "and needs it" if made == line else f"and {line} needs it"
            comma = "" if made == line else ","
            moved = " Is it made from what came in on the CPU? Then move that, with `.to(x.device)`."
            return (
                f"With the input on a GPU the call stops: {origin}{comma} {needs} on the GPU. {WHERE}"
                f"{moved if made else ''}"
            )
        case "written" | "number written":
            origin = f", created by {made}," if made else ""
            return (
                f"{line} writes results from the GPU into {name}{origin} on the CPU: there is no error, "
                "but every such write waits for the GPU, and the numbers end up in the wrong place. "
                f"{WHERE}"
            )
        case "readback":
            return (
                f"{line} moves data from the GPU to the CPU, and what you return depends on it. Keep the "
                "work where the input is: which tensor operation can do this there?"
            )
        case "sync":
            return (
                f"{line} makes Python wait for the GPU, because it reads a number out of a tensor (`if`, "
                "`float()`, `.item()`, `.cpu()`), and what you return depends on it. Keep it a tensor: "
                "`torch.where`, masks and indexing need no Python number."
            )
        case "shape":
            return (
                f"{line} makes Python wait for the GPU: the size of the result of `{event.operation}` "
                "depends on numbers that only the GPU knows, and what you return depends on that result. "
                "`torch.where`, products with a mask and `masked_fill` keep a known shape."
            )
    raise AssertionError(f"{event.kind} is no fault")


def remark_on(target: Handle, looks: Sequence[Event]) -> None:
    """Say of looks that cost nothing what they would do on a GPU."""
    if not looks:
        return
    bare = next((event for event in looks if event.operation == "numpy"), None)
    if bare is not None:
        target.remark(
            f"{capital(quoted(bare.line))} would stop on a GPU: numpy can read tensors on the CPU only. "
            "Write `.cpu()` before it. What you return does not depend on it, so it costs no points."
        )
        return
    target.remark(
        f"{capital(quoted(looks[0].line))} looks at numbers, so Python waits for the GPU. What you return "
        "does not depend on it, so it costs no points. Remove it once you trust the code."
    )


def is_beyond(there: Placed) -> bool:
    """Return whether the call has come to the limits of what is pretended."""
    return any(event.kind == "beyond" for event in there.events)


def is_held(event: Event) -> bool:
    """Return whether the module has held the stray tensor since before the call, by any name.

    A tensor whose line is known although it was there before the call was made by the module's constructor.
    """
    return event.held and (event.name.startswith("self.") or event.made is not None)


def quoted(line: Line | None) -> str:
    """Return a line as it stands in a sentence: "line 7 (`x = 1`)"; it may be of another cell."""
    if line is None or not line.text:
        return "a line"
    where = " of another cell" if isinstance(line, Elsewhere) else ""
    return f"line {line.number}{where} (`{line.text}`)"
