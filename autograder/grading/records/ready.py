"""The files that grading writes, checked for permission to write them before anything is run.

Where nbgrader shares the course with a group, a file that is closed to the group is opened if it is ours; if
it is not, the message names its owner.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path

from autograder.errors import UserError
from autograder.grading.course.course import Course
from autograder.grading.course.gradebook import patient_url, sqlite_file
from autograder.grading.files.access import below


def make_ready(course: Course, assignment: str) -> None:
    """Open what is ours to the group, if the course is shared. Raises `UserError` where we may not write."""
    hidden, verdicts = course.root / ".autograder", course.verdict_path("x", assignment).parent
    graded = course.folder("autograded", ".", ".")
    if course.access.shared:
        made = (hidden, verdicts.parent, graded, course.root / "reports", course.root / "exports")
        for path in (*below(*made), *_gradebook(course)):
            course.access.open_to_the_group(path)
    written = [hidden, hidden / "lock", hidden / "known", verdicts.parent, verdicts, graded]
    written += graded.glob("*")
    written += graded.glob(f"*/{assignment}")
    if course.access.shared:
        written += _gradebook(course)
    for path in written:
        if path.exists() and not _may(path, os.W_OK):
            raise UserError(_refusal(course, path, "write", assignment))
    require_readable(course, assignment, hidden / "seed")


def make_graded_folder(course: Course) -> None:
    """Make the folder of graded notebooks before nbgrader does, which lets everybody read it."""
    course.access.make_folder(course.folder("autograded", ".", "."))


def require_readable(course: Course, assignment: str, *paths: Path) -> None:
    """Raise `UserError` for the first path that is there and may not be read."""
    for path in paths:
        if os.path.lexists(path) and not _may(path, os.R_OK):
            raise UserError(_refusal(course, path, "read", assignment))


def _may(path: Path, what: int) -> bool:
    need = what | os.R_OK | os.X_OK if path.is_dir() else what
    return os.access(path, need, effective_ids=True)


def _gradebook(course: Course) -> Iterator[Path]:
    """The gradebook's file and the course directory, where SQLite keeps its journal."""
    path = sqlite_file(patient_url(str(course.directory.db_url)))
    if path is not None:
        yield path


def _refusal(course: Course, path: Path, verb: str, assignment: str) -> str:
    """Return the reason why a path may not be used, and who can do what about it."""
    found = path.stat()
    owner, group = _user(found.st_uid), _group(found.st_gid)
    if not course.access.shared:
        return (
            f"You may not {verb} {path}, which belongs to {owner}: where several accounts grade one course, "
            "it needs `c.CourseDirectory.groupshared = True` in nbgrader_config.py and a group of graders."
        )
    wanted = 0o070 if stat.S_ISDIR(found.st_mode) else 0o060
    if found.st_mode & wanted == wanted and found.st_gid == course.root.stat().st_gid:
        return f"You may not {verb} {path}: it is for {owner} and the group {group}, which you are not in."
    course_group = _group(course.root.stat().st_gid)
    return (
        f"You may not {verb} {path}, which {owner} has closed to the group {course_group}: {owner} opens it "
        f"by running `autograder grade {assignment}` once more, or with "
        f"`chgrp -R {course_group} {path} && chmod -R g+rwX {path}`."
    )


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"the user {uid}"


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
