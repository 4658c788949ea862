"""Wrong answers that several submissions share and that no known mistake explains.

Each cluster is one entry that the catalogue may lack. Inputs are the same for a whole class, so equal
fingerprints are equal answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from autograder.grading.course.course import Course
from autograder.grading.records.answers import graded_answers
from autograder.grading.records.results import results


def clusters(course: Course, assignment: str) -> list[dict[str, Any]]:
    """The clusters of a graded assignment as JSON, the largest first, each with one student's cell.

    A task that is not written, and one that a known mistake explains in full, is in none. Raises
    `UserError` as `results` does.
    """
    bundle = course.bundle(assignment)
    found = cluster(results(course, assignment))
    for each in found:
        cells = graded_answers(course, each["example"]["student"], bundle)
        each["example"]["cell"] = cells.get(each["task"], "")
    return found


def cluster(verdicts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The clusters among verdicts; the student of each example is named, the cell is left empty."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], list[tuple[str, list[dict[str, Any]]]]] = {}
    for verdict in verdicts:
        for task in verdict["tasks"]:
            checks = [check for check in task["checks"] if check.get("answers") and not check["diagnosis"]]
            if checks:
                key = (task["task"], tuple((check["check"], check["answers"]) for check in checks))
                found.setdefault(key, []).append((verdict["student"], checks))
    largest_first = sorted(found.items(), key=lambda each: (-len(each[1]), each[0]))
    return [_cluster(task, members) for (task, _), members in largest_first]


def _cluster(task: str, members: list[tuple[str, list[dict[str, Any]]]]) -> dict[str, Any]:
    (student, checks), students = members[0], [student for student, _ in members]
    return {
        "task": task,
        "count": len(students),
        "students": students,
        "checks": [
            {name: check[name] for name in ("check", "rule", "title", "message", "answers")}
            for check in checks
        ],
        "example": {"student": student, "cell": ""},
    }
