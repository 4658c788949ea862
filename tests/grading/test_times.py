"""Times of handing in: read as ISO 8601 and as nbgrader writes them, told where they are not, and said."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dateutil.tz import gettz

from autograder.grading.course.course import Course
from autograder.grading.course.times import duration, read_time
from tests.support.courses import copy_course
from tests.support.helpers import ASSIGNMENT, autograder_here


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("2026-07-01 10:45", 10),
        ("2026-07-01 10:45:12.345678 UTC", 10),
        ("2026-07-01T10:45:00+02:00", 8),
        ("2026-07-01 10:45:00 +0200", 8),
        ("2026-07-01 10:45:00 Europe/Zurich", 8),
        ("2026-07-01 10:45:00.000000 PDT", 17),
        ("01.07.2026 10:45", None),
        ("2026-13-01 10:45", None),
        ("2026-07-01 10:45 XYZ", None),
        ("garbage", None),
        ("0001-01-01 00:00:00 +0100", None),
        ("9999-12-31 23:59:59 -0100", None),
        ("0001-01-01 00:00:00 Europe/Zurich", None),
        ("2026-07-01 10:45 /proc/1/environ", None),
        ("2026-07-01 10:45 a1,", None),
        ("", None),
    ],
)
def test_a_time_is_read_as_written_or_not_at_all(text, hour):
    found = read_time(text, UTC, short=gettz("America/Los_Angeles"))
    expected = None if hour is None else datetime(2026, 7, 1, hour, 45, tzinfo=UTC)
    assert (found.replace(second=0, microsecond=0) if found else None) == expected


def test_a_time_span_is_told_in_its_largest_unit():
    said = [duration(seconds) for seconds in (40, 90, 3599.9, 5400, 86400, 3.5 * 86400)]
    assert said == ["40 seconds", "1.5 minutes", "1 hour", "1.5 hours", "1 day", "3.5 days"]


@pytest.fixture(scope="module")
def course(graded_class: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The class, in which `ben` is late and the times of `dot` and `ida` cannot be read."""
    at = Course.at(copy_course(graded_class, tmp_path_factory.mktemp("copy") / "course"))
    for student, text in (("dot", b"01.03.2026 10:45"), ("ida", b"")):
        (at.folder("submitted", student, ASSIGNMENT) / "timestamp.txt").write_bytes(text)
    return at


def output(course: Course, *command: object) -> str:
    told = autograder_here(*command, "--course", course.root)
    assert told.returncode == 0, told.stderr
    return told.stdout


def test_who_is_late_is_said_in_results_and_report(course):
    assert "graded, 1.5 hours late" in output(course, "results", ASSIGNMENT)
    marks = {r["student"]: r["mark"] for r in json.loads(output(course, "results", ASSIGNMENT, "--json"))}
    assert marks["ben"]["late_seconds"] == 5400
    assert marks["ada"]["late_seconds"] is None, "handed in without a time"
    output(course, "report", ASSIGNMENT)
    page = (course.root / "reports" / f"{ASSIGNMENT}.html").read_text()
    assert ">1.5 hours, −1.5</td>" in page
    assert "<small>1 late</small>" in page


def test_a_time_that_cannot_be_read_is_a_finding_and_costs_nothing(course):
    found = {r["student"]: r for r in json.loads(output(course, "results", ASSIGNMENT, "--json"))}
    told = {student: found[student]["findings"][-1] for student in ("dot", "ida")}
    assert {each["kind"] for each in told.values()} == {"unreadable_time"}
    assert told["dot"]["message"].startswith(
        "Its `timestamp.txt` says `01.03.2026 10:45`, which is no time: no time is known, and nothing is"
    )
    assert told["ida"]["message"].startswith("Its `timestamp.txt` is empty")
    assert [found[student]["mark"]["score"] for student in told] == [10, 10]
    assert " Its `time" in output(course, "grade", ASSIGNMENT, "--student", "dot")
    reasons = json.loads(output(course, "report", ASSIGNMENT, "--json"))["attention"]
    assert {each["student"] for each in reasons if each["kind"] == "unreadable_time"} == {"dot", "ida"}
