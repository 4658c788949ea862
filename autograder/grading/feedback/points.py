"""Points that a person gave, and points that wait for one, in sentences.

A card is made when the submission is judged and a person's points come later, so the gradebook is read when
the page is made.
"""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader.api import Grade, Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import List

from autograder.cards.card import framed, points
from autograder.cards.colours import WAITING
from autograder.grading.assignment.cells import grade_id, is_grade, is_solution, is_task


class PointsOfAPerson(NbGraderPreprocessor):
    """A preprocessor that puts a sentence above each card whose points a person has changed or is to give.

    It is for nbgrader's own page: `FeedbackExporter` says the same by itself, and leaves it out.
    """

    # nbconvert's page exporter sets it for all preprocessors; nbgrader's base class does not let it be set.
    display_data_priority: List = List().tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        about = resources["nbgrader"]
        with Gradebook(about["db_url"]) as gradebook:
            notebook = gradebook.find_submission_notebook(
                about["notebook"], about["assignment"], about["student"]
            )
            told = {grade.name: sentence(grade) for grade in notebook.grades}
            waiting = sum(grade.max_score for grade in notebook.grades if waits(grade))
        cells = []
        if waiting:
            said = to_come(waiting, about["max_score"])
            cells.append(new_markdown_cell(_framed("Points to come", said)))
        for cell in nb.cells:
            said = told.get(grade_id(cell), "") if is_grade(cell) or is_task(cell) else ""
            if said:
                shown = _framed(f"Points of {grade_id(cell)}", said)
                if cell.cell_type == "code" and not is_solution(cell):
                    data = {"text/html": shown, "text/plain": said}
                    cell.outputs.insert(0, new_output("display_data", data=data))
                else:  # an answer: nothing is put among what the student wrote
                    cells.append(new_markdown_cell(shown))
            cells.append(cell)
        nb.cells = cells
        return nb, resources


def _framed(title: str, said: str) -> str:
    return framed(title, WAITING, f'<p style="margin:0">{said}</p>')


def to_come(waiting: float, most: float) -> str:
    """Return how many points are missing from the score because nobody has given them."""
    return (
        f"{points(waiting)} of {points(most)} points are still to come from your grader; "
        "the score above does not include them."
    )


def waits(grade: Grade) -> bool:
    """Return whether nobody has given points."""
    return grade.auto_score is None and grade.manual_score is None


def sentence(grade: Grade) -> str:
    """Return who gave which points, if not the checks alone, or that nobody has yet; else `""`."""
    if waits(grade):
        come = "point here comes" if grade.max_score == 1 else "points here come"
        return f"{points(grade.max_score)} {come} from your grader, who has not given any yet."
    judged, given, extra = grade.auto_score, grade.manual_score, grade.extra_credit or 0.0
    if judged is None or (given in (None, judged) and not extra):
        return ""
    said = f"The checks gave {points(judged)} of {points(grade.max_score)} points"
    if given not in (None, judged):
        said += f"; your grader gave {points(given)}, and that is what counts"
    return f"{said}; extra credit adds {points(extra)}." if extra else f"{said}."
