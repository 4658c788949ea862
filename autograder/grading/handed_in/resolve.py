"""The choice of the file to judge in a submission, and findings about the rest of what was handed in.

A folder without a file of the notebook's name may well hold the notebook: browsers and upload pages rename
files, students pack them. Where exactly one file certainly is the notebook, it is judged, and a finding says
so; in every other case a person is told what there is, and what to do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.rebuild import Rebuilt
from autograder.grading.handed_in.candidates import Candidate, assignment_of, candidates
from autograder.grading.handed_in.folder import HandedIn
from autograder.grading.handed_in.helpers import students_files
from autograder.grading.handed_in.names import listed, shown
from autograder.verdict import Finding


@dataclass(frozen=True)
class Resolved:
    """The bytes to judge; `None` if none of the files certainly is the notebook."""

    raw: bytes | None
    findings: tuple[Finding, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The files beside the notebook, by path."""

    def content(self, rebuilt: Rebuilt) -> str:
        """The digest of all that counts in what was handed in."""
        if not self.findings and not self.files:
            return rebuilt.digest()
        files = {path: hashlib.sha256(raw).hexdigest() for path, raw in self.files.items()}
        parts = repr((rebuilt.digest(), self.findings, sorted(files.items())))
        return hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest()


def resolve(handed_in: HandedIn, bundle: Bundle) -> Resolved:
    """Say which bytes are judged as the notebook, and what a person should know about it."""
    name = shown(f"{bundle.notebook}.ipynb")
    other = assignment_of(handed_in.notebook, bundle) if handed_in.notebook is not None else ""
    if handed_in.notebook is not None and not other:
        return Resolved(handed_in.notebook, files=students_files(handed_in.beside))
    found = candidates(handed_in.beside, bundle)
    this = {each.raw: each for each in reversed(found) if each.this}
    if other:
        seen = f"The file {name} is the notebook of {other}"
    elif handed_in.instead:
        seen = f"{name} is {handed_in.instead}, not a file"
    else:
        seen = f"There is no file {name}"
    kind = "other_notebook" if other else "missing"
    if len(this) == 1:
        return _under_another_name(next(iter(this.values())), seen, name)
    if this:
        return Resolved(None, (_several([each.place for each in this.values()], seen, kind, name),))
    return Resolved(None, (_nothing(found, handed_in.left_out, seen, kind, name),))


def unreadable(handed_in: HandedIn, bundle: Bundle, student: str) -> str:
    """Say that the notebook is there and this grader could not read it: the machine's fault."""
    return (
        f"the file {shown(f'{bundle.notebook}.ipynb')} of {shown(student)} is there and cannot be read "
        f"({handed_in.refused}). Make it readable for whoever grades, and grade again."
    )


def _under_another_name(one: Candidate, seen: str, name: str) -> Resolved:
    told = Finding(
        "other_name",
        f"{seen}, and {one.place} is this notebook: it was graded instead.",
        f"{seen}, and {one.place} is this notebook, so it was graded instead. Next time, hand it in as "
        f"{name}.",
    )
    return Resolved(one.raw, (told,), students_files(one.among, one.path.rpartition("/")[0]))


def _several(places: list[str], seen: str, kind: str, name: str) -> Finding:
    versions = listed(sorted(places), of="version")
    different = f"{seen}, and there are {len(places)} different versions of it: {versions}."
    return Finding(
        kind,
        f"{different} Rename the one that counts to {name} and grade again.",
        f"{different} Hand in the one that counts as {name}.",
    )


def _nothing(found: list[Candidate], left_out: int, seen: str, kind: str, name: str) -> Finding:
    named = [f"{each.place} ({each.note})" if each.note else each.place for each in found]
    if named or left_out:
        seen += (
            f". Handed in {'besides' if kind == 'other_notebook' else 'instead'}: {listed(named, left_out)}"
        )
    elif kind == "missing":
        seen += ", and nothing else was handed in"
    if any(each.possible for each in found):
        todo = f"If one of them is this notebook, rename it to {name} and grade again."
    else:
        todo = "Ask for the notebook." if found or kind == "other_notebook" else ""
    return Finding(kind, f"{seen}. {todo}".strip(), f"{seen}. Hand in your notebook as {name}.")
