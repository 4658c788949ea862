"""One student's files of a download: archives read, the notebook found, the rest put beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.rebuild import MAX_BYTES
from autograder.grading.collecting.layouts import Placed
from autograder.grading.collecting.uploads import Upload
from autograder.grading.handed_in.archive import Archive, BadArchive, is_archive
from autograder.grading.handed_in.candidates import (
    assignment_of,
    is_notebook,
    is_part,
    is_this,
    likeness,
    written,
)
from autograder.grading.handed_in.folder import MAX_FILES, MAX_TOTAL
from autograder.grading.handed_in.names import listed, shown


@dataclass(frozen=True)
class Incoming:
    """One file from one student, read."""

    path: str
    raw: bytes
    placed: Placed
    dated: datetime | None


def read_incoming(sent: Sequence[tuple[Upload, Placed]]) -> tuple[list[Incoming], list[str]]:
    """A student's files, those in zip archives among them, within the limits of one submission."""
    found: list[Incoming] = []
    notes: list[str] = []
    left = MAX_TOTAL + MAX_BYTES
    for upload, placed in sorted(sent, key=lambda each: each[0].path):
        try:
            raw = upload.read(left)
            if len(found) >= MAX_FILES:
                raise BadArchive("is one file too many")
            if not is_archive(raw):
                found.append(Incoming(upload.path, raw, placed, upload.dated))
                left -= len(raw)
                continue
            with Archive(raw) as archive:
                if archive.outside:
                    notes.append(f"{shown(upload.path)} holds files that would lie outside of it")
                for entry in archive.entries():
                    parts = entry.path.split("/")
                    if parts[0] == "__MACOSX" or any(part.startswith(".") for part in parts):
                        continue
                    if len(found) >= MAX_FILES:
                        raise BadArchive("holds too many files")
                    inner = archive.read(entry, left)
                    left -= len(inner)
                    where = Placed(placed.sender, entry.path, placed.attempt)
                    found.append(Incoming(f"{upload.path}/{entry.path}", inner, where, upload.dated))
        except BadArchive as error:
            notes.append(f"{shown(upload.path)} {error}")
    return found, notes


def choose_notebooks(
    incoming: Sequence[Incoming], bundle: Bundle
) -> tuple[dict[str, Incoming], list[Incoming], list[str]]:
    """Return each notebook of the assignment by name, what goes with them, and what is to be said."""
    parts = {part.notebook: part for part in bundle.parts}
    certain: dict[str, list[Incoming]] = {name: [] for name in parts}
    for each in incoming:
        fitting = [name for name, part in parts.items() if is_this(each.raw, part)]
        if len(fitting) > 1:  # nbgrader asks for no other names of cells in each notebook
            fitting = [max(fitting, key=lambda name: likeness(each.raw, parts[name]))]
        for name in fitting:
            certain[name].append(each)
    rest = [each for each in incoming if not any(each in files for files in certain.values())]
    chosen: dict[str, Incoming] = {}
    notes: list[str] = []
    for name, part in parts.items():
        possible = [each for each in rest if not bundle.others or is_part(each.raw, part)]
        notebook, said = _choose(certain[name], rest, possible, part)
        notes += [f"{name}: {each}" if bundle.others else each for each in said]
        if notebook is not None:
            chosen[name] = notebook
    rest = [each for each in rest if not any(each is one for one in chosen.values())]
    first = next(iter(chosen.values()), None)
    return chosen, _beside(first, rest) if first else rest, notes


def _choose(
    certain: Sequence[Incoming], rest: Sequence[Incoming], possible: Sequence[Incoming], bundle: Bundle
) -> tuple[Incoming | None, list[str]]:
    """Return the notebook, the newest answered one if there are several, and what is to be said."""
    expected = f"{bundle.notebook}.ipynb"
    if not certain:
        named = [each for each in rest if each.placed.path.rpartition("/")[2] == expected]
        loose = named or [
            each for each in possible if is_notebook(each.raw) and not assignment_of(each.raw, bundle)
        ]
        return (loose[0], []) if len(loose) == 1 else (None, ["no file here is clearly this notebook"])
    different = {each.raw for each in certain}
    answered = {raw for raw in different if len(different) > 1 and written(raw, bundle)}

    def rank(each: Incoming) -> tuple[object, ...]:
        placed = each.placed
        return each.raw in answered, placed.attempt, _age(each, certain), placed.copy, each.path

    order = sorted(certain, key=rank)
    newest = order[-1]
    notes = []
    if len(different) > 1:
        others = [shown(each.path) for each in order[:-1] if each.raw != newest.raw]
        notes.append(
            f"the newest answered one of {len(different)} versions was taken; not taken: {listed(others)}"
        )
    return newest, notes


def _age(one: Incoming, certain: Sequence[Incoming]) -> float:
    """A file's date, where the dates tell the versions apart."""
    dates = [each.dated.timestamp() if each.dated else 0.0 for each in certain]
    told_apart = max(dates) - min(dates) > 60
    return one.dated.timestamp() if told_apart and one.dated else 0.0


def _beside(notebook: Incoming, rest: Sequence[Incoming]) -> list[Incoming]:
    """The other files, by their paths as the notebook sees them."""
    folder = notebook.placed.path.rpartition("/")[0]
    found = []
    for each in rest:
        path = each.placed.path
        if folder and path.startswith(f"{folder}/"):
            path = path[len(folder) + 1 :]
        found.append(replace(each, placed=replace(each.placed, path=path)))
    return found


def own_path(path: str, assignment: str) -> str:
    """A path for a student's file in the submission's folder; `""` for one that is not to be there."""
    parts = PurePosixPath(path).parts
    if parts[:1] == (assignment,):
        parts = parts[1:]
    kept = ["".join(c if c.isprintable() else "_" for c in part)[:100].strip() for part in parts]
    if not kept or len(kept) > 4 or any(part.startswith(".") or not part for part in kept):
        return ""
    return "/".join(kept)
