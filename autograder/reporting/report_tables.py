"""The report's numbers as tables for spreadsheets: one CSV file for each table of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from autograder.grading.records.store import write_whole
from autograder.reporting.attention import REASONS
from autograder.reporting.report import Report
from autograder.reporting.spreadsheet import MARK, csv_text
from autograder.reporting.statistics import Discrimination

Rows = list[Sequence[object]]


def write_tables(tables: Mapping[str, Rows], folder: Path) -> list[Path]:
    """Write every table as `NAME.csv` into a folder, made if need be; returns the files."""
    paths = []
    for name, rows in tables.items():
        paths.append(folder / f"{name}.csv")
        write_whole(paths[-1], MARK + csv_text(rows))
    return paths


def report_tables(report: Report) -> dict[str, Rows]:
    """The rows of each table, the head first; `None` is what there is no number for."""
    tasks = [task.task for task in report.tasks]
    return {
        "summary": _summary(report),
        "tasks": [
            ("task", "points", "mean", "earned", "full_points", "judged", "not_written", *_DISCRIMINATION),
            *(
                (t.task, t.max_score, t.mean, t.earned, t.full, t.judged, t.unwritten,
                 *_discrimination(t.discrimination))
                for t in report.tasks
            ),
        ],
        "checks": [
            ("task", "check", "title", "rule", "hidden", "points", "pass_rate", "earned", "passed", "failed",
             "not_judged", "not_written", *_DISCRIMINATION),
            *(
                (c.task, c.check, c.title, c.rule, c.hidden, c.max_points, c.pass_rate, c.earned, c.passed,
                 c.failed, c.skipped, c.unwritten, *_discrimination(c.discrimination))
                for c in report.checks
            ),
        ],
        "mistakes": [
            ("task", "mistake", "students", "hint", "who"),
            *((m.task, m.mistake, len(m.students), m.hint, _names(m.students)) for m in report.mistakes),
        ],
        "unexplained": [
            ("task", "students", "check", "message", "who"),
            *((c.task, len(c.students), c.title, c.message, _names(c.students)) for c in report.clusters),
        ],
        "attention": [
            ("student", "reason", "what_was_seen"),
            *((a.student, REASONS[a.kind], a.message) for a in report.attention),
        ],
        "alike": [
            ("one", "other", "share", "tokens", "tasks"),
            *((p.left, p.right, p.share, p.tokens, _names(t.task for t in p.tasks)) for p in report.pairs),
        ],
        "guesses": [
            ("asked", "happened", "guessed", "right", "commonest_wrong", "had_by"),
            *((g.entry, str(g.happened), g.guessed, g.right,
               "" if g.commonest_wrong is None else str(g.commonest_wrong), g.had_by)
              for g in report.guesses),
        ],
        "submissions": [
            ("student", "name", "state", "status", "score", "late_penalty", *tasks, "seconds", "first",
             "late_seconds", "group", "same_as"),
            *(
                (s.student, s.name, s.state, s.status, s.score, s.penalty, *(s.tasks.get(t) for t in tasks),
                 s.seconds, s.first, s.late_seconds, s.group, s.same_as)
                for s in report.submissions
            ),
        ],
    }  # fmt: skip


_DISCRIMINATION = ("discrimination", "discrimination_n", "discrimination_note")


def _discrimination(found: Discrimination) -> tuple[object, ...]:
    return found.value, found.count, found.why


def _summary(report: Report) -> Rows:
    scores, seconds = report.scores, report.seconds
    return [
        ("what", "value"),
        ("students", report.students),
        ("handed_in", report.handed_in),
        ("judged", report.judged),
        ("need_a_person", report.need_a_person),
        ("max_score", report.max_score),
        *((f"scores_{name}", getattr(scores, name)) for name in _SPREAD),
        ("full_marks", report.full_marks),
        *((f"students_{state}", count) for state, count in report.states.items()),
        *((f"scores_from_{bar.low:g}_to_{bar.high:g}", bar.count) for bar in scores.bins),
        *((f"seconds_{name}", getattr(seconds, name)) for name in _SPREAD),
    ]


_SPREAD = ("count", "mean", "median", "lower_quartile", "upper_quartile", "lowest", "highest")


def _names(names: Iterable[str]) -> str:
    return ", ".join(names)
