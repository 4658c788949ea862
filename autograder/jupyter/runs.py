"""The runs of a session's cells: a card is about what the task's cell says, not about what is in memory.

A name stays in memory when its cell is edited and then stops, or when the function is renamed. The runs tell
which version it is. A kernel is told the id of a cell by JupyterLab, Notebook 7 and VS Code (`cellId` in the
metadata of the request); nbclient and Colab tell none, and there the text of the cells is all there is.
"""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass
from typing import Any

from autograder.cell_source import bound_names, parse_cell

_KEPT = "_autograder_runs"
"""The attribute of the shell that holds its runs."""


@dataclass
class Run:
    """One run of a cell."""

    number: int
    """Its number, as in `In [7]`."""
    cell: str
    """The cell's id; `""` if the front end tells none."""
    source: str
    stopped: str = ""
    """The type and the line of the error that ended it, as "a NameError (line 3)"."""

    def defines(self, task: str) -> bool:
        """Return whether the cell's text defines the name, or would if it could be read."""
        tree = parse_cell(self.source)
        if tree is not None:
            return task in bound_names(tree.body)
        name = re.escape(task)
        sign = rf"^\s*(async\s+)?(def|class)\s+{name}\b|^{name}\s*(:[^=\n]+)?=[^=]"
        return re.search(sign, self.source, re.MULTILINE) is not None


@dataclass(frozen=True)
class Version:
    """The version of a task that is in memory."""

    stale: str = ""
    """The reason why it is not what the task's cell says; `""` if it is."""
    remark: str = ""
    """The run that it comes from, if a reader may doubt it."""


def watch(shell: Any) -> None:
    """Have a shell's runs kept from now on. Nothing happens where it is done already."""
    if shell is None or hasattr(shell, _KEPT):
        return
    runs: list[Run] = []
    setattr(shell, _KEPT, runs)

    def begin(info: Any) -> None:
        cell = getattr(info, "cell_id", None)
        # IPython counts up before this or behind it, from version to version: the result has the number.
        runs.append(Run(shell.execution_count, str(cell or ""), info.raw_cell))

    def end(result: Any) -> None:
        error = result.error_before_exec or result.error_in_exec
        if not runs or runs[-1].source != result.info.raw_cell:
            return
        runs[-1].number = result.execution_count or runs[-1].number
        if error is not None:
            runs[-1].stopped = _told(error)

    shell.events.register("pre_run_cell", begin)
    shell.events.register("post_run_cell", end)


def version(task: str, source: str, shell: Any) -> Version:
    """Return what the runs tell of a task in memory, which a cell with this text made (`""`: not known)."""
    runs: list[Run] = getattr(shell, _KEPT, [])
    defining = [run for run in runs if run.defines(task)]
    if not defining:
        return Version()
    there = task in shell.user_ns
    fits = (run for run in reversed(defining) if _is_text(run, source, shell))
    current = next(fits, None) if there else None
    last = defining[-1]
    if current is not None and current.cell:
        last = [run for run in runs if run.cell == current.cell][-1]
    if there and not last.stopped and last.defines(task):
        current = last  # as `step = my_step`, whose text is elsewhere
    if last is not current:
        before = " This card would be about the version before:" if there else ""
        if last.stopped:
            said = f"The last cell that defines `{task}` stopped with {last.stopped}.{before}"
            mend = " mend the cell, and run it again." if there else " Mend it, and run it again."
            return Version(stale=f"{said}{mend}")
        if current is not None:
            said = (
                f"The cell that defined `{task}` was run again, as [{last.number}], and does not define it."
            )
            return Version(stale=f"{said}{before} define `{task}`, and run the cell.")
    if current is None:
        return Version()
    if not current.cell:
        return Version(remark=f"`{task}` as run in [{current.number}].")
    first = defining[0]
    if first.cell not in ("", current.cell):
        said = f"This is `{task}` as run in [{current.number}], not in the cell of [{first.number}]."
        return Version(remark=f"{said} When graded, the version in the task's own cell counts.")
    return Version()


def _is_text(run: Run, source: str, shell: Any) -> bool:
    """Return whether a run made what has this source; without any, one that has not stopped."""
    if not source:
        return not run.stopped
    try:
        return bool(shell.transform_cell(run.source) == source)
    except SyntaxError:
        return False


def _told(error: BaseException) -> str:
    name = type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.name == "<module>"]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    article = "an" if name[:1] in "AEIOU" else "a"
    return f"{article} {name} (line {line})" if line else f"{article} {name}"
