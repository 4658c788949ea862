"""Recording verdicts, ended at any line of it: what is on record is old or new, or is judged again."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.checking.runner.collection import collect
from autograder.errors import UserError
from autograder.grading.course.course import Course
from autograder.grading.judging.judge import Graded, judge
from autograder.grading.records import beside as beside_module
from autograder.grading.records import record as record_module
from autograder.grading.records import rows as rows_module
from autograder.grading.records import store as store_module
from autograder.grading.records.record import record, refile
from autograder.grading.records.store import Key, assignment_seed, clear_leftovers, load_verdict
from tests.support.helpers import ASSIGNMENT, NOTEBOOK, submission
from tests.support.resuming import (
    WRONG,
    leftovers,
    make_class,
    notebook_path,
    rows,
)

MADE = ("autograded", "verdicts", ".autograder", "gradebook.db", "gradebook.db-journal")
"""What grading writes in a course."""


NEWCOMER = "cai"
"""A student of whom nothing is on record."""


@dataclass(frozen=True)
class Resubmitted:
    """A student's first submission is on record; the next, and another student's first, are judged."""

    course: Course
    graded: Graded
    key: Key
    newcomer: Graded


@pytest.fixture(scope="module")
def resubmitted(tmp_path_factory, workers) -> Resubmitted:
    course = make_class(tmp_path_factory.mktemp("resubmitted") / "course")
    bundle, student = course.bundle(ASSIGNMENT), "ben"
    seed = assignment_seed(course, ASSIGNMENT)

    def judged(raw: bytes, student: str = student) -> Graded:
        checks = collect(folder)
        return judge(raw, bundle, student=student, seed=seed, checks=checks, workers=workers)

    first, second = notebook_path(course, student).read_bytes(), submission(WRONG)
    with bundle.checks_folder() as folder:
        (notebook_path(course, student).parent / "submission_secret.txt").write_text("drawn first")
        record(course, bundle, [(judged(first), Key.of(first, bundle.digest(), seed))])
        told, newcomer = judged(second), judged(notebook_path(course, NEWCOMER).read_bytes(), NEWCOMER)
    notebook_path(course, student).write_bytes(second)
    (notebook_path(course, student).parent / "timestamp.txt").write_text("2026-03-01 10:30:00 UTC")
    (notebook_path(course, student).parent / "submission_secret.txt").write_text("drawn anew")
    return Resubmitted(course, told, Key.of(second, bundle.digest(), seed), newcomer)


def parts(course: Course, student: str = "ben") -> dict[str, Any]:
    """Return the record of a student, each part by itself."""
    folder = course.folder("autograded", student, ASSIGNMENT)
    kept = load_verdict(course, student, ASSIGNMENT)
    files = {name: folder / name for name in (f"{NOTEBOOK}.ipynb", *store_module.BESIDE)}
    return {
        "gradebook": rows(course),
        "verdict": kept and kept.verdict,
        **{name: path.read_text() if path.exists() else None for name, path in files.items()},
    }


def killed_at_each_line(course: Course, act: Callable[[], None]) -> Iterator[tuple[dict[str, Any], ...]]:
    """Yield the records of both students after `act` was killed at the first line of the code that records,
    the second, …
    """
    kept = course.root.parent / "kept"
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir()
    for name in MADE:
        move(course.root / name, kept / name)
    line = 0
    while True:
        line += 1
        for name in MADE:
            move(kept / name, course.root / name)
        child = os.fork()
        if child == 0:
            try:
                kill_at(line)
                act()
            except BaseException:
                os._exit(1)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, -signal.SIGKILL)
        yield parts(course), parts(course, NEWCOMER)  # after the last line: of an undisturbed run
        clear_leftovers(course, course.bundle(ASSIGNMENT))
        assert leftovers(course) == []
        if status == 0:
            break
    for name in MADE:
        move(kept / name, course.root / name)
    assert line > 40, "this did not follow the code that records"


def move(origin: Path, target: Path) -> None:
    """A copy of a file or folder in place of what is there, or nothing if there is nothing."""
    if target.is_dir():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
    if origin.is_dir():
        shutil.copytree(origin, target)
    elif origin.exists():
        shutil.copy2(origin, target)


def kill_at(line: int) -> None:
    """End this process when it comes to so many lines of the modules that record.

    A line counts twice at most: in a loop over two submissions, once for each.
    """
    files = {module.__file__ for module in (record_module, rows_module, store_module, beside_module)}
    seen = Counter[Any]()

    def follow(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        if event == "line":
            where = tuple(each for each in stack(frame) if each[0] in files)
            if seen[where] < 2:
                seen[where] += 1
                if seen.total() == line:
                    os.kill(os.getpid(), signal.SIGKILL)
        return follow

    sys.settrace(follow)


def stack(frame: Any) -> Iterator[tuple[str, int]]:
    while frame is not None:
        yield frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back


def test_a_folder_that_has_a_graded_notebooks_name_is_named_and_no_score_is_written(resubmitted):
    course, before = resubmitted.course, rows(resubmitted.course)
    notebook = course.folder("autograded", "ben", ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
    aside = notebook.rename(notebook.with_name("aside"))
    notebook.mkdir()
    try:
        with pytest.raises(UserError) as told:
            record(course, course.bundle(ASSIGNMENT), [(resubmitted.graded, resubmitted.key)])
    finally:
        notebook.rmdir()
        aside.rename(notebook)
    assert str(notebook) in str(told.value)
    assert ".tmp" not in str(told.value)
    assert rows(course) == before
    assert leftovers(course) == []


@pytest.mark.slow
def test_killed_between_any_two_steps_each_record_is_old_or_new_or_none(resubmitted):
    course, bundle = resubmitted.course, resubmitted.course.bundle(ASSIGNMENT)
    old, nothing = parts(course), parts(course, NEWCOMER)
    batch = [(resubmitted.graded, resubmitted.key), (resubmitted.newcomer, Key("", ""))]
    seen = list(killed_at_each_line(course, lambda: record(course, bundle, batch)))
    new, newcomer = seen[-1]
    assert all(new[part] != old[part] for part in old), "old and new must be told apart"
    assert nothing["verdict"] is None
    assert newcomer["verdict"] is not None
    for line, both in enumerate(seen, 1):
        for found, before, after in zip(both, (old, nothing), (new, newcomer), strict=True):
            if found["verdict"] is not None:  # else it will be judged again, whatever else is there
                assert found in (before, after), line
            for part, value in found.items():
                assert value in (before[part], after[part], None), (line, part, "is half-written")
    assert any(found["verdict"] is None for found, _ in seen)
    assert any(found == old for found, _ in seen)
    assert any(found == new and other["verdict"] is None for found, other in seen) or any(
        other == newcomer and found["verdict"] is None for found, other in seen
    ), "it was never ended between the two"


@pytest.mark.slow
def test_killed_between_any_two_steps_a_new_time_is_filed_or_seen_to_be_missing(resubmitted):
    course, bundle = resubmitted.course, resubmitted.course.bundle(ASSIGNMENT)
    kept = load_verdict(course, "ben", ASSIGNMENT)
    assert kept is not None
    old = parts(course)
    seen = list(killed_at_each_line(course, lambda: refile(course, bundle, kept, resubmitted.key)))
    new = seen[-1][0]
    assert (old["gradebook"]["ben 03_lstm_cell"]["late"], new["gradebook"]["ben 03_lstm_cell"]["late"]) == (
        2.5,
        1,
    )
    for line, (found, _) in enumerate(seen, 1):
        assert found["verdict"] == old["verdict"] == new["verdict"], line
        assert found["gradebook"] in (old["gradebook"], new["gradebook"]), line
        if found["gradebook"] == new["gradebook"]:
            assert found == new, line
