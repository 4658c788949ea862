"""Wrong answers that several submissions share and that no known mistake explains.

Each cluster is one entry that the catalogue may lack. Inputs are the same for a whole class, so equal
fingerprints are equal answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from autograder.grading.course.course import Course
from autograder.grading.records.answers import graded_answers
from autograder.grading.records.results import results
from autograder.verdict import CheckVerdict, Verdict


@dataclass(frozen=True)
class Alike:
    """Students whose wrong answers to a task are equal, and the checks that failed for the first of them."""

    task: str
    students: tuple[str, ...]
    checks: tuple[CheckVerdict, ...]

    def as_json(self, cell: str) -> dict[str, Any]:
        """Return it with the first student's cell; docs/verdict.md describes the fields."""
        fields = ("check", "rule", "title", "message", "answers")
        return {
            "task": self.task,
            "count": len(self.students),
            "students": list(self.students),
            "checks": [{name: getattr(check, name) for name in fields} for check in self.checks],
            "example": {"student": self.students[0], "cell": cell},
        }


def clusters(course: Course, assignment: str) -> list[dict[str, Any]]:
    """Return the clusters of a graded assignment as JSON, the largest first, each with one student's cell.

    A task that is not written, and one that a known mistake explains in full, is in none. Raises
    `UserError` as `results` does.
    """
    bundle = course.bundle(assignment)
    found = cluster(result.verdict for result in results(course, assignment))
    return [
        each.as_json(graded_answers(course, each.students[0], bundle).get(each.task, "")) for each in found
    ]


def cluster(verdicts: Iterable[Verdict]) -> list[Alike]:
    """Return the clusters among verdicts, the largest first."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], list[tuple[str, tuple[CheckVerdict, ...]]]] = {}
    for verdict in verdicts:
        for task in verdict.tasks:
            checks = tuple(check for check in task.checks if check.answers and not check.diagnosis)
            if checks:
                key = (task.task, tuple((check.check, check.answers or "") for check in checks))
                found.setdefault(key, []).append((verdict.student, checks))
    largest_first = sorted(found.items(), key=lambda each: (-len(each[1]), each[0]))
    return [
        Alike(task, tuple(student for student, _ in members), members[0][1])
        for (task, _), members in largest_first
    ]
