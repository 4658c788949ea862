"""The course's `nbgrader_config.py`: what it lacks for grading here, and what it has otherwise."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from autograder.errors import UserError
from autograder.grading.course.course import CONFIG_FILE, Course
from autograder.grading.course.settings import Setting, missing, with_settings


@dataclass(frozen=True)
class Configuration:
    """A course's own configuration file, as text."""

    course: Course
    text: str
    """`""` where there is none."""

    @classmethod
    def of(cls, course: Course) -> Configuration:
        path = course.root / CONFIG_FILE
        try:
            return cls(course, path.read_bytes().decode() if path.exists() else "")
        except UnicodeDecodeError as error:
            raise UserError(f"{path} is no text in UTF-8 (byte {error.start}): save it as UTF-8.") from error

    def clashes(self) -> dict[str, list[str]]:
        """A sentence for each setting that the course has with another value, by nbgrader's application.

        The settings of one application work together, so they are replaced together or not at all.
        """
        found: dict[str, list[str]] = {}
        for each in missing(self.course.config):
            if not each.lacks(self.course.config):
                found.setdefault(each.app, []).append(
                    f"{self._as_it_is(each)} If it stays, {each.otherwise}."
                )
        return found

    def _as_it_is(self, setting: Setting) -> str:
        """Say what the course has for a setting: the last line of its file that mentions it, or the value."""
        mention = re.compile(rf"[^#]*\b{re.escape(setting.key)}\b")
        for number, line in reversed(list(enumerate(self.text.splitlines(), 1))):
            if mention.match(line):
                return f"{CONFIG_FILE}, line {number}, says `{line.strip()}`."
        value = self.course.config[setting.app][setting.name]
        return f"A configuration of this machine or account sets {setting.key} to {value}."

    def completed(self, keep: Collection[str] = ()) -> str:
        """The text with all that it lacks at its end, but nothing for the applications to `keep`."""
        return with_settings(
            self.text, (each for each in missing(self.course.config) if each.app not in keep)
        )

    def difference(self, text: str) -> str:
        """Return the changes of a new text as a unified diff."""
        old, new = self.text.splitlines(), text.splitlines()
        return "\n".join(unified_diff(old, new, CONFIG_FILE, CONFIG_FILE, lineterm=""))

    def write(self, text: str, keep: Collection[str] = ()) -> Course:
        """Put a completed text in place, and return the course as it is configured then.

        Raises `UserError` where the new lines have no effect.
        """
        path = self.course.root / CONFIG_FILE
        _write(path, text)
        course = Course.at(self.course.root)
        if idle := [each.line for each in missing(course.config) if each.app not in keep]:
            raise UserError(
                f"{path} has the lines at its end, where they have no effect: move them to where they do. "
                f"The first is `{idle[0]}`."
            )
        return course


def _write(path: Path, text: str) -> None:
    """Replace a file as a whole; it stays as readable as it was, and where a link leads to it."""
    path = path.resolve()
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.touch(0o600 if path.exists() else 0o666)
        beside.write_bytes(text.encode())
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
