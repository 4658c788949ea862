"""The numbers of a course's report as tables for spreadsheets: one CSV file for each table of the page."""

from __future__ import annotations

from autograder.reporting.attention import REASONS
from autograder.reporting.overview.class_report import CourseReport
from autograder.reporting.report_tables import Rows

_SPREAD = ("count", "mean", "median", "lower_quartile", "upper_quartile", "lowest", "highest")


def course_tables(report: CourseReport) -> dict[str, Rows]:
    """The rows of each table, the head first; `None` is what there is no number for."""
    names = [line.assignment for line in report.assignments]
    return {
        "assignments": [
            ("assignment", "max_score", "handed_in", *(f"scores_{name}" for name in _SPREAD), "full_marks",
             "need_a_person"),
            *(
                (line.assignment, line.max_score, line.handed_in,
                 *(getattr(line.scores, name) for name in _SPREAD), line.full_marks, line.need_a_person)
                for line in report.assignments
            ),
        ],
        "tasks": [
            ("assignment", "task", "points", "mean", "earned", "full_points", "judged", "not_written"),
            *(
                (line.assignment, t.task, t.max_score, t.mean, t.earned, t.full, t.judged, t.unwritten)
                for line in report.assignments for t in line.tasks
            ),
        ],
        "students": [
            ("student", "name", *names, "total", "scored", "share", "need_a_person"),
            *(
                (s.student, s.name, *(s.scores[name] for name in names), s.total, s.scored, s.share,
                 s.reasons)
                for s in report.students
            ),
        ],
        "states": [
            ("student", *names),
            *((s.student, *(s.states[name] for name in names)) for s in report.students),
        ],
        "behind": [
            ("student", "missed", "share"),
            *((b.student, ", ".join(b.missed), b.share) for b in report.behind),
        ],
        "attention": [
            ("assignment", "student", "reason", "what_was_seen"),
            *((a.assignment, a.student, REASONS[a.kind], a.message) for a in report.attention),
        ],
        "checks": [
            ("assignment", "task", "check", "title", "pass_rate", "failed", "passed"),
            *(
                (m.assignment, m.check.task, m.check.check, m.check.title, m.check.pass_rate, m.check.failed,
                 m.check.passed)
                for m in report.checks
            ),
        ],
        "mistakes": [
            ("assignment", "task", "mistake", "students", "hint", "who"),
            *(
                (m.assignment, m.mistake.task, m.mistake.mistake, len(m.mistake.students), m.mistake.hint,
                 ", ".join(m.mistake.students))
                for m in report.mistakes
            ),
        ],
    }  # fmt: skip
