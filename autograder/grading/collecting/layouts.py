"""The names that learning platforms give to downloaded files, and what they say about the sender.

Moodle, `mod/assign/classes/downloader.php`: a folder `Full Name_12345_assignsubmission_file` for each student
(in older versions with a further `_` at its end), or all files in one folder with that before their names.
Canvas, `lib/content_zipper.rb`: `lastnamefirstname_LATE_4711_815_notebook-1.ipynb`, with the numbers of the
user and of the file. Both date the files in a zip with the time of the download.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MOODLE = re.compile(r"^(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?$")
_CANVAS = re.compile(r"^(?P<name>\w*?)_(?P<late>LATE_)?(?P<number>\d+)_(?P<attempt>\d+)_(?P<file>.+)$")
_COPY = re.compile(r"(?:-| \(|\()(\d{1,4})\)?(?=\.[^.]*$|$)")


@dataclass(frozen=True)
class Sender:
    """The sender of an upload, as far as its path tells."""

    platform: str
    """`moodle`, `canvas`, or `""` for a folder of any kind."""
    name: str
    """A full name (Moodle), last and first name run together (Canvas), or a folder's or file's name."""
    number: str = ""
    """The platform's number of the user."""
    late: bool = False
    """True if the platform marked it as late."""
    is_file: bool = False
    """The name is a file's: more may stand behind the student's."""


@dataclass(frozen=True)
class Placed:
    """An upload's sender, and the file's path as the student handed it in."""

    sender: Sender
    path: str
    attempt: int = 0
    """Canvas's number of the file in the order they came in: the highest is the newest."""

    @property
    def copy(self) -> int:
        """The number that a browser or a platform puts behind the name of a file that was there already."""
        found = _COPY.search(self.path.rpartition("/")[2])
        return int(found.group(1)) if found else 0


def place(path: str) -> Placed:
    """Read an upload's path."""
    parts = path.split("/")
    for position, part in enumerate(parts):
        found = _MOODLE.match(part)
        if found:
            inner = "/".join(filter(None, [found["file"], *parts[position + 1 :]]))
            sender = Sender("moodle", found["name"], found["number"])
            return Placed(sender, inner or part)
    found = _CANVAS.match(parts[-1])
    if found:
        sender = Sender("canvas", found["name"], found["number"], late=bool(found["late"]))
        return Placed(sender, found["file"], attempt=int(found["attempt"][:15]))
    if len(parts) > 1:
        return Placed(Sender("", parts[0]), "/".join(parts[1:]))
    return Placed(Sender("", re.sub(r"\.[A-Za-z0-9]{1,5}$", "", parts[0]), is_file=True), parts[0])
