"""The points of a notebook so far, as the student's own checks have shown them, and the list of its tasks."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.cards.card import framed, more_at_grading, points
from autograder.cards.colours import PASSED, TO_DO, WAITING, chip, marked


@dataclass(frozen=True)
class TaskSoFar:
    """A task, with what is known of it in this session."""

    task: str
    about: str
    """The description of the task, in a line."""
    max_score: float
    only_graded: float = 0.0
    """The points of its checks that run at grading only."""
    earned: float | None = None
    """The points of its last check; `None` if it has not been checked."""
    changed: bool = False
    """True if the task's cell has changed since."""
    effort: str = ""
    """Its stars and minutes, as "★★, 12 minutes"; `""` where they are not known."""


def progress_line(tasks: Sequence[TaskSoFar]) -> str:
    """One sentence on all tasks of a notebook, as "`a` 2/2, `b` not checked yet. 2 of 4 points so far."."""
    said = [f"`{task.task}` {_last_points(task)}" for task in tasks if task.earned is not None]
    new = [f"`{task.task}`" for task in tasks if task.earned is None]
    if new:
        said.append(f"{' and '.join(filter(None, [', '.join(new[:-1]), new[-1]]))} not checked yet")
    return f"This notebook so far: {', '.join(said)}. {_sum(tasks)}"


def progress_text(notebook: str, tasks: Sequence[TaskSoFar]) -> str:
    """The list of tasks for a terminal."""
    lines = [f"{notebook}: {_sum(tasks)}"]
    for task in tasks:
        sign, word, _ = _state(task)
        lines += [f"  {sign} {task.task}: {word}, {_points(task)}", f"    {task.about}"]
        lines += [f'    To check it, run check("{task.task}")']
    return "\n".join(line for line in lines if line.strip())


def progress_html(notebook: str, tasks: Sequence[TaskSoFar]) -> str:
    """The list of tasks for a page."""
    rows = []
    for task in tasks:
        sign, word, ground = _state(task)
        call = html.escape(f'check("{task.task}")', quote=False)
        rows.append(
            f'<div style="margin:.5em 0">{chip(f"{sign} {word}", ground)} '
            f"<strong>{html.escape(task.task)}</strong> ({_points(task)}), <code>{call}</code>"
            f'<div style="margin:.1em 0 .1em 1.4em">{marked(task.about)}</div></div>'
        )
    head = f"<strong>{html.escape(notebook)}</strong>: {_sum(tasks)}"
    inside = f'<p style="margin:0 0 .4em 0">{head}</p>{"".join(rows)}'
    finished = all(_state(task)[0] == "✓" for task in tasks)
    return framed(f"Tasks of {notebook}", PASSED if finished else TO_DO, inside)


def _sum(tasks: Sequence[TaskSoFar]) -> str:
    earned = sum(task.earned or 0.0 for task in tasks if not task.changed)
    unseen = sum(task.only_graded for task in tasks)
    most = sum(task.max_score for task in tasks) - unseen
    return f"{points(earned)} of {points(most)} points so far{more_at_grading(unseen)}."


def _last_points(task: TaskSoFar) -> str:
    if task.changed:
        return "changed since its check"
    most = task.max_score - task.only_graded
    return f"{points(task.earned or 0.0)}/{points(most)}" if most else "answered"


def _points(task: TaskSoFar) -> str:
    most = task.max_score - task.only_graded
    if task.earned is None or task.changed:
        return f"{points(task.max_score)} points{task.effort and f', {task.effort}'}"
    if not most:
        return f"{points(task.only_graded)} points at grading"
    return f"{points(task.earned)} of {points(most)} points{more_at_grading(task.only_graded)}"


def _state(task: TaskSoFar) -> tuple[str, str, str]:
    """The sign, the word and the ground for the state of a task."""
    if task.earned is None:
        return "–", "not checked yet", WAITING
    if task.changed:
        return "?", "changed since its check", WAITING
    if task.max_score == task.only_graded:
        return "✓", "answered", WAITING
    if task.earned >= task.max_score - task.only_graded:
        return "✓", "everything holds", PASSED
    return "✗", "not finished", TO_DO
