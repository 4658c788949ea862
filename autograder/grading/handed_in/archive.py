"""Zip archives from strangers, read in memory.

Nothing is unpacked onto a disk, and no archive costs more than the limits below, whatever it claims.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import IO

MAX_DIRECTORY = 4 << 20
"""Bytes of an archive's table of contents: about forty thousand files."""
_END, _END_64, _LOCATOR_64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The methods that are read: by others a few bytes could take gigabytes of memory."""


class BadArchive(Exception):
    """An error: the archive, or a file in it, cannot be read. The text says why, as the end of a sentence."""


@dataclass(frozen=True)
class Entry:
    """A file in an archive."""

    path: str
    """Its path below the archive's root, with `/`, without `..` and drive letters."""
    size: int
    """The size that the archive claims, in bytes."""
    when: datetime | None
    """Its date in the archive, in the time zone of whoever made it."""
    info: zipfile.ZipInfo


class Archive:
    """An open zip archive. Use as a context manager. Raises `BadArchive`."""

    def __init__(self, source: bytes | IO[bytes]) -> None:
        file = io.BytesIO(source) if isinstance(source, bytes) else source
        try:
            if _directory_size(file) > MAX_DIRECTORY:
                raise BadArchive("has too many files in it")
            file.seek(0)
            self._zip = zipfile.ZipFile(file)
        except BadArchive:
            raise
        except Exception as error:  # zipfile raises whatever the broken file made it trip over
            raise BadArchive("is damaged, or no zip archive") from error

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    @property
    def outside(self) -> list[str]:
        """The names of files whose path leads out of it."""
        return [info.filename for info in self._zip.infolist() if not _inner_path(info.filename)]

    def entries(self) -> Iterator[Entry]:
        """The files in it, in the archive's order; those whose path leads out of it are left out."""
        for info in self._zip.infolist():
            path = _inner_path(info.filename)
            if path and not info.is_dir():
                yield Entry(path, info.file_size, _date(info), info)

    def read(self, entry: Entry, most: int) -> bytes:
        """A file's bytes. Raises `BadArchive` if there are more than `most`, or it cannot be read."""
        if entry.info.flag_bits & 1:
            raise BadArchive("is locked with a password")
        if entry.info.compress_type not in _METHODS:
            raise BadArchive("is packed in a way that is not read here")
        if entry.size > most:
            raise BadArchive("is too large")
        try:
            with self._zip.open(entry.info) as file:
                raw = file.read(most + 1)
        except Exception as error:  # as above
            raise BadArchive("is damaged") from error
        if len(raw) > most:
            raise BadArchive("is too large")
        return raw


def is_archive(raw: bytes) -> bool:
    """Return whether bytes begin as a zip archive does."""
    return raw[:4] in (b"PK\x03\x04", _END)


def _directory_size(file: IO[bytes]) -> int:
    """The bytes that the archive's table of contents takes by its own account, where zipfile looks for it."""
    file.seek(0, io.SEEK_END)
    size = file.tell()
    file.seek(max(0, size - (1 << 16) - 22 - 20 - 56))
    start = file.tell()
    tail = file.read()
    end = len(tail) - 22
    if not (tail[end : end + 4] == _END and tail[-2:] == b"\0\0"):
        end = tail.rfind(_END)
    if end < 0:
        raise BadArchive("is damaged, or no zip archive")
    sizes = [struct.unpack_from("<L", tail, end + 12)[0]]
    if end >= 20 and tail[end - 20 : end - 16] == _LOCATOR_64:
        (told,) = struct.unpack_from("<Q", tail, end - 20 + 8)
        sizes = []
        for place in {end - 20 - 56, told - start}:
            if place >= 0 and tail[place : place + 4] == _END_64:
                sizes.append(struct.unpack_from("<Q", tail, place + 40)[0])
        if not sizes:
            raise BadArchive("is damaged, or no zip archive")
    return int(max(sizes))


def _inner_path(name: str) -> str:
    """A path that stays inside; `""` for one that does not."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ".." in parts or parts[0].endswith(":") or "\0" in name:
        return ""
    return "/".join(parts)


def _date(info: zipfile.ZipInfo) -> datetime | None:
    try:
        return datetime(*info.date_time) if info.date_time[0] > 1980 else None  # 1980: not set
    except ValueError:
        return None
