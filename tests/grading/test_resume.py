"""A batch that was killed goes on: nothing lost, nothing doubled, nothing unlike an undisturbed run."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
from nbgrader.converters import Autograde

from autograder.grading.course.course import Course
from autograder.grading.judging.judge import Graded
from autograder.grading.records import record as record_module
from autograder.grading.records.record import on_record, record
from autograder.grading.records.store import Key, load_verdict
from autograder.verdict import Verdict
from tests.support.helpers import ASSIGNMENT, NOTEBOOK, autograder, autograder_here, submission
from tests.support.resuming import (
    CORRUPT,
    WRONG,
    copy,
    family,
    finished,
    leftovers,
    make_class,
    notebook_path,
    rows,
    start_grading,
    state,
    wait_for_a_worker,
    wait_for_verdicts,
)


def grade(course: Course, *options: object, command=autograder_here) -> subprocess.CompletedProcess[str]:
    told = command("grade", ASSIGNMENT, "--course", course.root, "--jobs", "2", *options)
    assert "Traceback" not in told.stderr, told.stderr
    return told


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ungraded(tmp_path_factory) -> Course:
    return make_class(tmp_path_factory.mktemp("ungraded"))


@pytest.fixture(scope="module")
def graded(ungraded, tmp_path_factory) -> Course:
    """The same class after an undisturbed run; tests only read it."""
    course = copy(ungraded, tmp_path_factory.mktemp("graded") / "course")
    told = grade(course)
    assert told.returncode == 0, told.stderr
    scores = {
        name.split()[0]: each["score"] - (each["late"] or 0)
        for name, each in rows(course).items()
        if " " in name
    }
    assert scores == {"ada": 10, "ben": 7.5, "cai": 8, "dov": 0, "eve": 0, "fay": 0}
    return course


def assert_undisturbed(course: Course, graded: Course) -> None:
    assert leftovers(course) == []
    found, expected = state(course), state(graded)
    assert found.keys() == expected.keys()
    for name in expected:
        assert found[name] == expected[name], name


@pytest.mark.parametrize(
    ("how", "verdicts"),
    [
        ("group", 0),
        ("interrupt", 1),
        ("alone", 2),
    ],
)
def test_a_batch_killed_on_the_way_goes_on(ungraded, graded, tmp_path, how, verdicts):
    course = copy(ungraded, tmp_path / "course")
    batch = start_grading(course, "--jobs", 1)
    if verdicts == 0:
        wait_for_a_worker(batch)
    wait_for_verdicts(course, verdicts, batch, 120)
    begun = family(batch.pid)
    if how == "group":
        os.killpg(batch.pid, signal.SIGKILL)
    else:
        batch.send_signal(signal.SIGKILL if how == "alone" else signal.SIGINT)
    told = batch.communicate(timeout=120)[0].decode()
    assert batch.returncode == {"interrupt": 130}.get(how, -signal.SIGKILL), told
    assert ("the same command goes on from there" in told) == (how == "interrupt")
    assert psutil.wait_procs(begun, timeout=60)[1] == [], "something of a killed batch still runs"
    before = finished(course)
    assert len(before) < 6, "it was over before it was killed"
    assert grade(course).returncode == 0
    assert {student: finished(course)[student] for student in before} == before, "run again"
    assert_undisturbed(course, graded)


STEPS = (
    (record_module, "save_rows", 1),
    (record_module, "withdraw_verdict", 1),
    (Path, "replace", 1),
    (Path, "replace", 2),
    (Autograde, "set_permissions", 1),
    (Path, "replace", 3),
)
"""One of them each: with the lock held, before the commit, after it, and between what is put in place."""


def test_killed_while_recording_the_real_command_goes_on(graded, tmp_path):
    """Others were handed in and recorded half-way; then the first ones came back."""
    course = copy(graded, tmp_path / "course")
    bundle = course.bundle(ASSIGNMENT)
    for student, (owner, name, times) in zip(finished(course), STEPS, strict=True):
        notebook = (course.folder("autograded", student, ASSIGNMENT) / f"{NOTEBOOK}.ipynb").read_text()
        verdict = Verdict(student, ASSIGNMENT, NOTEBOOK, "corrupt", 0.0, 0, (), ())
        child = os.fork()
        if child == 0:
            try:
                kill_instead(owner, name, times)
                record(course, bundle, [(Graded(verdict, notebook.replace("LSTM", "lstm")), Key("", ""))])
            finally:
                os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, name
    assert leftovers(course) != []
    assert rows(course) != rows(graded)
    assert grade(course, command=autograder).returncode == 0
    assert_undisturbed(course, graded)


def kill_instead(owner: Any, name: str, times: int) -> None:
    """Make a function end this process when it is called for so many times."""
    function, calls = getattr(owner, name), []

    def killing(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        if len(calls) == times:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)

    setattr(owner, name, killing)


@contextmanager
def little_disk(folder: Path, size: int) -> Iterator[None]:
    """A small file system of its own; skips where this user may not mount one."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder)]
    told = subprocess.run(command, capture_output=True, text=True)
    if told.returncode:
        pytest.skip(f"this user may not mount a small disk: {told.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_ends_a_batch_in_one_sentence_and_the_next_goes_on(ungraded, graded, tmp_path):
    with little_disk(tmp_path, 6 << 20):
        course = copy(ungraded, tmp_path / "course")
        ballast = tmp_path / "ballast"
        for free in (0, 100 << 10, 240 << 10):
            ballast.unlink(missing_ok=True)
            ballast.write_bytes(bytes(shutil.disk_usage(tmp_path).free - free))
            told = grade(course, "--jobs", 1, command=autograder if free else autograder_here)
            assert told.returncode == 1, (free, told.stdout)
            (sentence,) = [line for line in told.stderr.splitlines() if "ETA" not in line]
            assert "No space left on device" in sentence or "no room left on its disk" in sentence
            for student in on_record(course, course.bundle(ASSIGNMENT)):
                assert rows(course)[f"{student} {ASSIGNMENT}"] == rows(graded)[f"{student} {ASSIGNMENT}"]
        before = finished(course)
        assert 0 < len(before) < 6, "it was full too early or too late to show anything"
        ballast.unlink()
        assert grade(course).returncode == 0
        assert {student: finished(course)[student] for student in before} == before, "run again"
        assert_undisturbed(course, graded)


def test_files_that_may_not_grow_end_a_batch_in_one_sentence_and_the_next_goes_on(ungraded, graded, tmp_path):
    """What any user's machine can do in place of a full disk: the gradebook may not grow further."""
    course = copy(ungraded, tmp_path / "course")
    limit = (course.root / "gradebook.db").stat().st_size // 2
    told = subprocess.run(
        [sys.executable, "-m", "autograder", "grade", ASSIGNMENT, "--course", course.root, "--jobs", "1"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)),
        capture_output=True,
        text=True,
    )
    assert told.returncode == 1
    (sentence,) = [line for line in told.stderr.splitlines() if "ETA" not in line]
    assert sentence.startswith(f"The gradebook {course.root}/gradebook.db "), sentence
    assert grade(course).returncode == 0
    assert_undisturbed(course, graded)


