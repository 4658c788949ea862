"""The feedback page: first the points and what to look at, then the notebook, the course's text folded.

Points are the gradebook's, which counts a person's. What to look at first is the verdict's, as the student
sees it. The cards are the outputs of the graded notebook, as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from nbconvert.filters.ansi import strip_ansi
from nbformat import NotebookNode
from nbgrader.api import Grade, SubmittedNotebook

from autograder.cards.card import as_student_sees, points
from autograder.cards.colours import marked
from autograder.grading.assignment.cells import check_task, grade_id, is_grade, is_solution, is_task, tags
from autograder.grading.course.times import duration
from autograder.grading.feedback.markdown import code_html, image_html, markdown_html
from autograder.grading.feedback.points import sentence, to_come, waits
from autograder.grading.judging.own_tests import HIDDEN_FAILED
from autograder.verdict import UNREAD, CheckVerdict, TaskVerdict, Verdict

FOLDED_FROM = 30
"""The lines of an output from which on it is folded."""
_HEADING = re.compile(r"^#{1,6} +(.+?)[ #]*$", re.MULTILINE)


@dataclass(frozen=True)
class Task:
    """A task, or a cell that only has a comment, in the list at the top."""

    name: str
    anchor: str
    grade: Grade | None = None
    state: str = ""
    """`right`, `wrong`, `to-do`, or `""` where no check says anything."""
    first: CheckVerdict | None = None
    """The check to look at first, as the student sees it."""
    failed: str = ""
    """The message of an instructor's own test."""
    comment: str = ""

    @property
    def points(self) -> str:
        if self.grade is None:
            return ""
        most = _points(self.grade.max_score)
        return most if waits(self.grade) else f"{points(self.grade.score)} of {most}"

    @property
    def said(self) -> str:
        return sentence(self.grade) if self.grade is not None else ""

    @property
    def headline(self) -> str:
        """The thing to look at first, in a sentence."""
        if self.first is None:
            return self.failed
        if self.first.unwritten:
            return self.first.message
        return self.first.title or "A check that runs at grading only does not hold."

    @property
    def open(self) -> bool:
        """Return whether there is something to mend that costs points."""
        full = self.grade is not None and self.grade.score >= self.grade.max_score
        return self.state in ("wrong", "to-do") and not full


@dataclass(frozen=True)
class Part:
    """A piece of the notebook: a cell of the student's or of a task's, or the course's cells between two."""

    title: str
    html: Markup
    task: Task | None = None
    anchor: str = ""
    comment: str = ""
    folded: bool = False


def page(
    notebook: NotebookNode,
    graded: SubmittedNotebook,
    verdict: Verdict | None,
    assignment: str,
    folder: Path,
    of_group: str = "",
) -> str:
    """Return the page; `folder` has the images that the course's text shows."""
    notes = [cell.source for cell in notebook.cells if "autograder" in tags(cell)]
    judged = any(grade.auto_score is not None for grade in graded.grades)
    read = verdict.status not in UNREAD if verdict else judged or not notes
    has_score = not all(map(waits, graded.grades))
    waiting = sum(grade.max_score for grade in graded.grades if waits(grade))
    penalty = float(graded.late_submission_penalty or 0.0)
    most = _points(graded.max_score)
    tasks = list(_tasks(notebook, graded, verdict))
    counted = [task for task in tasks if task.grade is not None]
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            assignment=assignment,
            notebook=graded.name,
            total=f"{points(max(0.0, graded.score - penalty))} of {most}" if has_score else "no score yet",
            notes=notes,
            read=read,
            has_score=has_score,
            to_come=to_come(waiting, graded.max_score) if waiting and has_score else "",
            of_group=of_group,
            late=_late(graded, penalty if has_score else 0.0),
            first=next((task for task in counted if read and task.open), None),
            all_right=bool(counted) and all(task.state == "right" for task in counted),
            tasks=[task for task in tasks if read or has_score or task.comment],
            parts=list(_parts(notebook, tasks, folder)) if read else [],
        )
    )


def _late(graded: SubmittedNotebook, penalty: float) -> str:
    """Return by how much it is late and what that costs; `""` for a submission in time."""
    seconds = graded.assignment.total_seconds_late
    taken = f": {points(penalty)} of {_points(graded.score)} are taken off" if penalty else ""
    return f"Handed in {duration(seconds)} late{taken}." if seconds else ""


def _points(most: float) -> str:
    return f"{points(most)} point{'' if most == 1 else 's'}"


