"""A class with hostile submissions in it: whatever one of them does, everybody else is graded."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from pathlib import Path

import psutil
import pytest

from autograder.grading.workers.forkserver import ForkServer, RunLimits
from tests.support.helpers import (
    ASSIGNMENT,
    NOTEBOOK,
    answer,
    assert_explicit,
    autograder,
    autograder_here,
    make_course,
    released,
    submission,
    submit,
)
from tests.support.hostile.wall import (
    DEATHS,
    FORGE,
    FORGERIES,
    FRAMES,
    HARMLESS,
    SCRIPTS,
    SPY,
    indented,
)

pytestmark = pytest.mark.slow

# --- Judges that fail ---------------------------------------------------------------------------


def test_a_submission_that_brings_its_judge_down_stops_nobody(
    tmp_path: Path, quick_workers: ForkServer, monkeypatch: pytest.MonkeyPatch
):
    """What nobody thought of: a judge that dies, one that never ends, a verdict that cannot be recorded."""
    from autograder.grading import batch
    from autograder.grading.judging import jobs, submitted
    from autograder.grading.judging.judge_pool import LocalJudges

    course = make_course(tmp_path)
    for student in ("ada", "dies", "hangs", "unrecorded", "zoe"):
        submit(course, student, submission())
    judge, record = submitted.judge, batch.record

    def bad_judge(raw, bundle, *, student, **rest):  # judges are forked, so they have this one
        if student == "dies":
            os._exit(9)
        while student == "hangs":
            time.sleep(1)
        return judge(raw, bundle, student=student, **rest)

    def bad_record(course, bundle, batch):
        if any(graded.verdict.student == "unrecorded" for graded, _ in batch):
            raise UnicodeEncodeError("utf-8", "x", 0, 1, "no such character")
        record(course, bundle, batch)

    monkeypatch.setattr(submitted, "judge", bad_judge)
    monkeypatch.setattr(batch, "record", bad_record)
    monkeypatch.setattr(jobs, "GRACE_SECONDS", 6.0)
    monkeypatch.setattr(quick_workers, "limits", RunLimits(4.0, 4.0, 8.0))
    judges = LocalJudges(quick_workers, 2)
    done = {d.verdict.student: d.verdict for d in batch.grade(course, ASSIGNMENT, judges=judges)}
    assert {student: (v.status, v.score) for student, v in done.items()} == {
        **dict.fromkeys(("ada", "zoe"), ("graded", 10.0)),
        **dict.fromkeys(("dies", "hangs", "unrecorded"), ("infra_error", 0.0)),
    }
    assert _gradebook_scores(tmp_path) == {"ada": 10.0, "zoe": 10.0}


# --- A class, by the real command ---------------------------------------------------------------


def _hostile_class() -> dict[str, bytes | None]:
    deadly = {
        name: "def copy_from_torch(cell, torch_cell):\n" + indented(code) for name, code in DEATHS.items()
    }
    order = FORGE + "    " + FRAMES["an order of a million"]
    return {
        "ada": submission(),
        "exit": submission({"copy_from_torch": deadly["exit"]}),
        "fork": submission({"copy_from_torch": deadly["fork bomb"]}),
        "forge": submission(
            base=released(), before=FORGERIES["perform says yes"].replace("\n        ", "\n")
        ),
        "frame": submission({"copy_from_torch": answer("copy_from_torch", append=order)}),
        "halfpair": submission(
            {"lstm_cell": answer("lstm_cell", append="s = '\ud800'")}, before="print('\\ud800')"
        ),
        "hang": submission({"copy_from_torch": deadly["stubborn"]}),
        "print": submission(base=released(), end="print('10.0')\n10.0"),
        "script": submission(end=SCRIPTS),
        "segfault": submission({"copy_from_torch": deadly["segfault"]}),
        "spy": submission(before=SPY),
        "trunc": submission()[:3000],
        "zoe": submission(before=HARMLESS["warnings"], end=HARMLESS["magics"]),
    }


def _snapshot(root: Path) -> dict[str, str]:
    kept = ("source", "release", "submitted", "nbgrader_config.py")
    files = [
        f
        for part in kept
        for f in [root / part, *(root / part).rglob("*")]
        if f.is_file() and not f.is_symlink()
    ]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_a_class_with_hostile_submissions(tmp_path: Path):
    course = make_course(tmp_path)
    for student, raw in _hostile_class().items():
        submit(course, student, raw)
    links = {
        "link": tmp_path / "gradebook.db",
        "peer": tmp_path / f"submitted/ada/{ASSIGNMENT}/{NOTEBOOK}.ipynb",
    }
    for student, target in links.items():
        submit(course, student, None).symlink_to(target)
    os.mkfifo(submit(course, "pipe", None))
    submit(course, "folder", None).mkdir()
    submit(course, "wrongname", None).with_name("Untitled.ipynb").write_bytes(submission())
    before = _snapshot(tmp_path)
    told = autograder("grade", ASSIGNMENT, "--course", tmp_path, "--jobs", 2)
    assert told.returncode == 0, told.stderr
    assert "Traceback" not in told.stderr
    assert _snapshot(tmp_path) == before
    results = json.loads(autograder_here("results", ASSIGNMENT, "--json", "--course", tmp_path).stdout)
    for verdict in results:
        assert_explicit(verdict)
    found = {v["student"]: (v["status"], v["score"]) for v in results}
    full, unsolved, eight = ("graded", 10.0), ("graded", 0.0), ("graded", 8.0)
    assert found == {
        **dict.fromkeys(("ada", "halfpair", "script", "spy", "wrongname", "zoe"), full),
        **dict.fromkeys(("exit", "fork", "hang", "segfault"), eight),
        "frame": ("graded", 9.5),  # it sends its frame where its answer is asked for
        **dict.fromkeys(("forge", "print"), unsolved),
        **dict.fromkeys(("folder", "link", "peer", "pipe"), ("missing", None)),
        "trunc": ("corrupt", None),
    }
    assert _gradebook_scores(tmp_path) == {student: score or 0.0 for student, (_, score) in found.items()}
    spied = (tmp_path / "autograded/spy" / ASSIGNMENT / f"{NOTEBOOK}.ipynb").read_text()
    assert str(tmp_path) not in spied
    left = [
        p.pid for p in psutil.process_iter(["cmdline"]) if str(tmp_path) in " ".join(p.info["cmdline"] or [])
    ]
    assert not left


def _gradebook_scores(root: Path) -> dict[str, float]:
    query = """
        SELECT submitted_assignment.student_id, SUM(COALESCE(grade.manual_score, grade.auto_score, 0))
        FROM grade JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id
        JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id
        GROUP BY submitted_assignment.student_id"""
    with sqlite3.connect(root / "gradebook.db") as connection:
        return dict(connection.execute(query).fetchall())
