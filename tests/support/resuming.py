"""Helpers of tests and the benchmark of killed batches: a small class, and all that grading leaves behind."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from nbgrader.api import Comment, Grade, Student, SubmittedAssignment, SubmittedNotebook

from autograder.grading.course.course import Course
from tests.support.helpers import ASSIGNMENT, NOTEBOOK, answer, make_course, released, submission, submit

CORRUPT = b'{"cells": [{"cell_type": "code", "source": "x'
WRONG = {"lstm_cell": "def lstm_cell(x, h, c, *weights):\n    return h, c"}
SEED = "4711\n"

LATE_POLICY = """
from nbgrader.plugins import BasePlugin

class OnePointAnHour(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late / 3600
"""
DUE = "2026-03-01 09:30:00 UTC"


def make_class(
    root: Path, copies: int = 1, settings: str = "", assignments: Iterable[str] = (ASSIGNMENT,)
) -> Course:
    """A course with `copies` times six submissions: right, late, wrong, untouched, broken and missing."""
    root.mkdir(parents=True, exist_ok=True)
    late = 'c.AssignLatePenalties.plugin_class = "late_policy.OnePointAnHour"'
    course = make_course(root, assignments, f"{late}\n{settings}")
    (root / ".autograder").mkdir(mode=0o700)
    (root / ".autograder" / "seed").write_text(SEED)
    (root / "late_policy.py").write_text(LATE_POLICY)
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate=DUE)
    answers = {
        "ada": submission(),
        "ben": submission({"lstm_cell": answer("lstm_cell", append="print('late, and right')")}),
        "cai": submission(WRONG),
        "dov": json.dumps(released()).encode(),
        "eve": CORRUPT,
        "fay": None,
    }
    for copy in range(copies):
        for name, raw in answers.items():
            student = f"{name}{copy}" if copies > 1 else name
            path = submit(course, student, raw)
            hour = "12:00:00" if name == "ben" else "09:00:00"
            (path.parent / "timestamp.txt").write_text(f"2026-03-01 {hour} UTC")
    return course


def copy(course: Course, target: Path) -> Course:
    """Copy the course to another place, to be spoilt there."""
    shutil.copytree(course.root, target)
    return Course.at(target)


def state(course: Course) -> dict[str, Any]:
    """All that grading leaves behind, but for what is chance: row ids, cell ids, addresses and seconds."""
    found: dict[str, Any] = {"gradebook": rows(course)}
    for path in sorted((course.root / "autograded").rglob("*")):
        if path.is_file():
            text = path.read_bytes()
            found[str(path.relative_to(course.root))] = (
                re.sub(rb'0x[0-9a-f]+|"id": "[0-9a-f]{8}"', b"", text) + oct(path.stat().st_mode).encode()
            )
    for path in sorted((course.root / "verdicts").rglob("*")):
        if path.is_file():
            found[str(path.relative_to(course.root))] = verdict = json.loads(path.read_text())
            verdict["verdict"]["seconds"] = 0
    return found


def rows(course: Course) -> dict[str, Any]:
    """The gradebook's record of each student's cells, and the number of rows in its tables."""
    found: dict[str, Any] = {}
    with course.gradebook() as gradebook:
        for kind in (Student, SubmittedAssignment, SubmittedNotebook, Grade, Comment):
            found[kind.__tablename__] = gradebook.db.query(kind).count()
        for handed_in in gradebook.db.query(SubmittedAssignment):
            for notebook in handed_in.notebooks:
                found[f"{handed_in.student_id} {handed_in.name}"] = {
                    "at": str(handed_in.timestamp),
                    "late": notebook.late_submission_penalty,
                    "score": notebook.score,
                    "comments": {
                        comment.name: (comment.auto_comment, comment.manual_comment)
                        for comment in notebook.comments
                    },
                    "grades": {
                        grade.name: (
                            grade.auto_score,
                            grade.manual_score,
                            grade.extra_credit,
                            grade.needs_manual_grade,
                        )
                        for grade in notebook.grades
                    },
                }
    return found


def leftovers(course: Course) -> list[str]:
    """Files that a killed grader had beside their place."""
    return sorted(str(path.relative_to(course.root)) for path in course.root.rglob(".*.tmp"))


def finished(course: Course) -> dict[str, tuple[int, int]]:
    """The verdicts in place, each with what changes when it is written again."""
    found = {}
    for path in (course.root / "verdicts" / ASSIGNMENT).glob("*.json"):
        told = path.stat()
        found[path.stem] = (told.st_ino, told.st_mtime_ns)
    return found


def start_grading(course: Course, *options: object, assignment: str = ASSIGNMENT) -> subprocess.Popen[bytes]:
    """Start the real command in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "autograder", "grade", assignment, "--course", str(course.root)]
        + [str(option) for option in options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd="/",
        env={**os.environ, "COLUMNS": "160"},
        start_new_session=True,
        # What a shell runs in the background ignores Ctrl-C, and so would all that it starts.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )


def wait_for_verdicts(course: Course, count: int, process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until so many submissions are graded, or the batch has ended."""
    deadline = time.monotonic() + seconds
    while len(finished(course)) < count and process.poll() is None:
        assert time.monotonic() < deadline, f"not {count} verdicts after {seconds} seconds"
        time.sleep(0.002)


def family(pid: int) -> list[psutil.Process]:
    """The processes below one, none if that has ended."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def wait_for_a_worker(batch: subprocess.Popen[Any], seconds: float = 120) -> None:
    """Wait until a submission is run, by the fork server, a judge, a supervisor and a worker, or the end."""
    deadline = time.monotonic() + seconds
    while len(family(batch.pid)) < 4 and batch.poll() is None:
        assert time.monotonic() < deadline, f"no worker after {seconds} seconds"
        time.sleep(0.01)


def notebook_path(course: Course, student: str) -> Path:
    """The path of a student's submission."""
    return course.folder("submitted", student, ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
