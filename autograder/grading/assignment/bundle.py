"""All that grading an assignment needs to know, as plain data without a path in it."""

from __future__ import annotations

import hashlib
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import autograder.checking
import autograder.exercises
import autograder.protocol
import autograder.worker
from autograder.checking.runner.handed_out_file import FILE as HANDED_OUT
from autograder.grading.assignment.catalogue import Mistake
from autograder.grading.assignment.cells import (
    check_task,
    grade_id,
    is_grade,
    is_solution,
    is_task,
    prose_and_code,
    tags,
)
from autograder.grading.workers.forkserver import TORCH, wants_torch
from autograder.verdict import qualified

DEMONSTRATION = "demonstration"
"""The tag of released cells that are not run when grading."""
OPTIMIZERS = (*TORCH, "torch._dynamo")
"""Modules that the first optimizer of a process imports, besides: a second of work."""
_OFTEN = ("pandas", "numpy", "matplotlib.pyplot")
"""Other modules that notebooks import and that are slow to import. Workers with torch have the last two."""


@dataclass(frozen=True)
class Bundle:
    """One assignment's released notebook, its instructor's own tests, and the name of its exercise."""

    assignment: str
    notebook: str
    released: str
    """The released notebook, as text: the skeleton of every rebuilt submission."""
    instructor_tests: Mapping[str, str] = field(default_factory=dict)
    """Sources of grade cells that are an instructor's own asserts, hidden tests included, by `grade_id`."""
    own_checks: Mapping[str, str] = field(default_factory=dict)
    """Check files that lie beside the source notebook, by name; empty for the packaged exercises."""
    solution: Mapping[str, str] = field(default_factory=dict)
    """The right sources of the solution cells, by `grade_id`, in the notebook's order."""
    mistakes: tuple[Mistake, ...] = ()
    """The catalogue of known mistakes."""
    relatives: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The names of the solution cells of the course's other notebooks, by notebook: one that is handed in for
    another is known by them. No score depends on them."""
    checks_home: str = ""
    """The author's folder of the course's own checks, used only to name it when they have faults."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files beside the source notebook that it may read or import, by path."""
    cell_seconds: float | None = None
    """The course's own limit for a cell, in seconds, 0 for none; `None` for ours."""
    others: tuple[Bundle, ...] = ()
    """The assignment's other notebooks. All else here is about this one alone, but for the digests."""

    @property
    def parts(self) -> tuple[Bundle, ...]:
        """Return the assignment's notebooks, in order."""
        return (replace(self, others=()), *self.others) if self.others else (self,)

    def named(self, part: Bundle, task: str) -> str:
        """Return the name that a task of one of the notebooks has in a verdict."""
        return qualified(part.notebook, task) if self.others else task

    def of_all(self, what: Callable[[Bundle], Mapping[str, str]]) -> dict[str, str]:
        """Return what `what` has by cell or task, over all notebooks, by the names in a verdict."""
        return {self.named(part, name): each for part in self.parts for name, each in what(part).items()}

    def skeleton(self) -> NotebookNode:
        """A fresh copy of the released notebook, the instructor's own tests in place."""
        return nbformat.from_dict(self._skeleton)

    @cached_property
    def _skeleton(self) -> NotebookNode:
        notebook = self.handed_out()
        for cell in notebook.cells:
            if is_grade(cell) and not is_solution(cell) and grade_id(cell) in self.instructor_tests:
                cell["source"] = self.instructor_tests[grade_id(cell)]
        return notebook

    def handed_out(self) -> NotebookNode:
        """A fresh copy of the released notebook, as students have it."""
        return nbformat.reads(self.released, as_version=4)

    def with_answers(self, answers: Mapping[str, str]) -> bytes:
        """The released notebook as a student would hand it in with these sources in its solution cells."""
        notebook = self.skeleton()
        for cell in notebook.cells:
            if is_solution(cell) and grade_id(cell) in answers:
                cell["source"] = answers[grade_id(cell)]
        return str(nbformat.writes(notebook)).encode()

    @cached_property
    def tasks(self) -> dict[str, float]:
        """Points of each task: the grade cells that are just `check("<task>")`."""
        return {
            task: float(cell["metadata"]["nbgrader"]["points"])
            for cell in self._skeleton.cells
            if (task := check_task(cell)) and is_grade(cell)
        }

    @cached_property
    def test_cells(self) -> dict[str, float]:
        """Points of each test cell that an instructor wrote, by `grade_id`."""
        return {
            grade_id(cell): float(cell["metadata"]["nbgrader"]["points"])
            for cell in self._skeleton.cells
            if cell["cell_type"] == "code" and is_grade(cell) and not (is_solution(cell) or check_task(cell))
        }

    @cached_property
    def by_hand(self) -> dict[str, float]:
        """Points of each cell that a person grades, by `grade_id`: nbgrader's free answers and tasks."""
        return {
            grade_id(cell): float(cell["metadata"]["nbgrader"]["points"])
            for cell in self._skeleton.cells
            if is_task(cell) or (is_grade(cell) and (is_solution(cell) or cell["cell_type"] != "code"))
        }

    @cached_property
    def stubs(self) -> dict[str, str]:
        """The released sources of the solution cells, by `grade_id`."""
        return {grade_id(cell): cell["source"] for cell in self._skeleton.cells if is_solution(cell)}

    @property
    def has_plain_tests(self) -> bool:
        """Return whether test cells of nbgrader's judge the notebook, or some of it, and not only checks."""
        return bool(self.instructor_tests) or not self.tasks

    @property
    def has_checks(self) -> bool:
        """Return whether there are checks for the notebook, beside it or in this package."""
        return bool(self.own_checks) or (bool(self.tasks) and packaged_checks(self.notebook).is_dir())

    @property
    def has_whole_checks(self) -> bool:
        """Return whether the checks are complete, rather than the part of them that students get."""
        return bool(self.own_checks) or not (packaged_checks(self.notebook) / HANDED_OUT).exists()

    @property
    def preload(self) -> tuple[str, ...]:
        """Modules to import before workers are forked."""
        cells = [cell for cell in self._skeleton.cells if cell["cell_type"] == "code"]
        code = [cell["source"] for cell in cells if DEMONSTRATION not in tags(cell)]  # those are not run
        code += [*self.solution.values(), *self.own_checks.values(), *self.instructor_tests.values()]
        if not self.own_checks:
            code += [file.read_text("utf-8") for file in packaged_checks(self.notebook).glob("*.py")]
        return tuple(
            dict.fromkeys([*preload_for(code), *(each for one in self.others for each in one.preload)])
        )

    @contextmanager
    def checks_folder(self) -> Iterator[Path]:
        """The folder of the notebook's check files while the block runs.

        The course's own, which lie beside the source notebook in `checks/`, come before the package's.
        """
        if not self.own_checks:
            yield packaged_checks(self.notebook)
            return
        with tempfile.TemporaryDirectory(prefix="autograder-checks-") as made:
            # Python keeps modules by their name: checks that were edited must not be taken for the old ones.
            content = hashlib.sha256(repr(sorted(self.own_checks.items())).encode()).hexdigest()[:8]
            folder = Path(made) / f"{self.notebook}_checks_{content}"
            folder.mkdir()
            for name, source in self.own_checks.items():
                (folder / name).write_text(source, encoding="utf-8")
            try:
                yield folder
            finally:
                forget_modules(folder)

    def digest(self) -> str:
        """The digest of all that a graded notebook depends on."""
        released = "\n".join(part.released for part in self.parts)
        return hashlib.sha256(f"{released}\n{self.judging_digest()}".encode()).hexdigest()

    def judging_digest(self) -> str:
        """The digest of all that a score depends on: code, solution, tests, checks, their language."""
        _, code = prose_and_code(self.released.encode())
        limit = () if self.cell_seconds is None else (self.cell_seconds,)
        parts = (self.assignment, self.notebook, code, *limit)
        own = [sorted(part.items()) for part in (self.instructor_tests, self.own_checks, self.solution)]
        found = hashlib.sha256(repr((parts, own)).encode())
        for file in sorted(packaged_checks(self.notebook).glob("*.py")):
            found.update(file.read_bytes())
        for path, raw in sorted(self.files.items()):
            found.update(f"{path}\0{hashlib.sha256(raw).hexdigest()}".encode())
        for other in self.others:
            found.update(other.judging_digest().encode())
        found.update(_language())
        return found.hexdigest()


