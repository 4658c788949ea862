"""The card under a check: what was asked, how it went, the first thing to fix on top.

One card for the student's notebook and for the feedback pages; plain HTML without scripts, with
colours that inherit the page's, and the same in text for terminals and screen readers.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from autograder.grading.verdict import NOT_WRITTEN, CheckVerdict, TaskVerdict

_SIGNS = {"passed": "✓", "failed": "✗", "error": "✗", "timeout": "✗", "crashed": "✗", "skipped": "–"}
_WORDS = {
    "passed": "passed",
    "failed": "not yet",
    "error": "stopped with an error",
    "timeout": "took too long",
    "crashed": "ended its process",
    "skipped": "not judged yet",
}
_KNOWN = "A known mistake answers just like this:"
_COLOURS = {"passed": "#1a7f37", "skipped": "#6e7781"}
_WRONG = "#cf222e"


def as_student_sees(check: CheckVerdict) -> CheckVerdict:
    """A hidden check without its title and message."""
    if check.instead is None:
        return check
    message = "" if check.outcome in ("passed", "skipped") else "What this looks at is not shown."
    return replace(check, title=check.instead, message=message, diagnosis=None)


def card_text(task: TaskVerdict, note: str = "") -> str:
    """The card for a terminal."""
    checks = [as_student_sees(check) for check in task.checks]
    lines = [_headline(task, checks)]
    for check in _first_to_fix(checks):
        lines += [f"  ✗ {check.title}", *(f"    {line}" for line in check.message.splitlines())]
        lines += [f"    {_KNOWN} {hint}" for hint in _hint(check)]
    rest = [check for check in checks if check not in _first_to_fix(checks)]
    lines += [f"  {_SIGNS[check.outcome]} {check.title}{_dots(check)}" for check in rest]
    return "\n".join([*lines, *([f"  {note}"] if note else [])])


def card_html(task: TaskVerdict, note: str = "") -> str:
    """The card for a page."""
    checks = [as_student_sees(check) for check in task.checks]
    first = _first_to_fix(checks)
    rest = [check for check in checks if check not in first]
    parts = [f'<p style="margin:0 0 .4em 0"><strong>{marked(_headline(task, checks))}</strong></p>']
    parts += [_row(check, open_message=True) for check in first]
    if rest:
        folded = "".join(_row(check, open_message=False) for check in rest)
        done = sum(check.outcome == "passed" for check in rest)
        summary = f"{done} of {len(rest)} {'other ' if first else ''}checks passed"
        parts.append(
            f'<details{"" if first else " open"}><summary style="cursor:pointer">{summary}</summary>'
            f"{folded}</details>"
        )
    if note:
        parts.append(f'<p style="margin:.4em 0 0 0;opacity:.8">{marked(note)}</p>')
    colour = _WRONG if first else _COLOURS["passed"] if task.checks else _COLOURS["skipped"]
    return (
        f'<div role="group" aria-label="Checks of {html.escape(task.task)}" '
        f'style="border-left:4px solid {colour};padding:.4em 0 .4em .8em;margin:.2em 0;'
        f'max-width:60em;line-height:1.45">{"".join(parts)}</div>'
    )


def task_outputs(task: TaskVerdict, note: str = "") -> list[dict[str, Any]]:
    """A graded check cell's outputs: the card, then the score in the form nbgrader reads."""
    card = {"text/html": card_html(task, note), "text/plain": card_text(task, note)}
    score = {"text/plain": repr(float(task.score))}
    return [
        {"output_type": "display_data", "data": card, "metadata": {}},
        {"output_type": "execute_result", "data": score, "metadata": {}, "execution_count": None},
    ]


def points(value: float) -> str:
    """`2.5` as "2.5", `2.0` as "2"."""
    return f"{value:g}"


def marked(text: str) -> str:
    """Text escaped for a page, with its `code` set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))


def _headline(task: TaskVerdict, checks: Sequence[CheckVerdict]) -> str:
    of = f"{points(task.score)} of {points(task.max_score)} points"
    if not checks:
        return f"{task.task}: {of}"
    wrong = len(_first_to_fix(checks))
    if not wrong:
        return f"{task.task}: {of}, everything holds" if task.max_score else f"{task.task}: everything holds"
    if any(NOT_WRITTEN in check.message for check in checks):
        return f"{task.task}: {of}, still to do"
    return f"{task.task}: {of}"


def _first_to_fix(checks: Sequence[CheckVerdict]) -> list[CheckVerdict]:
    """The first check that needs work, if any; those that wait for it are not to be fixed themselves."""
    return [check for check in checks if check.outcome not in ("passed", "skipped")][:1]


def _row(check: CheckVerdict, *, open_message: bool) -> str:
    colour = _COLOURS.get(check.outcome, _WRONG)
    sign = f'<span style="color:{colour}" aria-hidden="true">{_SIGNS[check.outcome]}</span>'
    title = f"{sign} {marked(check.title)}"
    word = f' <span style="opacity:.8">({_WORDS[check.outcome]}{_worth(check)})</span>'
    message = (
        f'<div style="margin:.2em 0 .4em 1.4em">{marked(check.message)}</div>'
        if check.message and check.outcome != "skipped"
        else ""
    )
    if open_message:
        message += "".join(_hint_row(hint) for hint in _hint(check))
    weight = "font-weight:600" if open_message else ""
    return f'<div style="margin:.2em 0"><span style="{weight}">{title}</span>{word}{message}</div>'


def _hint(check: CheckVerdict) -> list[str]:
    """The hint of the mistake that explains the check, if one does."""
    return [check.diagnosis["hint"]] if check.diagnosis else []


def _hint_row(hint: str) -> str:
    return (
        '<div style="margin:.2em 0 .4em 1.4em;padding-left:.6em;border-left:2px solid currentColor">'
        f"<em>{_KNOWN}</em> {marked(hint)}</div>"
    )


def _worth(check: CheckVerdict) -> str:
    return f", {points(check.points)} of {points(check.max_points)} points" if check.max_points else ""


def _dots(check: CheckVerdict) -> str:
    return f": {check.message}" if check.message and check.outcome not in ("passed", "skipped") else ""
