"""Runs a notebook's cells and writes its files: all that a worker without torch does."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace

from autograder.protocol import answers, messages
from autograder.worker.session.calls.limit import Limit
from autograder.worker.session.calls.printed import Printed


class Met:
    """A mark that is set when a disabled part of torch is called."""

    def __init__(self) -> None:
        self.any = False


met = Met()
"""The mark of this process."""


class Cells(Protocol):
    """Runs a notebook's cells."""

    def run(self, source: str, count: int | None = None) -> answers.CellRan:
        """Run one cell, the notebook's `count`th."""


class Answering:
    """Answers messages in their order; what is asked of objects is for an `Executor`, which has torch."""

    def __init__(
        self, namespace: dict[str, Any], limit: Limit | None = None, cells: Cells | None = None
    ) -> None:
        """`limit` is for where nobody outside sees to it that each call ends, `cells` for a worker."""
        self._namespace, self._limit, self._cells = namespace, limit, cells
        self._own: dict[str, Any] = {}
        """The tasks as their own cells made them, by name."""

    def answers_to(self, batch: Iterable[messages.AnyMessage]) -> Iterator[answers.AnyAnswer]:
        """Do one message for each answer that is asked for, up to the first that stops."""
        for message in batch:
            if not (isinstance(message, messages.RunCell) and message.added):
                self._namespace.update(self._own)
            if isinstance(message, messages.RunCell) and self._cells is not None:
                answer: answers.AnyAnswer = self._run(message, self._cells)
            elif isinstance(message, messages.WriteFile):
                answer = _write(message)
            else:
                with Printed() as printed:
                    work = partial(self._performed, message)
                    answer = work() if self._limit is None else self._limit.run(work)
                answer = replace(answer, printed=printed.text) if printed.text else answer
            yield answer
            if isinstance(answer, answers.Stop):
                return

    def _run(self, cell: messages.RunCell, cells: Cells) -> answers.CellRan:
        """Run a cell; of a task's own cell, keep what it makes of the task's name.

        An experiment further down may take the name; a helper that is put right there still counts.
        """
        nothing = object()
        before = self._namespace.get(cell.task, nothing)
        answer = cells.run(cell.source, cell.count)
        made = self._namespace.get(cell.task, nothing)
        if cell.task and made is not before:
            self._own.pop(cell.task, None)
            if made is not nothing:
                self._own[cell.task] = made
        return answer

    def _performed(self, message: messages.AnyMessage) -> answers.AnyAnswer:
        """Answer a message about the notebook's objects, which is for an `Executor`."""
        return answers.Refused(message=f"nobody here does {type(message).__name__}")


def _write(message: messages.WriteFile) -> answers.Done | answers.Refused:
    """Put a file, or its next part, into the working folder, which is the scratch folder."""
    try:
        Path(message.path).parent.mkdir(parents=True, exist_ok=True)
        with Path(message.path).open("ab" if message.continues else "wb") as file:
            file.write(base64.b64decode(message.content))
    except OSError as error:
        return answers.Refused(message=str(error))
    return answers.Done()