_SHARED = (autograder.checking, autograder.protocol, autograder.worker)


def _language() -> bytes:
    """The digest of what all checks share: the language of checks, and the process that they ask."""
    found = hashlib.sha256()
    exercises = autograder.exercises.HOME
    rooms = [Path(path) for room in _SHARED for path in room.__path__]
    for file in sorted([*exercises.glob("*.py"), *(file for room in rooms for file in room.rglob("*.py"))]):
        found.update(f"{file.name}\n".encode() + hashlib.sha256(file.read_bytes()).digest())
    return found.digest()


def preload_for(sources: Iterable[str]) -> tuple[str, ...]:
    """Modules to import before the processes are forked that run this code: torch only where it is wanted.

    Where no optimizer is used, its modules would make forks dearer.
    """
    code = "\n".join(sources)
    modules = (OPTIMIZERS if "optim." in code else TORCH) if wants_torch(code) else ()
    often = _OFTEN[:1] if modules else _OFTEN
    words = (rf"\b(?:import|from) +{name.partition('.')[0]}\b" for name in often)
    return (*modules, *(name for name, word in zip(often, words, strict=True) if re.search(word, code)))


def forget_modules(folder: Path) -> None:
    """Let go of the modules of a copy: the next copy's have the same names and are other files."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and Path(file).is_relative_to(folder):
            del sys.modules[name]


def packaged_checks(notebook: str) -> Path:
    """Return the folder in which the package has its checks of a notebook, if it has any."""
    return autograder.exercises.HOME / notebook