def test_what_is_handed_in_again_never_keeps_the_old_score(graded, tmp_path):
    course = copy(graded, tmp_path / "course")
    first = {student: notebook_path(course, student) for student in finished(course)}
    kept = {student: path.read_bytes() for student, path in first.items() if path.exists()}
    with course.gradebook() as book:
        for student in ("ada", "cai"):
            given = book.find_grade("check_lstm_cell", NOTEBOOK, ASSIGNMENT, student)
            given.manual_score, given.extra_credit, given.needs_manual_grade = 1.25, 0.5, False
            book.find_comment("lstm_cell", NOTEBOOK, ASSIGNMENT, student).manual_comment = "Nice."
        book.db.commit()
    before = rows(course)
    first["ada"].write_bytes(CORRUPT)
    (first["ben"].parent / "timestamp.txt").write_text("2026-03-01 14:30:00 UTC")
    first["cai"].write_bytes(saved_anew(kept["cai"]))
    first["dov"].unlink()
    first["eve"].write_bytes(submission())
    first["fay"].write_bytes(submission(WRONG))
    assert grade(course).returncode == 0
    now = {name.split()[0]: each for name, each in rows(course).items() if " " in name}
    assert {name: sum(g[0] or 0 for g in each["grades"].values()) for name, each in now.items()} == {
        "ada": 0, "ben": 10, "cai": 8, "dov": 0, "eve": 10, "fay": 8
    }  # fmt: skip
    statuses = {name: load_verdict(course, name, ASSIGNMENT).verdict.status for name in now}
    assert (statuses["ada"], statuses["dov"], statuses["eve"]) == ("corrupt", "missing", "graded")
    assert now["ada"]["grades"]["check_lstm_cell"] == (None, 1.25, 0.5, True), "kept, and flagged"
    assert now["ada"]["comments"]["lstm_cell"][1] == "Nice."
    assert (now["ben"]["late"], now["ben"]["at"]) == (5, "2026-03-01 14:30:00")
    assert (
        (course.folder("autograded", "ben", ASSIGNMENT) / "timestamp.txt")
        .read_text()
        .endswith("14:30:00 UTC")
    )
    assert seconds(course, "ben") == seconds(graded, "ben"), "another time alone is no reason to judge again"
    assert seconds(course, "cai") == seconds(graded, "cai"), "what was only saved anew is not judged again"
    assert now["cai"] == before[f"cai {ASSIGNMENT}"], "and a person's score is not flagged again"
    # A forced run says the same, and has a person look again.
    assert grade(course, "--force").returncode == 0
    assert rows(course)[f"cai {ASSIGNMENT}"]["grades"]["check_lstm_cell"] == (0, 1.25, 0.5, True)
    assert rows(course)[f"ada {ASSIGNMENT}"] == now["ada"]
    assert rows(course)[f"ben {ASSIGNMENT}"] == now["ben"]
    # And the way back.
    for student, path in first.items():
        path.unlink(missing_ok=True)
        if student in kept:
            path.write_bytes(kept[student])
    (first["ben"].parent / "timestamp.txt").write_text("2026-03-01 12:00:00 UTC")
    with course.gradebook() as book:
        for student in ("ada", "cai"):
            given = book.find_grade("check_lstm_cell", NOTEBOOK, ASSIGNMENT, student)
            given.manual_score, given.extra_credit, given.needs_manual_grade = None, None, False
            book.find_comment("lstm_cell", NOTEBOOK, ASSIGNMENT, student).manual_comment = None
        book.db.commit()
    assert grade(course).returncode == 0
    assert_undisturbed(course, graded)


