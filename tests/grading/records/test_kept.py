"""Verdicts read from disk: equal tasks are held once, and what Python's JSON has beyond JSON is read, too."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from autograder.grading.records.kept import MOST_TASKS, Kept, read_kept
from autograder.verdict import CheckVerdict, Diagnosis, Finding, TaskVerdict, Verdict


def verdict(student: str, message: str = "It has another.") -> Verdict:
    checks = [
        CheckVerdict(
            f"check{number}", "values", f"It is right in case {number}.", "failed", 0.0, 1.0,
            f"{message} Case {number}.", diagnosis=Diagnosis("a", "b"), answers=f"{number:032x}",
        )
        for number in range(30)
    ]  # fmt: skip
    found = (Finding("cell_error", "A cell failed."),)
    return Verdict(
        student, "01_first", "first", "graded", 0.3, 7, found, (TaskVerdict("f", 4.0, tuple(checks)),)
    )


def raw(told: Verdict) -> bytes:
    kept = {"conditions": "c", "file": "f", "content": "d", "verdict": told.as_json()}
    return json.dumps(kept).encode()


def test_what_is_read_is_what_was_written():
    assert read_kept(raw(verdict("ada"))) == Kept("c", "f", "d", verdict("ada"))


def test_equal_tasks_of_several_students_are_one():
    ada, ben, eve = (
        read_kept(raw(each)).verdict
        for each in (verdict("ada"), verdict("ben"), verdict("eve", "It is too small."))
    )
    assert ada.student != ben.student
    assert ada.tasks[0] is ben.tasks[0]
    assert ada.findings[0] is eve.findings[0]
    assert eve.tasks[0] == verdict("eve", "It is too small.").tasks[0] != ada.tasks[0]


def test_a_class_takes_little_more_memory_than_the_tasks_that_differ():
    files = [raw(verdict(f"student{number}", f"Wrong in way {number % 3}.")) for number in range(1000)]
    tracemalloc.start()
    try:
        read = [read_kept(each).verdict for each in files]
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len({id(each.tasks[0]) for each in read}) == 3 < MOST_TASKS
    assert held / len(read) < 2000, "a file has 10,000 bytes"


@pytest.mark.parametrize("message", ["\ud800 half a pair", "∞"])
@pytest.mark.parametrize("seconds", [0.5, float("inf")])
def test_what_only_python_takes_for_json_is_read_as_well(message, seconds):
    told = verdict("ada", message).as_json()
    kept = {"conditions": "c", "file": "f", "content": "d", "verdict": {**told, "seconds": seconds}}
    read = read_kept(json.dumps(kept).encode()).verdict
    assert (read.seconds, read.tasks[0].checks[0].message) == (seconds, f"{message} Case 0.")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", "{}", '{"conditions": "", "file": "", "content": "", "verdict": {"tasks": [1]}}'],
)
def test_what_is_no_verdict_is_refused(text):
    with pytest.raises(ValueError):
        read_kept(text.encode())
