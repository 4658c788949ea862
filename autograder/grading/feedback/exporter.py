"""The exporter that `nbgrader generate_feedback` and formgrader's "Generate Feedback" make a page with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.api import Gradebook
from nbgrader.preprocessors import GetGrades
from traitlets import default

from autograder.grading.course.course import Course
from autograder.grading.feedback.page import page
from autograder.grading.feedback.points import PointsOfAPerson
from autograder.grading.records.handing_in import Sent, read_sent
from autograder.grading.records.store import load_verdict

_NOT_NEEDED = (GetGrades, PointsOfAPerson, CSSHTMLHeaderPreprocessor)
"""Preprocessors of nbgrader's own page whose work this one does by itself. A configuration may name them."""


class FeedbackExporter(Exporter):
    """An exporter of graded notebooks as pages that begin with the points and what to look at first."""

    output_mimetype = "text/html"

    @default("file_extension")
    def _html(self) -> str:
        return ".html"

    def register_preprocessor(self, preprocessor: Any, enabled: bool = False) -> Any:
        if preprocessor in _NOT_NEEDED:
            return None
        return super().register_preprocessor(preprocessor, enabled)

    def from_notebook_node(self, nb: Any, resources: Any = None, **kwargs: Any) -> tuple[Any, Any]:
        nb, resources = super().from_notebook_node(nb, resources, **kwargs)
        about: Any = resources["nbgrader"]
        converter: Any = self.parent
        course = Course(Path(converter.coursedir.root), converter.config, converter.coursedir)
        assignment, student = about["assignment"], about["student"]
        kept = load_verdict(course, student, assignment)
        with Gradebook(about["db_url"]) as gradebook:
            graded = gradebook.find_submission_notebook(about["notebook"], assignment, student)
            beside = course.folder("release", ".", assignment)
            sent = read_sent(course, assignment).get(student, Sent())
            same = f", the same as that of {sent.same_as}" if sent.same_as else ""
            of_group = f"The submission of the group {sent.group}{same}." if sent.group else ""
            verdict = kept.verdict.part(about["notebook"]) if kept else None
            made = page(nb, graded, verdict, assignment, beside, of_group)
        return made.encode("utf-8", "replace").decode(), resources  # JSON can hold half a surrogate pair
