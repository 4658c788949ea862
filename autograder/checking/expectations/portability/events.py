"""Events of a call on another device, in words: where it mixed devices, and where it left them.

Which line it was is the student's process's word.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.checking.expectations.values import fail
from autograder.checking.expectations.wording import capital
from autograder.checking.remote.handle import Handle
from autograder.checking.remote.observations import Elsewhere
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


FAULTS = ("hard-coded", "mixed", "written", "readback")
"""The kinds of events that cost the rule's points, those that stop a call first."""


def fail_at_event(events: Sequence[Event]) -> None:
    """Fail for the first fault that was seen."""
    for kind in FAULTS:
        for event in events:
            if event.kind == kind:
                fail(_words_for(event))


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
        case "written":
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
    raise AssertionError(f"{event.kind} is no fault")


def remark_on(target: Handle, events: Sequence[Event]) -> None:
    """Say once of numbers that Python reads what that does on a GPU; it costs nothing."""
    for kind, told in (
        ("numpy", "would stop on a GPU: numpy can read tensors on the CPU only. Write `.cpu()` before it."),
        ("sync", "reads a number, so Python waits for the GPU. Remove it once you trust the code."),
    ):
        seen = next((event for event in events if event.kind == kind), None)
        if seen is not None:
            target.remark(f"{capital(quoted(seen.line))} {told} It costs no points.")
            return


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
