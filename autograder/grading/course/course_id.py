"""The name by which nbgrader's exchange, a JupyterHub and the gradebook know a course."""

from __future__ import annotations

import json
import re
import unicodedata

from autograder.errors import UserError

LONGEST = 128
"""The length of nbgrader's column for it."""
OTHERWISE = "course"
"""The name for a course in a folder whose own name has nothing that can be used."""

_LEGAL = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST - 1}}}")
_SETTING = re.compile(r"^c\.CourseDirectory\.course_id\s*=.*$", re.MULTILINE)


def course_id_of(folder: str) -> str:
    """A legal name made from a folder's: accents and what a path or a pattern could misread are taken out."""
    plain = unicodedata.normalize("NFKD", folder).encode("ascii", "ignore").decode()
    joined = re.sub(r"[^A-Za-z0-9._-]+", "-", plain)
    return joined.strip("-._")[:LONGEST].rstrip("-._") or OTHERWISE


def legal_course_id(name: str) -> str:
    """The name itself. Raises `UserError` if the exchange could not have a folder of this name.

    The exchange uses it as a folder and in patterns, a JupyterHub in the names of its groups.
    """
    if not _LEGAL.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be a course's name on nbgrader's exchange: it takes English letters, digits, "
            f"`.`, `_` and `-`, begins with a letter or digit, and is at most {LONGEST} long. "
            f"`--course-id {course_id_of(name)}` would do."
        )
    return name


def with_course_id(config: str, course_id: str) -> str:
    """The text of an `nbgrader_config.py` that names the course so, whatever it named before."""
    line = f"c.CourseDirectory.course_id = {json.dumps(course_id)}"
    if len(_SETTING.findall(config)) == 1:
        return _SETTING.sub(lambda _: line, config)
    return f"{config.rstrip()}\n\n{line}\n"  # the last one holds
