"""The report of a course as one HTML page, of the same making as that of an assignment."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from autograder.grading.files.access import UMASK, Access
from autograder.grading.records.scores import STATES
from autograder.grading.records.store import write_whole
from autograder.reporting.attention import REASONS
from autograder.reporting.overview.behind import FEW, LATEST, MISSED
from autograder.reporting.overview.class_report import CourseReport, Reason
from autograder.reporting.page import FORMGRADER, MOST_NAMES, MOST_ROWS, environment

MOST_REASONS = 200
"""The most rows that anybody would read; the page gives their number, the assignments' reports have all."""

_SHORT = {
    "missing": "–",
    "not_graded": "not graded",
    "needs_manual_grade": "waits",
    "corrupt": "unreadable",
    "infra_error": "not graded",
}
"""The words that stand where there is no score."""


def course_page(report: CourseReport, folder: Path, formgrader: str = FORMGRADER) -> str:
    """The page, to lie in `folder`: it links to those assignments' reports that lie there, too."""
    base = formgrader.rstrip("/")

    def submission(found: Reason) -> str:
        return f"{base}/submissions/{quote(found.notebook_id, safe='')}" if found.notebook_id else ""

    names = [line.assignment for line in report.assignments]
    return (
        environment()
        .get_template("course.html.j2")
        .render(
            report=report,
            names=names,
            pages={name: quote(f"{name}.html") for name in names if (folder / f"{name}.html").is_file()},
            students={line.student: line for line in report.students},
            worth={line.assignment: line.max_score for line in report.assignments},
            short=_SHORT,
            reasons=REASONS,
            most_reasons=MOST_REASONS,
            most_rows=MOST_ROWS,
            most_names=MOST_NAMES,
            states=STATES,
            submission=submission,
            formgrader=base,
            latest=LATEST,
            missed=MISSED,
            few=FEW,
        )
    )


def write_course_page(
    report: CourseReport, path: Path, formgrader: str = FORMGRADER, access: Access = UMASK
) -> None:
    """Write the page whole or not at all."""
    write_whole(path, course_page(report, Path(os.path.abspath(path)).parent, formgrader), access)
