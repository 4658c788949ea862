"""Permissions of what grading makes: its owner's, or the group's where nbgrader shares the course.

On a machine with students on it, everything but the release is closed to them. With nbgrader's `groupshared`
the group of the course directory, its graders, may read and write it all, whatever their umask.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Access:
    """The modes of files and folders that are made; `None` leaves them as the umask says."""

    file: int | None = None
    folder: int | None = None
    group: int | None = None
    """The group that they are given to."""

    @classmethod
    def of(cls, root: Path, shared: bool) -> Access:
        """Return the permissions of a course's own files."""
        return cls(0o660, 0o2770, root.stat().st_gid) if shared else cls(0o600, 0o700)

    @property
    def shared(self) -> bool:
        return self.group is not None

    def give(self, path: Path) -> None:
        """Set the mode, and the group, of something just made."""
        mode = self.folder if path.is_dir() else self.file
        if mode is not None:
            self._to_the_group(path)
            path.chmod(mode)

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it that are missing."""
        missing = [path, *path.parents]
        for folder in reversed([each for each in missing if not each.exists()]):
            folder.mkdir(exist_ok=True)
            self.give(folder)

    def open_to_the_group(self, path: Path) -> None:
        """Add what the group may do to something that is there, if it is shared and ours to change."""
        with suppress(OSError):
            found = path.lstat()
            if self.group is None or not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
                return
            wanted = found.st_mode | (0o2770 if stat.S_ISDIR(found.st_mode) else 0o660)
            if found.st_gid != self.group:
                self._to_the_group(path)
            if wanted != found.st_mode:
                path.chmod(stat.S_IMODE(wanted))

    def _to_the_group(self, path: Path) -> None:
        if self.group is not None:
            with suppress(PermissionError):  # not in the group: the mode alone must do
                os.chown(path, -1, self.group)


UMASK = Access()
"""The modes of files that are for somebody else: as the umask says."""


def below(*paths: Path) -> Iterator[Path]:
    """Paths that exist, and all below them; no link is followed."""
    for path in paths:
        if path.is_symlink() or not path.exists():
            continue
        yield path
        for folder, folders, files in os.walk(path):
            yield from (Path(folder) / name for name in (*folders, *files))
