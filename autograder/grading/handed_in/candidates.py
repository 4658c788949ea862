"""Files that may be this assignment's notebook, told apart by the names of their cells.

A notebook is known by its `grade_id`s, which are the release's whatever the file is called. They are found by
searching the file's bytes: parsing tens of megabytes of a stranger's JSON only to learn names costs too much.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.cells import is_solution
from autograder.grading.assignment.rebuild import (
    MAX_BYTES,
    CorruptNotebook,
    answers_in,
    read_notebook,
)
from autograder.grading.handed_in.archive import Archive, BadArchive, is_archive
from autograder.grading.handed_in.folder import MAX_FILES, MAX_TOTAL, File
from autograder.grading.handed_in.names import shown

_GRADE_ID = re.compile(rb'"grade_id"\s*:\s*"([^"\\]{1,200})"')
_DEFINED = re.compile(rb"\b(?:def|class)\s+(\w{1,100})")
_ENOUGH = 0.5
"""The share of a notebook's cells by which a file is taken for it."""
_KINDS = {
    ".py": "Python code, not a notebook",
    ".html": "a web page, not a notebook",
    ".htm": "a web page, not a notebook",
    ".pdf": "a PDF, not a notebook",
    ".docx": "a text document, not a notebook",
    ".7z": "an archive that is not opened here",
    ".rar": "an archive that is not opened here",
    ".tar": "an archive that is not opened here",
    ".gz": "an archive that is not opened here",
    ".tgz": "an archive that is not opened here",
}
_PASSED_OVER = ("__MACOSX", "__pycache__")


@dataclass(frozen=True)
class Candidate:
    """A file that might have been meant as the notebook, wherever it lies."""

    place: str
    """The file's place in words for people: its name, and the archive it is in."""
    raw: bytes
    this: bool
    """True if it certainly is this assignment's notebook."""
    note: str
    """A remark on what else the file is, if anything can be said; may be empty."""
    possible: bool = False
    """True if a person might still find it to be this notebook."""
    path: str = ""
    among: tuple[File, ...] = ()
    """Its path among the files that it was handed in with: the folder's, or the archive's."""


def candidates(files: tuple[File, ...], bundle: Bundle) -> list[Candidate]:
    """The files, and those in archives among them, with what each is."""
    found: list[Candidate] = []
    for file in files:
        if is_archive(file.raw):
            found += _in_archive(file, bundle)
        else:
            candidate = _candidate(shown(file.path), file.path, file.raw, bundle)
            found.append(replace(candidate, path=file.path, among=files))
    return found


def is_notebook(raw: bytes) -> bool:
    """Return whether bytes look like a notebook's file; reading it shows later whether it is sound."""
    return b'"nbformat"' in raw and (b'"cells"' in raw or b'"worksheets"' in raw)


def is_this(raw: bytes, bundle: Bundle) -> bool:
    """Return whether a file certainly is this notebook: it has all answer cells, by name.

    Where a service has dropped all of nbgrader's names, it has most of the released text and all answers by
    place or definition: a student's notebook for trying things defines the same functions.
    """
    if not is_notebook(raw) or len(raw) > MAX_BYTES:
        return False
    own = bundle.stubs.keys()
    ids = _grade_ids(raw)
    if not ids and likeness(raw, bundle) >= _ENOUGH:
        ids = set(_answers(raw, bundle))
    return bool(own) and own <= ids and _share(ids, own) >= max(_shares(ids, bundle).values(), default=0.0)


def likeness(raw: bytes, bundle: Bundle) -> float:
    """Return the share of the released cells, without those for answers, that a file has as they were."""
    try:
        texts = {cell["source"].strip() for cell in read_notebook(raw).cells}
    except CorruptNotebook:
        return 0.0
    return _share(
        texts, {cell["source"].strip() for cell in bundle.handed_out().cells if not is_solution(cell)}
    )


def is_part(raw: bytes, bundle: Bundle) -> bool:
    """Return whether a file has cells of this assignment, by name, and is not another's notebook."""
    return bool(_grade_ids(raw) & bundle.stubs.keys()) and not assignment_of(raw, bundle)


