"""What a feedback page adds to the card: that a person's points count in place of the checks'.

The card was made when the submission was judged, a person's points come later, so the gradebook is asked
when the page is made.
"""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.api import Grade, Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.grading.bundle import grade_id, is_grade
from autograder.reporting.card import framed, points
from autograder.reporting.colours import WAITING


class PointsOfAPerson(NbGraderPreprocessor):
    """Puts a sentence above each card where a person gave other points than the checks."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        about = resources["nbgrader"]
        with Gradebook(about["db_url"]) as gradebook:
            notebook = gradebook.find_submission_notebook(
                about["notebook"], about["assignment"], about["student"]
            )
            told = {grade.name: sentence(grade) for grade in notebook.grades}
        for cell in nb.cells:
            if cell.cell_type == "code" and is_grade(cell) and (said := told.get(grade_id(cell))):
                shown = framed(f"Points of {grade_id(cell)}", WAITING, f'<p style="margin:0">{said}</p>')
                data = {"text/html": shown, "text/plain": said}
                cell.outputs.insert(0, new_output("display_data", data=data))
        return nb, resources


def sentence(grade: Grade) -> str:
    """Who gave what, where a person gave other points than the checks, or more; else `""`."""
    judged, given, extra = grade.auto_score, grade.manual_score, grade.extra_credit or 0.0
    if judged is None or (given in (None, judged) and not extra):
        return ""
    said = f"The checks gave {points(judged)} of {points(grade.max_score)} points"
    if given not in (None, judged):
        said += f"; your grader gave {points(given)}, and that is what counts"
    return f"{said}; extra credit adds {points(extra)}." if extra else f"{said}."
