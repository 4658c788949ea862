"""The table that `nbgrader export` writes here: nbgrader's own columns, and the state of each score.

nbgrader adds up 0 for whoever has no points. Here such a score is empty, and the last column says why.
"""

from __future__ import annotations

from pathlib import Path

from nbgrader.api import Assignment as AssignmentRow
from nbgrader.api import Gradebook, MissingEntry, Student
from nbgrader.plugins.export import ExportPlugin

from autograder.grading.records.store import write_whole
from autograder.reporting.spreadsheet import csv_text

COLUMNS = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
    "state",
)


class ScoresAndStates(ExportPlugin):
    """A table with a line for each assignment and student, and `state` as its last column.

    `graded`; `needs_manual_grade`, with a score if every cell has points and a person should look at some; or
    `not_graded`, with no score.
    """

    def export(self, gradebook: Gradebook) -> None:
        """Write the file that `--to` names, or grades.csv."""
        target = Path(self.to or "grades.csv")
        chosen, asked = {str(each) for each in self.assignment}, {str(each) for each in self.student}
        rows: list[tuple[object, ...]] = [COLUMNS]
        for assignment in gradebook.assignments:
            for student in gradebook.students:
                if (not chosen or assignment.name in chosen) and (not asked or student.id in asked):
                    rows.append(_row(gradebook, assignment, student))
        write_whole(target, csv_text(rows))
        self.log.info("Exported grades to %s", target)


def _row(gradebook: Gradebook, assignment: AssignmentRow, student: Student) -> tuple[object, ...]:
    who = (student.id, student.last_name, student.first_name, student.email)
    try:
        submission = gradebook.find_submission(assignment.name, student.id)
    except MissingEntry:
        nothing = (None, None, None, assignment.max_score, "not_graded")
        return (assignment.name, assignment.duedate, None, *who, *nothing)
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    complete = all(grade.auto_score is not None or grade.manual_score is not None for grade in grades)
    state = "needs_manual_grade" if submission.needs_manual_grade else "graded"
    penalty = float(submission.late_submission_penalty or 0.0)
    scores = (submission.score, penalty, max(0.0, submission.score - penalty)) if complete else (None,) * 3
    return (
        assignment.name,
        assignment.duedate,
        submission.timestamp,
        *who,
        *scores,
        assignment.max_score,
        state,
    )
