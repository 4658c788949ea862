"""The card under a check: what was asked, how it went, the first thing to fix on top, the rest folded.

One card for the student's notebook and for the feedback pages: plain HTML without scripts or style
sheets, in the page's own colours but for what stands on a ground (see `colours`), and the same in text
for terminals. Both are complete: what a picture shows is said in words as well.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from textwrap import TextWrapper
from typing import Any

from msgspec.structs import replace

from autograder.cards.colours import PASSED, TO_DO, WAITING, WRONG, chip, dimension, marked
from autograder.cards.picture import picture_html, picture_text, picture_words
from autograder.checking.explain.evidence import Prints, Shape, shapes_told
from autograder.verdict import CheckVerdict, TaskVerdict

_SIGNS = {
    "passed": "✓",
    "failed": "✗",
    "error": "✗",
    "timeout": "✗",
    "crashed": "✗",
    "skipped": "–",
    "fault": "!",
}
_WORDS = {
    "passed": "passed",
    "failed": "failed",
    "error": "stopped with an error",
    "timeout": "took too long",
    "crashed": "crashed",
    "skipped": "not judged",
    "fault": "fault of the check",
}
_UNWRITTEN = "to do"
_PRINTED = "Printed in this call,"
_KNOWN = "Your answers are exactly those of a common mistake:"
_DONE = ("passed", "skipped")


def as_student_sees(check: CheckVerdict) -> CheckVerdict:
    """Return the check as the student sees it: a hidden one without all that tells what it looks at."""
    if not check.hidden:
        return check
    message = "" if check.outcome in _DONE else "What this check tests is not shown."
    if check.fault is not None:
        message = check.message  # it tells nothing of what the check looks at
    return replace(check.saying(message), title=check.instead, diagnosis=None)


def card_text(task: TaskVerdict, *notes: str) -> str:
    """The card for a terminal; `notes` are sentences below it."""
    first, rest = _in_order(task)
    lines = [_headline(task), *_first_lines(first)]
    lines += [f"    {line}" for check in first for line in _printed(check)]
    lines += _fault_lines(task)
    for check in rest:
        lines += [f"  {_SIGNS[check.outcome]} {check.title} ({_words(check)})"]
        if check.outcome != "skipped":
            lines += [f"    {line}" for line in (*check.message.splitlines(), *_printed(check))]
    return "\n".join([*lines, *(f"  {note}" for note in _sentences_below(task, notes))])


def card_brief(task: TaskVerdict, width: int) -> str:
    """The card in brief, in lines of `width`: the check to fix first, and a summary of the others."""
    first, rest = _in_order(task)
    lines = [_headline(task), *_first_lines(first), *_fault_lines(task)]
    lines += [f"  {_summary(first, rest)}."] if rest else []
    return "\n".join(broken for line in lines for broken in _wrapped(line, width))


def card_html(task: TaskVerdict, *notes: str) -> str:
    """The card for a page; `notes` are sentences below it."""
    first, rest = _in_order(task)
    parts = [f'<p style="margin:0 0 .4em 0"><strong>{marked(_headline(task))}</strong></p>']
    parts += [_first_row(check) for check in first]
    parts += [_fault_row(check) for check in _faulty(task)]
    if rest:
        rows = "".join(_row(check) for check in rest)
        # Said outright, because the feedback page's sheet takes the mark that it can be opened away.
        summary = f'<summary style="cursor:pointer;display:list-item">{_summary(first, rest)}</summary>'
        parts.append(f'<details style="margin:.4em 0 0 0">{summary}{rows}</details>')
    parts += [f'<p style="margin:.4em 0 0 0">{marked(note)}</p>' for note in _sentences_below(task, notes)]
    return framed(f"Checks of {task.task}", _edge(task), "".join(parts))


def framed(label: str, edge: str, inside: str) -> str:
    """A card's frame; `label` is its name for a screen reader."""
    return (
        f'<div role="group" aria-label="{html.escape(label)}" style="border-left:4px solid {edge};'
        f'padding:.4em 0 .4em .8em;margin:.2em 0;max-width:60em;line-height:1.5">{inside}</div>'
    )