def saved_anew(raw: bytes) -> bytes:
    """The notebook as an editor saves it after running it: outputs and metadata are others."""
    notebook = nbformat.reads(raw.decode(), as_version=4)
    notebook.metadata["kernelspec"] = {"name": "other", "display_name": "Other"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.execution_count = 7
            cell.outputs = [nbformat.v4.new_output("stream", text="what it printed")]
    return nbformat.writes(notebook).encode()


def seconds(course: Course, student: str) -> float:
    """How long it took to judge: differs from one judging to the next."""
    kept = load_verdict(course, student, ASSIGNMENT)
    assert kept is not None
    return kept.verdict.seconds


def test_what_is_on_record_is_told_by_its_key_and_a_whole_notebook(graded, tmp_path):
    course = copy(graded, tmp_path / "course")
    bundle = course.bundle(ASSIGNMENT)
    key = Key.of(b"1", "digest", 1)
    assert key == Key.of(b"1", "digest", 1)
    for other in (Key.of(b"2", "digest", 1), Key.of(None, "digest", 1)):
        assert other.conditions == key.conditions
        assert other.file != key.file
    for other in (Key.of(b"1", "other", 1), Key.of(b"1", "digest", 2)):
        assert other.conditions != key.conditions
    # A graded notebook that another program was writing when it was killed is not on record.
    path = course.folder("autograded", "ada", ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
    assert "ada" in on_record(course, bundle)
    path.write_bytes(path.read_bytes()[:-1000])
    assert "ada" not in on_record(course, bundle)


def test_marks_that_change_are_listed_with_the_reason(graded, tmp_path):
    course = copy(graded, tmp_path / "course")
    assert "before" not in grade(course, "--force").stdout, "the same points are no change"
    notebook_path(course, "cai").write_bytes(submission())
    told = grade(course).stdout
    assert "cai: 8 points before, 10 points now: handed in again." in told, told
