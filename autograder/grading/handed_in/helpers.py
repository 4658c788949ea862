"""Files that the notebook needs beside it: the student's own and the instructor's, for the worker's folder.

They are there as they would be with nbgrader, which copies the submission's folder and then the source's over
it. Only the worker gets them: on the trusted side no file of a student's is ever written or imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.cell_source import MAX_LINKS, links
from autograder.grading.handed_in.folder import File, read_folder
from autograder.grading.handed_in.names import listed, shown
from autograder.verdict import Finding

MAX_BYTES = 32 << 20
"""The largest size of all files together: half of the worker's scratch folder."""
MAX_CODE = 400_000
"""Characters of the student's Python files that are looked through."""
_CODE = (".py", ".pth")
_NOT_GIVEN = re.compile(r"\.(ipynb|so|pyc|pyd|dll|dylib)(\.|$)", re.IGNORECASE)
"""Notebooks, as with nbgrader, and code that nobody can read."""


def instructors_files(folder: Path, notebook: str) -> dict[str, bytes]:
    """The files beside a source notebook, by path; its checks are not among them."""
    beside = read_folder(folder, notebook).beside
    return _within_limits(file for file in beside if not file.path.startswith("checks/"))


def students_files(beside: Iterable[File], folder: str = "") -> dict[str, bytes]:
    """The files that a notebook in `folder` of a submission has beside it, by their paths from there."""
    front = f"{folder}/" if folder else ""
    return _within_limits(
        File(file.path.removeprefix(front), file.raw) for file in beside if file.path.startswith(front)
    )


def sources(files: Mapping[str, bytes]) -> dict[str, str]:
    """The Python code among the files, by path, as much of it as is looked through."""
    found, left = dict[str, str](), MAX_CODE
    for path, text in _code(files).items():
        size = len(text)
        if size <= left and links(text) <= MAX_LINKS:
            found[path] = text
            left -= size
    return found


def unread(files: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """A finding where there is more code beside the notebook than is looked through."""
    names = [shown(path) for path in sorted(_code(files).keys() - sources(files).keys())]
    if not names:
        return ()
    return (
        Finding("helper_file", f"{listed(names)}, handed in beside the notebook, was too long to be read."),
    )


def _code(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: raw.decode("utf-8", "replace") for path, raw in files.items() if path.endswith(_CODE)}


def used(files: Mapping[str, bytes], cells: Iterable[str]) -> tuple[Finding, ...]:
    """Return a finding where the student's cells name files of their own, or import them."""
    code = "\n".join(cells)
    named = [path for path in files if _is_named(path, code)]
    if not named:
        return ()
    said = listed([shown(path) for path in named])
    return (Finding("helper_file", f"The notebook uses {said}, handed in beside it: see what is in there."),)


def replaced(files: Mapping[str, bytes], given: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """A finding where the student handed in another version of a file that the instructor gives."""
    names = [shown(path) for path, raw in files.items() if path in given and given[path] != raw]
    if not names:
        return ()
    return (
        Finding("helper_file", f"{listed(names)} was handed in with changes; the released one was used."),
    )


def _within_limits(files: Iterable[File]) -> dict[str, bytes]:
    found, left = {}, MAX_BYTES
    for file in files:
        if not _NOT_GIVEN.search(file.path) and len(file.raw) <= left and _is_plain(file.path):
            found[file.path] = file.raw
            left -= len(file.raw)
    return found


def _is_plain(path: str) -> bool:
    """Return whether a path can be told to a worker: text, relative, and nothing hidden."""
    parts = path.split("/")
    return path.isprintable() and all(part and not part.startswith(".") for part in parts)


def _is_named(path: str, code: str) -> bool:
    """Return whether code has a file's name, or imports it: its stem alone may be any word."""
    file = path.rpartition("/")[2]
    stem = re.escape(file.removesuffix(".py"))
    imported = file.endswith(".py") and re.search(rf"(?m)^\s*(from|import)\b.*\b{stem}\b", code)
    return bool(imported or re.search(rf"(?<![\w.]){re.escape(file)}(?![\w])", code))
