"""A download from a learning platform, or any folder of uploads, as a list of files: nothing is unpacked.

Names and contents are strangers'. Links are not followed; the download itself is only read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path

from autograder.errors import UserError
from autograder.grading.handed_in.archive import Archive, BadArchive

MAX_UPLOADS = 100_000


@dataclass(frozen=True)
class Upload:
    """One file of a download."""

    path: str
    """Its path below the download's root, with `/`."""
    dated: datetime | None
    """The file's own date, in UTC: when it was handed in, or only when it was downloaded."""
    read: Callable[[int], bytes]
    """A function that returns its bytes; raises `BadArchive` if there are more than its argument."""


@contextmanager
def uploads(source: Path) -> Iterator[tuple[list[Upload], list[str]]]:
    """The files of a folder or a zip archive while the block runs, and names that lead out of it."""
    if source.is_dir():
        yield _of_folder(source), []
    elif source.is_file():
        with source.open("rb") as file:
            try:
                with Archive(file) as archive:
                    yield _of_archive(archive), archive.outside
            except BadArchive as error:
                raise UserError(
                    f"{source} {error}: name a folder, or the zip file as it was downloaded."
                ) from None
    else:
        raise UserError(f"There is no folder and no file {source}.")


def _of_folder(source: Path) -> list[Upload]:
    names = (path.relative_to(source).as_posix() for path in source.rglob("[!.]*") if _is_plain(path))
    found = sorted(islice((name for name in names if "/." not in f"/{name}"), MAX_UPLOADS + 1))
    if len(found) > MAX_UPLOADS:
        raise UserError(f"{source} holds more than {MAX_UPLOADS} files: name the folder of the uploads.")
    return [
        Upload(
            name,
            datetime.fromtimestamp((source / name).stat().st_mtime, UTC),
            partial(_read, source / name),
        )
        for name in found
    ]


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _read(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(most + 1)
    except OSError as error:
        raise BadArchive(f"cannot be read ({error.strerror})") from error
    if len(raw) > most:
        raise BadArchive("is too large")
    return raw


def _of_archive(archive: Archive) -> list[Upload]:
    return [
        Upload(entry.path, entry.when and entry.when.astimezone(UTC), partial(archive.read, entry))
        for entry in archive.entries()
    ]
