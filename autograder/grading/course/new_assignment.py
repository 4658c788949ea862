"""An assignment to begin one's own with: the packaged `skeleton/`, which builds as it is."""

from __future__ import annotations

import json
import keyword
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.errors import UserError
from autograder.grading.course.course import Course
from autograder.grading.course.template import SKELETON, course_files

_LEGAL = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]*")
_NUMBER = re.compile(r"^[0-9]+[_.-]+(?=.)")
_TASK = re.compile(r"[A-Za-z_]\w{0,39}", re.ASCII)
_TAKEN = ("after", "check", "nn", "torch")
"""Names that the skeleton's notebook gives another meaning."""
TASK = "scale"
"""The usual task, a function."""


@dataclass(frozen=True)
class _Kind:
    """A kind of task that the skeleton has: a function or a class of modules."""

    task: str
    """Its name in the skeleton."""
    notebook: str
    mistakes: str
    right_answers: str


_FUNCTION = _Kind(TASK, "assignment.ipynb", "mistakes.toml", "variants.toml")
_CLASS = _Kind("Scaling", "module.ipynb", "module_mistakes.toml", "module_variants.toml")


@dataclass(frozen=True)
class NewAssignment:
    """The files of an assignment that was just written."""

    notebook: Path
    checks: tuple[Path, ...]
    mistakes: Path
    right_answers: Path


def new_assignment(course: Course, name: str, tasks: Sequence[str] = (TASK,)) -> NewAssignment:
    """Write the skeleton into the course's `source/`, and its mistakes and right answers into `solutions/`.

    `tasks` are the names of its functions and classes: one that begins with a capital letter is a class. All
    of it or nothing. Raises `UserError` for a name that is taken or that nbgrader or Python could not use.
    """
    if not _LEGAL.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be an assignment's name: it takes English letters, digits, `_`, `-` and `.`, "
            "and begins with a letter or digit, as 01_first does."
        )
    for number, task in enumerate(tasks):
        if not _TASK.fullmatch(task) or keyword.iskeyword(task) or task in _TAKEN or task in tasks[:number]:
            raise UserError(
                f"{task!r} cannot be a task's name: it is the name of a function or class in the notebook, "
                "as conv1d or Encoder, and no two are the same."
            )
    folder, catalogue = course.folder("source", ".", name), course.catalogue_path(name)
    variants = course.right_answers_path(name)
    for taken in (folder, catalogue, variants):
        if os.path.lexists(taken):
            raise UserError(f"{taken} is there already, and nothing was written: name another assignment.")
    notebook = f"{_NUMBER.sub('', name)}.ipynb"
    checks = {
        f"{what}_{task}.py": _renamed(_skeleton(f"checks/{what}_{_kind(task).task}.py"), task)
        for task in tasks
        for what in ("test", "reference")
    }
    made = NewAssignment(
        folder / notebook, tuple(folder / "checks" / each for each in checks), catalogue, variants
    )
    stage = folder.parent / f".{name}.new-{os.getpid()}"
    try:
        (stage / "checks").mkdir(parents=True)
        (stage / notebook).write_text(_notebook(tasks), encoding="utf-8")
        for file, text in checks.items():
            (stage / "checks" / file).write_text(text, encoding="utf-8")
        try:
            for path, text in ((catalogue, _mistakes(tasks)), (variants, _right_answers(tasks))):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            stage.rename(folder)
        except BaseException:
            for path in (catalogue, variants):
                path.unlink(missing_ok=True)
            raise
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return made


def _kind(task: str) -> _Kind:
    return _CLASS if task[0].isupper() else _FUNCTION


def _notebook(tasks: Sequence[str]) -> str:
    """Return the notebook: its beginning, and for each task its text, two cells and a demonstration."""
    whole: dict[str, Any] = json.loads(_skeleton(_FUNCTION.notebook))
    cells = whole["cells"]
    first = next(place for place, cell in enumerate(cells) if cell["source"][:1] == ["## Task: scaling\n"])
    blocks = {_FUNCTION: cells[first:], _CLASS: json.loads(_skeleton(_CLASS.notebook))["cells"]}
    whole["cells"] = cells[:first]
    for task in tasks:
        block = json.dumps(blocks[_kind(task)], ensure_ascii=False)
        whole["cells"] += json.loads(_renamed(block, task))
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _mistakes(tasks: Sequence[str]) -> str:
    """Return the catalogue; a mistake of a second task has that in its name."""
    head, entry, _ = _skeleton(_FUNCTION.mistakes).partition("[")
    parts = []
    for number, task in enumerate(tasks):
        text = entry + _skeleton(_kind(task).mistakes).partition(entry)[2]
        if number:
            text = re.sub(r"(?m)^\[(\w+)\]$", rf"[\1_{task}]", text)
        parts.append(_renamed(text, task))
    return head + "\n".join(parts)


def _right_answers(tasks: Sequence[str]) -> str:
    head, entry, _ = _skeleton(_FUNCTION.right_answers).partition("[")
    texts = [entry + _skeleton(_kind(task).right_answers).partition(entry)[2] for task in tasks]
    return head + "\n".join(_renamed(text, task) for text, task in zip(texts, tasks, strict=True))


def _skeleton(file: str) -> str:
    return (course_files() / SKELETON / file).read_text(encoding="utf-8")


def _renamed(text: str, task: str) -> str:
    """Return one of the skeleton's texts, its task under another name."""
    return re.sub(rf"(?<![^\W_]){_kind(task).task}(?!\w)", task, text)