def _tasks(notebook: NotebookNode, graded: SubmittedNotebook, verdict: Verdict | None) -> Iterator[Task]:
    """Yield the tasks in the notebook's order, and the other cells that a person has commented on."""
    grades = {grade.name: grade for grade in graded.grades}
    comments = {comment.name: comment.manual_comment or "" for comment in graded.comments}
    judged = {task.task: task for task in verdict.tasks} if verdict else {}
    counted = [cell for cell in notebook.cells if grade_id(cell) in grades]
    names = {grade_id(cell): check_task(cell) or grade_id(cell) for cell in counted}
    for cell in notebook.cells:
        name, anchor = grade_id(cell), f"cell-{grade_id(cell)}"
        if name in names:
            about = {"grade": grades[name], "comment": comments.get(name) or comments.get(names[name], "")}
            yield _with_outcome(Task(names[name], anchor, **about), cell, judged)
        elif comments.get(name) and name not in names.values():
            yield Task(name, anchor, comment=comments[name])


def _with_outcome(task: Task, cell: NotebookNode, judged: Mapping[str, TaskVerdict]) -> Task:
    """Return a task with what its checks found: of an instructor's own test, what its cell still shows."""
    found = judged.get(task.name)
    if is_solution(cell) or is_task(cell) or found is None or not found.checks:
        return task
    first = found.first_to_read
    if not check_task(cell):
        failed = (HIDDEN_FAILED if first.hidden else first.message) if first is not None else ""
        return replace(task, state="right" if first is None else "wrong", failed=failed)
    if first is not None:
        return replace(task, state="to-do" if first.unwritten else "wrong", first=as_student_sees(first))
    return replace(task, state="right" if all(check.fault is None for check in found.checks) else "")


def _parts(notebook: NotebookNode, tasks: Iterable[Task], folder: Path) -> Iterator[Part]:
    """Yield the notebook's parts in order."""
    by_anchor = {task.anchor: task for task in tasks}
    by_name = {task.name: task for task in tasks}
    course: list[NotebookNode] = []
    for cell in notebook.cells:
        if "autograder" in tags(cell):
            continue  # the note, which the page begins with
        if not (is_grade(cell) or is_solution(cell) or is_task(cell) or "student-added" in tags(cell)):
            course.append(cell)
            continue
        if course:
            yield _folded(course, folder)
            course = []
        anchor = f"cell-{grade_id(cell)}"
        task = by_anchor.get(anchor)
        if task is not None and task.grade is not None:
            if cell.cell_type == "code" and not is_solution(cell):
                yield Part(task.name, _test(cell), task, anchor)
            else:
                yield Part(task.name, _cell(cell, 3, folder), task, anchor, task.comment)
        elif is_solution(cell):
            task = by_name.get(grade_id(cell))
            comment = task.comment if task else ""
            yield Part(f"{grade_id(cell)}: your answer", _cell(cell, 3, folder), None, anchor, comment)
        else:
            yield Part("What you added", _cell(cell, 3, folder))
    if course:
        yield _folded(course, folder)


def _folded(cells: Sequence[NotebookNode], folder: Path) -> Part:
    """Cells of the course, under their first heading."""
    headings = (_HEADING.search(cell.source) for cell in cells if cell.cell_type == "markdown")
    title = next((found[1] for found in headings if found), "")
    return Part(title, Markup().join(_cell(cell, 2, folder) for cell in cells), folded=True)


def _cell(cell: NotebookNode, below: int, folder: Path) -> Markup:
    if cell.cell_type == "markdown":
        text = markdown_html(cell.source, below, cell.get("attachments"), folder)
        return Markup(f'<div class="text">{text}</div>')
    if cell.cell_type == "code":
        return Markup(code_html(cell.source) + "".join(map(_output, cell.outputs)))
    return Markup("<pre>{}</pre>").format(cell.source)


def _test(cell: NotebookNode) -> Markup:
    """A card, or an instructor's own test with what it shows."""
    code = "" if check_task(cell) else _long("The tests in this cell", code_html(cell.source))
    ours = [output.get("data", {}).get("text/html") for output in cell.outputs]
    shown = [
        each for each in cell.outputs if not any(ours) or each.output_type != "error"
    ]  # the card says it
    return Markup(code + "".join(each.get("data", {}).get("text/html") or _output(each) for each in shown))


def _output(output: NotebookNode) -> str:
    """An output of the student's code: text, or an image."""
    if output.output_type == "error":
        text = "\n".join(output.traceback)
    elif output.output_type == "stream":
        text = output.text
    else:
        kind = next((kind for kind in ("image/png", "image/jpeg") if kind in output.data), "")
        if kind:
            return image_html(kind, output.data[kind], "Figure that this cell shows")
        text = output.data.get("text/plain", "")
    lines = text.count("\n") + 1
    shown = f'<pre class="output">{escape(strip_ansi(text))}</pre>' if text.strip() else ""
    return _long(f"Output of {lines} lines", shown) if lines > FOLDED_FROM else shown


def _long(summary: str, inside: str) -> str:
    return f"<details><summary>{summary}</summary>{inside}</details>"


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader(__name__.rpartition(".")[0]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["marked"] = lambda text: Markup(marked(text))
    made.filters["markdown"] = lambda text: Markup(markdown_html(text))
    made.filters["in_line"] = lambda text: Markup(re.sub(r"^<p>|</p>$", "", markdown_html(text).strip()))
    return made
