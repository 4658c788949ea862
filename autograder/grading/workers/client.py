"""The trusted side's hold on one worker: asks it, ends it, and says how it was lost.

Nothing that a worker sends is believed: a frame is data or the worker is gone (`WorkerLost`).
"""

from __future__ import annotations

import json
import secrets
import socket
import time
from contextlib import suppress
from typing import Any

from autograder.checking.remote.errors import WorkerLost
from autograder.protocol.stream import Stream, WireClosed, WireTimeout
from autograder.protocol.tensors import WireError

MAX_PRINTED = 10_000
"""Characters of what one call printed; the worker keeps fewer, unless a student has replaced what does."""


class Worker:
    """One confined process with a student's code in it."""

    def __init__(self, data: socket.socket, control: socket.socket) -> None:
        self._stream, self._data, self._control = Stream(data), data, control
        self._stopped = False
        self.report: dict[str, Any] | None = None

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request and return the answer; `WorkerLost` when none comes that can be read.

        Exceptions in the answer, `raised` and `error`, have the shape that `describe_exception` gives them.
        """
        started = time.monotonic()
        # A thread of the student's may write whenever it likes; without this, one frame written in
        # between would answer the next question, and every answer after it the question after its own.
        number = secrets.randbits(62)
        try:
            self._stream.send({**request, "number": number}, seconds)
            answer = self._stream.receive(max(0.01, seconds - (time.monotonic() - started)))
            if answer.pop("number", None) != number:
                raise WireError("an answer to something else")
            return _read(answer)
        except WireTimeout:
            self.end()
            raise WorkerLost(
                "timeout", f"Your code did not answer within {seconds:.0f} seconds and was stopped."
            ) from None
        except WireError:
            self.end()
            raise WorkerLost(
                "crashed", "Your code sent back something that is no answer, and was stopped."
            ) from None
        except WireClosed:
            self.end()
            raise self._lost() from None

    def stop(self) -> None:
        """Have everything that is left of it killed, and wait for nothing."""
        if self._stopped:
            return
        self._stopped = True
        self._control.settimeout(10)
        with suppress(OSError):
            self._control.send(json.dumps({"do": "kill"}).encode())

    def end(self) -> None:
        """Kill everything that is left of it and read how it ended."""
        if self._control.fileno() < 0:
            return
        self.stop()
        # A supervisor that ended by itself leaves our message unread: that is told first, its own word after.
        for _ in range(2):
            try:
                self.report = json.loads(self._control.recv(1 << 16) or b"{}")
                break
            except ConnectionResetError:
                continue
            except (OSError, ValueError):
                break
        self._control.close()
        self._data.close()

    def _lost(self) -> WorkerLost:
        match (self.report or {}).get("exit"):
            case "memory":
                return WorkerLost(
                    "out_of_memory", "Your code used more memory than a submission may, and was stopped."
                )
            case "refused":
                return WorkerLost(
                    "infra_error", f"The confinement failed: {(self.report or {}).get('message', '')}"
                )
            case None:
                return WorkerLost("infra_error", "The worker could not be started.")
        return WorkerLost(
            "crashed",
            "Your code ended the process it ran in (for example with `exit()` or a crash in a library).",
        )


def _read(answer: Any) -> dict[str, Any]:
    """An answer with its exceptions in their shape, and so for each of the answers to several requests."""
    if not isinstance(answer, dict):
        raise WireError("not an answer")
    read = {key: _exception(it) if key in ("raised", "error") else it for key, it in answer.items()}
    read.pop("late", None)  # time is taken on this side
    if "printed" in read:
        told = read["printed"]
        read["printed"] = told[:MAX_PRINTED] if isinstance(told, str) else ""
    if "each" in read:
        if not isinstance(read["each"], list):
            raise WireError("not several answers")
        read["each"] = [_read(each) for each in read["each"]]
    return read


def _exception(told: Any) -> dict[str, Any] | None:
    """An exception as the worker tells it, field by field, in lengths that a person reads."""
    if told is None:
        return None
    told = told if isinstance(told, dict) else {}
    lines = told.get("lines")
    return {
        "type": plain_text(told.get("type"), 100) or "Exception",
        "message": plain_text(told.get("message"), 2000),
        "lines": [plain_text(line, 300) for line in (lines if isinstance(lines, list) else [])[-5:]],
    }


def plain_text(told: Any, length: int) -> str:
    """At most `length` characters of a text, without those that steer a terminal; `""` for anything else."""
    if not isinstance(told, str):
        return ""
    kept = "".join(c for c in told[:length] if c.isprintable() or c in "\n\t")
    return kept if len(told) <= length else f"{kept} …"
