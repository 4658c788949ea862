"""The files beside a graded notebook, and those beside the feedback made of it.

nbgrader hands feedback back under a name that only the student and the course know: it is made from
`submission_secret.txt`, which `nbgrader submit` draws. `nbgrader release_feedback` looks for it, and for
`timestamp.txt`, beside the page, where `nbgrader generate_feedback` puts what lies beside the notebook.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from autograder.grading.course.course import Course
from autograder.grading.records.store import BESIDE, SECRET, TIMESTAMP, staged

MOST_BYTES = 1 << 16
"""More than any such file holds; a student may have put anything under its name."""


@contextmanager
def staged_beside(course: Course, student: str, assignment: str) -> Iterator[None]:
    """Put beside the graded notebook what nbgrader hands back with it, when the block ends well.

    What was not submitted does not stay there either.
    """
    with ExitStack() as stack:
        gone = []
        for path, text in _wanted(course, student, assignment).items():
            if text is None:
                gone.append(path)
            else:
                stack.enter_context(staged(path, text, course.access))
        yield
    for path in gone:
        path.unlink(missing_ok=True)


def is_beside(course: Course, student: str, assignment: str) -> bool:
    """Return whether all that nbgrader hands back with a graded notebook lies beside it."""
    return all(_text(path) == text for path, text in _wanted(course, student, assignment).items())


def withdraw_feedback(course: Course, student: str, assignment: str) -> None:
    """Remove the feedback made of an earlier grading, as nbgrader does with that of an earlier submission.

    nbgrader takes a page for current while no later submission is there.
    """
    folder = course.folder("feedback", student, assignment)
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)


def withdraw_feedback_of_another_time(course: Course, student: str, assignment: str) -> None:
    """Remove feedback that tells of another time of handing in, and so of another late penalty."""
    submitted = course.folder("submitted", student, assignment) / TIMESTAMP
    if _text(course.folder("feedback", student, assignment) / TIMESTAMP) != _text(submitted):
        withdraw_feedback(course, student, assignment)


def _wanted(course: Course, student: str, assignment: str) -> dict[Path, str | None]:
    """Return the content that each file beside the notebook should have; `None` if it should not be there."""
    submitted = {name: _text(course.folder("submitted", student, assignment) / name) for name in BESIDE}
    wanted = {course.folder("autograded", student, assignment) / name: submitted[name] for name in BESIDE}
    feedback = course.folder("feedback", student, assignment)
    current = _text(feedback / TIMESTAMP)
    if current is not None and current == submitted[TIMESTAMP] and submitted[SECRET] is not None:
        wanted[feedback / SECRET] = submitted[SECRET]  # a page that was made before secrets were kept
    return wanted


def _text(path: Path) -> str | None:
    """A small file's text; `None` if there is no plain file that could be one."""
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
            return None
        with path.open("rb") as file:
            return file.read(MOST_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return None