def task_outputs(task: TaskVerdict) -> list[dict[str, Any]]:
    """A graded check cell's output: the card, and as its plain text the score, which nbgrader reads there.

    In an output of its own the score would be seen, too: below the card, and beside a person's points.
    """
    return _scored(card_html(task, task.note), task.score)


def unjudged_outputs(task: str) -> list[dict[str, Any]]:
    """A check cell's output where nothing could be judged: no score is shown, and nbgrader reads 0.0."""
    return _scored(not_judged(task, "See the top of this page."), 0.0)


def not_judged(task: str, why: str) -> str:
    """The card of a task that is not judged, for a page."""
    head = f'<p style="margin:0 0 .4em 0"><strong>{marked(task)}: not judged</strong></p>'
    return framed(f"Checks of {task}", WAITING, f"{head}{_paragraph(marked(why))}")


def _scored(page: str, score: float) -> list[dict[str, Any]]:
    data = {"text/html": page, "text/plain": repr(float(score))}
    return [{"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}]


def points(value: float) -> str:
    """Return points as text: `2.5` as "2.5", `2.0` as "2"."""
    return f"{value:g}"


def more_at_grading(unseen: float) -> str:
    """Return a clause that tells how many points a notebook does not show."""
    return f"; {points(unseen)} more at grading" if unseen else ""


def unwritten(task: TaskVerdict) -> bool:
    """Return whether the task still is as it was released."""
    return any(check.unwritten for check in task.checks)


def _in_order(task: TaskVerdict) -> tuple[list[CheckVerdict], list[CheckVerdict]]:
    """The first check that needs work, if any, and all others, each as the student sees it.

    A check that waits for another one is not to be fixed itself. One with a fault is in neither list.
    """
    first = task.first_to_read if not task.waits_for else None
    others = [check for check in task.checks if check.outcome != "fault" and check is not first]
    return [as_student_sees(first)] if first else [], list(map(as_student_sees, others))


def _faulty(task: TaskVerdict) -> list[CheckVerdict]:
    """The checks that have a fault of their own, as the student sees them."""
    return [as_student_sees(check) for check in task.checks if check.outcome == "fault"]


def _fault_lines(task: TaskVerdict) -> list[str]:
    """The checks with faults as lines of text, which are always shown: somebody must hear of them."""
    lines: list[str] = []
    for check in _faulty(task):
        lines += [
            f"  {_SIGNS[check.outcome]} {check.title} ({_WORDS[check.outcome]})",
            f"    {check.message}",
        ]
    return lines


def _fault_row(check: CheckVerdict) -> str:
    """The row of a check with a fault of its own: not red, since the student has nothing to mend."""
    return (
        f'<div style="margin:.2em 0">{chip(f"{_SIGNS[check.outcome]} {_WORDS[check.outcome]}", WAITING)} '
        f"<strong>{marked(check.title)}</strong>{_paragraph(marked(check.message))}</div>"
    )


def _first_lines(first: Sequence[CheckVerdict]) -> list[str]:
    """The check to fix first as lines of text, with all that is known about it."""
    lines: list[str] = []
    for check in first:
        lines += [f"  {'○' if check.unwritten else '✗'} {check.title} ({_words(check)})"]
        lines += [f"    {line}" for line in check.message.splitlines()]
        if check.difference:
            drawn = picture_text(check.difference)
            lines += [f"    {line}" for line in [*drawn, picture_words(check.difference)]]
        lines += [f"    {_KNOWN} {hint}" for hint in _hint(check)]
    return lines


def _wrapped(line: str, width: int) -> list[str]:
    """A line wrapped at `width`, its indentation kept in every part; a longer word stays whole."""
    margin = line[: len(line) - len(line.lstrip())]
    if len(line) <= width:
        return [line]
    wrapper = TextWrapper(width, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False)
    return wrapper.wrap(line)


def _headline(task: TaskVerdict) -> str:
    of = f"{task.task}: {points(task.score)} of {points(task.max_score)} points"
    more = more_at_grading(task.only_graded)
    if not task.checks:
        return of + more
    if task.waits_for:
        return f"{of} so far, open{more}" if task.score else f"{task.task}: open"
    if _faulty(task) and _nothing_to_do(task):
        return f"{of}; not everything could be judged{more}"
    if all(check.outcome in _DONE for check in task.checks):
        if task.max_score:
            return f"{of}, everything holds{more}"
        told = f"answered, {points(task.only_graded)} points at grading" if more else "everything holds"
        return f"{task.task}: {told}"
    return f"{of}, still to do{more}" if unwritten(task) else of + more


def _sentences_below(task: TaskVerdict, notes: Sequence[str]) -> list[str]:
    """The sentences below the card: why points are missing though all their checks passed, then `notes`."""
    why = "Half a point is kept back until every check passes, including those without points of their own."
    said = [why] if task.kept_back else []
    if task.waits_for:
        names = " and ".join(f"`{name}`" for name in task.waits_for)
        verb = "does" if len(task.waits_for) == 1 else "do"
        said.append(
            f"{names} {verb} not hold yet, and what is open here may follow from that. If it does, it costs "
            "nothing here when graded."
        )
    said += [
        f"Another common mistake shows in the check “{check.title}”: read its hint, too."
        for check in _second_hint(task)
    ]
    return said + [note for note in notes if note]


def _second_hint(task: TaskVerdict) -> list[CheckVerdict]:
    """Return the first check that another known mistake explains than the check on top, in a list."""
    shown = [as_student_sees(check) for check in (task.first_to_read, *task.checks) if check is not None]
    named = [check for check in shown if check.diagnosis is not None]
    if not named or named[0].check != shown[0].check:
        return []
    mistakes = [check.diagnosis and check.diagnosis.mistake for check in named]
    return [check for check, mistake in zip(named, mistakes, strict=True) if mistake != mistakes[0]][:1]


def _nothing_to_do(task: TaskVerdict) -> bool:
    """Return whether no check found anything to mend."""
    return all(check.outcome in (*_DONE, "fault") for check in task.checks)


def _edge(task: TaskVerdict) -> str:
    """The colour of the card's edge; its headline says the same."""
    if not task.checks or task.waits_for or (_faulty(task) and _nothing_to_do(task)):
        return WAITING
    if all(check.outcome in _DONE for check in task.checks):
        return PASSED if task.max_score or not task.only_graded else WAITING
    return TO_DO if unwritten(task) else WRONG


def _summary(first: Sequence[CheckVerdict], rest: Sequence[CheckVerdict]) -> str:
    """A summary of the folded checks: how many passed, need work or are not judged."""
    waiting = sum(check.outcome == "skipped" for check in rest)
    passed = sum(check.outcome == "passed" for check in rest)
    more = len(rest) - waiting - passed
    if not first and not more:
        return "The one check passed" if len(rest) == 1 else f"All {len(rest)} checks passed"
    if not first:
        return f"{len(rest)} checks: {passed} passed, {more + waiting} open"
    if passed == len(rest):
        return f"{passed} other check{'s' if passed > 1 else ''} passed"
    told = [f"{passed} passed"] if passed else []
    told += [f"{more} more to look at after this one"] if more else []
    told += [f"{waiting} not judged"] if waiting else []
    return f"{len(rest)} other check{'s' if len(rest) > 1 else ''}: {', '.join(told)}"


def _first_row(check: CheckVerdict) -> str:
    """The row of the check to fix first, with all that is known about it."""
    sign, word, ground = (
        ("○", _UNWRITTEN, TO_DO) if check.unwritten else (_SIGNS[check.outcome], _WORDS[check.outcome], WRONG)
    )
    return (
        f'<div style="margin:.2em 0">{chip(f"{sign} {word}", ground)} '
        f"<strong>{marked(check.title)}</strong>{_worth(check)}{_evidence_html(check)}</div>"
    )


def _row(check: CheckVerdict) -> str:
    """The row of a folded check, which is never red. One that has passed may have a remark."""
    ground = PASSED if check.outcome == "passed" else ""
    told = _evidence_html(check) if check.outcome != "skipped" else ""
    return (
        f'<div style="margin:.35em 0 .35em 1em">'
        f"{chip(f'{_SIGNS[check.outcome]} {_WORDS[check.outcome]}', ground)} "
        f"{marked(check.title)}{_worth(check)}{told}</div>"
    )


def _evidence_html(check: CheckVerdict) -> str:
    """The message, the picture of the difference, the hint, and what the code printed, for a page."""
    parts = _message(check)
    if check.difference:
        parts += picture_html(check.difference)
    for hint in _hint(check):
        style = "margin:.4em 0 .4em 1.4em;padding-left:.6em;border-left:2px solid"
        parts += f'<div style="{style}"><em>{_KNOWN}</em> {marked(hint)}</div>'
    if check.printed:
        parts += _printed_html(check.printed)
    return parts


def _printed(check: CheckVerdict) -> list[str]:
    """Return the output of the student's code in the call that failed, as lines of text."""
    if check.printed is None:
        return []
    return [f"{_PRINTED} {check.printed.call}:", *(f"| {line}" for line in check.printed.text.splitlines())]


def _printed_html(prints: Prints) -> str:
    """The output of the student's code in the call that failed, for a page: folded, it may be long."""
    style = "margin:.2em 0 0 0;padding:0;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.95em"
    lines = f'<pre style="{style}">{html.escape(prints.text)}</pre>'
    summary = f'<summary style="cursor:pointer;display:list-item">{_PRINTED} {marked(prints.call)}</summary>'
    return _paragraph(f"<details>{summary}{lines}</details>")


def _message(check: CheckVerdict) -> str:
    """The message for a page; in place of a sentence on two shapes it shows the shapes themselves."""
    if check.seen is None or check.expected is None:
        return _paragraph(marked(check.message))
    sentence = shapes_told(check.seen, check.expected)
    before, found, after = check.message.partition(sentence)
    if not found:
        return _paragraph(marked(check.message))
    said = f"{before}`{check.seen.of}` does not have the expected shape."
    shapes = _paragraph(f"{_shape('seen', check.seen)}<br>{_shape('expected', check.expected)}")
    return _paragraph(marked(said)) + shapes + _paragraph(marked(after.strip()))


def _shape(word: str, shape: Shape) -> str:
    label = f'<span style="display:inline-block;min-width:5.5em">{word}</span>'
    if not shape.dimensions:
        return f"{label} () – a single number"
    return f"{label} ({', '.join(dimension(each.name, each.size) for each in shape.dimensions)})"


def _paragraph(inside: str) -> str:
    return f'<div style="margin:.3em 0 .3em 1.4em">{inside}</div>' if inside else ""


def _hint(check: CheckVerdict) -> list[str]:
    """The hint of the known mistake that explains the check, in a list; `[]` if none does."""
    return [check.diagnosis.hint] if check.diagnosis else []


def _worth(check: CheckVerdict) -> str:
    worth = _points_of(check)
    return f' <span style="white-space:nowrap">({worth})</span>' if worth else ""


def _words(check: CheckVerdict) -> str:
    """The outcome and the points, in words."""
    word = _UNWRITTEN if check.unwritten else _WORDS[check.outcome]
    return ", ".join(filter(None, [word, _points_of(check)]))


def _points_of(check: CheckVerdict) -> str:
    return f"{points(check.points)} of {points(check.max_points)} points" if check.max_points else ""
