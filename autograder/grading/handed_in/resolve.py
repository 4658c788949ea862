"""The choice of the file to judge in a submission, and findings about the rest of what was handed in.

A folder without a file of the notebook's name may well hold the notebook: browsers and upload pages rename
files, students pack them. Where exactly one file certainly is the notebook, it is judged, and a finding says
so; in every other case a person is told what there is, and what to do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from unicodedata import normalize

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.rebuild import CorruptNotebook, Rebuilt, answers_in
from autograder.grading.handed_in.candidates import (
    Candidate,
    assignment_of,
    candidates,
    is_part,
    text_of,
    written,
)
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
    """Say which bytes are judged as the notebook, and what a person should know about it.

    The file of the notebook's name counts if it is answered, else the one other file that is this notebook.
    """
    name, named = shown(f"{bundle.notebook}.ipynb"), handed_in.notebook
    own = Resolved(named, files=students_files(handed_in.beside))
    found = candidates(handed_in.beside, bundle)
    this = {each.raw: each for each in reversed(found) if each.this and each.raw != named}
    if named is not None and not this and is_part(named, bundle):
        return own  # the usual submission: nothing has to be read twice
    answers = {raw: written(raw, bundle) for raw in this}
    answered = {raw: each for raw, each in this.items() if answers[raw]}
    kind, seen = _named(handed_in, bundle, name)
    if named is not None and (not kind or (kind in ("corrupt", "untouched") and not answered)):
        mine = written(named, bundle) if answered else {}
        others = [each for raw, each in answered.items() if answers[raw] != mine]
        return replace(own, findings=tuple(_beside(each, name) for each in others))
    # Copies of one text count once, whatever their outputs are.
    versions = list({text_of(raw): each for raw, each in answered.items()}.values()) or [*this.values()]
    if len(versions) == 1:
        return _under_another_name(versions[0], seen, name)
    kind = kind if kind == "other_notebook" else "missing"
    if versions:
        return Resolved(None, (_several([each.place for each in versions], seen, kind, name),))
    return Resolved(None, (_nothing(found, handed_in.left_out, seen, kind, name),))


def _named(handed_in: HandedIn, bundle: Bundle, name: str) -> tuple[str, str]:
    """Return why the file of the notebook's name does not count, as kind and sentence; empty if it counts."""
    raw = handed_in.notebook
    if raw is None:
        instead = f"{name} is {handed_in.instead}, not a notebook"
        return "missing", instead if handed_in.instead else f"There is no file {name}"
    if other := assignment_of(raw, bundle):
        return "other_notebook", f"The file {name} is the notebook of {other}"
    try:
        answers = answers_in(raw, bundle)
    except CorruptNotebook:
        return "corrupt", f"The file {name} cannot be read"
    if bundle.stubs and not answers:
        return "other_notebook", f"The file {name} is a notebook without this assignment's cells"
    return ("", "") if written(raw, bundle) else ("untouched", f"The file {name} is as it was released")


def _beside(other: Candidate, name: str) -> Finding:
    """Say that another version lies beside the notebook that was graded."""
    different = f"{name} was graded; {other.place} is this notebook, too, with other answers."
    return Finding(
        "other_version",
        f"{different} If that one counts, rename it to {name} and grade again.",
        f"{different} If that one counts, hand it in as {name}.",
    )


def unreadable(handed_in: HandedIn, bundle: Bundle, student: str) -> str:
    """Say that the notebook is there and this grader could not read it: the machine's fault."""
    file = "a notebook" if bundle.others else f"the file {shown(f'{bundle.notebook}.ipynb')}"
    return (
        f"{file} of {shown(student)} is there and cannot be read "
        f"({handed_in.refused}). Make it readable for whoever grades, and grade again."
    )


def _under_another_name(one: Candidate, seen: str, name: str) -> Resolved:
    packed = one.place != shown(one.path)
    told = Finding(
        "other_name",
        f"{seen}, and {one.place} is this notebook: it was graded instead.",
        f"{seen}, and {one.place} is this notebook, so it was graded instead. Next time, hand it in as "
        f"{name}{', not in an archive' if packed else ''}.",
    )
    # A Mac writes an umlaut as two characters, and nobody sees a difference.
    same = normalize("NFC", one.place) == normalize("NFC", name)
    return Resolved(one.raw, () if same else (told,), students_files(one.among, one.path.rpartition("/")[0]))


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
        seen += ", and nothing else that could be it was handed in"
    if any(each.possible for each in found):
        todo = f"If one of them is this notebook, rename it to {name} and grade again."
    else:
        todo = "Ask for the notebook." if found or kind == "other_notebook" else ""
    return Finding(kind, f"{seen}. {todo}".strip(), f"{seen}. Hand in your notebook as {name}.")