def text_of(raw: bytes) -> str:
    """Return what stands in a file's cells, without their outputs; raises `CorruptNotebook`."""
    return repr([(cell["cell_type"], cell["source"]) for cell in read_notebook(raw).cells])


def written(raw: bytes, bundle: Bundle) -> dict[str, str]:
    """The answers of a file that are not as they were released, by the names of their cells."""
    answers = _answers(raw, bundle)
    return {name: source for name, source in answers.items() if source != bundle.stubs[name]}


def _answers(raw: bytes, bundle: Bundle) -> dict[str, str]:
    try:
        return answers_in(raw, bundle)
    except CorruptNotebook:
        return {}


def assignment_of(raw: bytes, bundle: Bundle) -> str:
    """The other assignment of the course whose notebook a file is; `""` for this one's, and where none is."""
    if not is_notebook(raw):
        return ""
    ids = _grade_ids(raw)
    shares = _shares(ids, bundle)
    best = max(shares, key=lambda name: shares[name], default="")
    if not best or shares[best] < _ENOUGH or shares[best] <= _share(ids, bundle.stubs.keys()):
        return ""
    # Somebody may have written this assignment's answers into another one's notebook.
    other = bundle.relatives[best]
    own = bundle.stubs.keys() - other
    defined = {name.decode() for name in _DEFINED.findall(raw)}
    return "" if defined & own else best


def _candidate(place: str, path: str, raw: bytes, bundle: Bundle) -> Candidate:
    if is_this(raw, bundle):
        return Candidate(place, raw, True, "")
    other = assignment_of(raw, bundle)
    if other:
        return Candidate(place, raw, False, f"the notebook of {other}")
    if is_notebook(raw):
        ids = _grade_ids(raw)
        if ids & bundle.stubs.keys():
            return Candidate(place, raw, False, "part of this notebook", possible=True)
        note = "a notebook without this assignment's cells" if ids else "a notebook whose cells have no names"
        return Candidate(place, raw, False, note, possible=True)
    ending = re.search(r"\.[a-z0-9]{1,5}$", path.lower())
    note = _KINDS.get(ending.group(), "") if ending else ""
    if is_archive(raw):
        note = "an archive inside an archive, which is not opened"
    if not note and ".ipynb" in path.lower():
        note = "empty" if not raw.strip() else "no notebook that can be read"
    return Candidate(place, raw, False, note)


def _in_archive(file: File, bundle: Bundle) -> Iterator[Candidate]:
    """The files in an archive; the archive itself where there are none that can be read."""
    found: list[Candidate] = []
    among: list[File] = []
    left, why = MAX_TOTAL, ""
    try:
        with Archive(file.raw) as archive:
            why = "an archive whose files would lie outside of it" if archive.outside else "an empty archive"
            for number, entry in enumerate(archive.entries()):
                parts = entry.path.split("/")
                if number >= 10 * MAX_FILES or len(found) >= MAX_FILES:
                    break
                if parts[0] in _PASSED_OVER or any(part.startswith(".") for part in parts):
                    continue
                place = f"{shown(entry.path)} in the archive {shown(file.path)}"
                try:
                    raw = archive.read(entry, left)
                except BadArchive as error:
                    why = f"an archive in which {shown(entry.path)} {error}"
                    continue
                left -= len(raw)
                among.append(File(entry.path, raw))
                found.append(replace(_candidate(place, entry.path, raw, bundle), path=entry.path))
    except BadArchive as error:
        why = f"an archive that {error}"
    if not found:
        return iter([Candidate(shown(file.path), file.raw, False, why)])
    return iter([replace(each, among=tuple(among)) for each in found])


def _grade_ids(raw: bytes) -> set[str]:
    return {name.decode("utf-8", "replace") for name in _GRADE_ID.findall(raw)}


def _shares(ids: set[str], bundle: Bundle) -> Mapping[str, float]:
    """The shares of other assignments' cells; the names of some, as `q1`, are here, too, and tell nothing."""
    return {name: _share(ids, own - bundle.stubs.keys()) for name, own in bundle.relatives.items()}


def _share(ids: set[str], own: Set[str]) -> float:
    return len(ids & own) / len(own) if own else 0.0
