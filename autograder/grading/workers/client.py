"""The trusted side's hold on one worker: asks it, ends it, and says how it was lost.

Nothing that a worker sends is believed: a frame is data or the worker is gone (`WorkerLost`).
"""

from __future__ import annotations

import json
import secrets
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from autograder.checking.remote.errors import WorkerLost
from autograder.protocol.answers import AnyAnswer, Late, Reply, Stop
from autograder.protocol.frames import WireError
from autograder.protocol.messages import AnyMessage, Batch
from autograder.protocol.stream import MOST, Stream, WireClosed, WireTimeout

NO_ANSWER = "Your code sent back something that is no answer, and was stopped."


class Worker:
    """One confined process with a student's code in it."""

    def __init__(self, data: socket.socket, control: socket.socket) -> None:
        self._stream, self._data, self._control = Stream(data), data, control
        self._stopped = False
        self.report: dict[str, Any] | None = None

    def perform(self, messages: Sequence[AnyMessage], seconds: float) -> list[AnyAnswer]:
        """Have messages performed and return the answers, up to the first that stopped.

        Raises `WorkerLost` when none come, in all these seconds, that can be read.
        """
        deadline = time.monotonic() + seconds
        # A thread of the student's may write whenever it likes; without this, one frame written in
        # between would answer the next question, and every answer after it the question after its own.
        number = secrets.randbits(62)
        answers: list[AnyAnswer] = []
        room = MOST
        try:
            self._stream.send(Batch(number, tuple(messages)), seconds)
            while len(answers) < len(messages) and not (answers and isinstance(answers[-1], Stop)):
                reply = self._stream.receive(Reply, max(0.01, deadline - time.monotonic()), room)
                room -= self._stream.received
                if reply.number != number or isinstance(reply.answer, Late):  # time is taken on this side
                    raise WireError("an answer to something else")
                answers.append(reply.answer)
            return answers
        except WireTimeout:
            self.end()
            raise WorkerLost(
                "timeout",
                f"Your code did not answer within {seconds:.0f} seconds and was stopped. Does a loop "
                "never end?",
            ) from None
        except WireError:
            self.end()
            raise WorkerLost("crashed", NO_ANSWER) from None
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
                    "out_of_memory",
                    "Your code used more memory than a submission may, and was stopped. Does a loop never "
                    "end, or is everything kept that it computes?",
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
