"""Places as messages to an author begin with them: the file, then its line or the notebook's cell."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import nbformat

from autograder.checking.runner.marks import NAME_OF_METHOD
from autograder.grading.assignment.bundle import packaged_checks
from autograder.grading.assignment.cells import check_task, grade_id, is_grade
from autograder.grading.assignment.toml_lines import lines_of
from autograder.grading.course.course import Course


@dataclass(frozen=True)
class CheckFiles:
    """The check files of an assignment: its own beside the source notebook, or else the package's."""

    shown: str
    """Their folder as its author names it."""
    texts: Mapping[str, str]
    """Texts by the files' names."""
    are_own: bool

    @classmethod
    def of(cls, course: Course, assignment: str, notebook: str) -> CheckFiles:
        own = course.folder("source", ".", assignment) / "checks"
        for folder in (own, *([packaged_checks(notebook)] if notebook else [])):
            texts = {
                path.name: path.read_text(encoding="utf-8", errors="replace") for path in folder.glob("*.py")
            }
            if texts:
                return cls(course.told(folder), texts, folder == own)
        return cls(course.told(own), {}, True)

    def of_tasks(self, tasks: Collection[str]) -> CheckFiles:
        """Return the files that a notebook with some of the tasks needs; a course's own are all needed."""
        dropped = {
            name.partition("_")[2] for name in self.texts if name.startswith("test_") and not self.are_own
        } - {f"{task}.py" for task in tasks}
        texts = {name: text for name, text in self.texts.items() if name.partition("_")[2] not in dropped}
        return replace(self, texts=texts)

    def place(self, file: str, line: int = 0) -> str:
        """Return the place of a line in one of the files."""
        return f"{self.shown}/{file}" + (f", line {line}" if line else "")

    def of_check(self, task: str, name: str) -> str:
        """Return the place of a check: the line that gives its name a meaning."""
        for file in (f"hidden_{task}.py", f"test_{task}.py"):
            text = self.texts.get(file, "")
            lines = list(_lines_of_name(text, f"test_{name}")) or list(_lines_of_statement(text, name))
            if lines:
                return self.place(file, lines[-1])
        return self.place(f"test_{task}.py")


@dataclass(frozen=True)
class Places:
    """The places of an assignment's tasks, checks, mistakes and right answers."""

    course: Course
    assignment: str
    notebook: str
    """The notebook's name, without the ending."""

    @property
    def source(self) -> str:
        """Return the source notebook's place."""
        return self.course.told(self._source)

    @property
    def hints(self) -> str:
        return self.course.told(self.course.folder("release", ".", self.assignment) / "hints.json")

    def cell(self, name: str) -> str:
        """Return the place of a cell by its id."""
        return f"{self.source}, cell `{name}`"

    def graded(self, task: str) -> str:
        """Return the place of the cell that has a task's points."""
        cells = nbformat.read(self._source, as_version=4).cells if self._source.is_file() else []
        found = (grade_id(cell) for cell in cells if is_grade(cell) and check_task(cell) == task)
        return self.cell(next(found, task))

    def has_check(self, task: str) -> bool:
        """Return whether checks judge a task, and not a test cell of nbgrader's."""
        return f"test_{task}.py" in self._checks.texts

    def check(self, task: str, name: str) -> str:
        """Return the place of a check."""
        return self._checks.of_check(task, name)

    def checks_of(self, task: str) -> str:
        """Return the place of a task's checks."""
        return self.check_file(f"test_{task}.py")

    def check_file(self, name: str, line: int = 0) -> str:
        """Return the place of a line in a file of the checks."""
        return self._checks.place(name, line)

    def mistake(self, name: str) -> str:
        """Return the place of a known mistake."""
        return toml_place(self.course, self.course.catalogue_path(self.assignment), name)

    @cached_property
    def _checks(self) -> CheckFiles:
        return CheckFiles.of(self.course, self.assignment, self.notebook)

    @property
    def _source(self) -> Path:
        return self.course.folder("source", ".", self.assignment) / f"{self.notebook}.ipynb"


def toml_place(course: Course, path: Path, *keys: str) -> str:
    """Return the place of a table or value in a TOML file; that of the file where it is not to be found."""
    text = path.read_text(encoding="utf-8") if path.suffix == ".toml" and path.is_file() else ""
    line = lines_of(text).get(keys, 0)
    return course.told(path) + (f", line {line}" if line else "")


def _lines_of_name(text: str, name: str) -> Iterator[int]:
    """Yield the lines of a file that give a name a meaning: by a function, an assignment or an import."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=bound) | ast.AsyncFunctionDef(name=bound) if bound == name:
                yield node.lineno
            case ast.Name(id=bound, ctx=ast.Store()) if bound == name:
                yield node.lineno
            case ast.alias() if (node.asname or node.name) == name:
                yield node.lineno


def _lines_of_statement(text: str, name: str) -> Iterator[int]:
    """Yield the lines of what makes a check by `standard`: the statement, then what is said of the check."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for call in ast.walk(tree):
        match call:
            case ast.Call(func=ast.Name(id="standard") | ast.Attribute(attr="standard")):
                yield call.lineno
                for each in call.keywords:
                    if each.arg is not None and NAME_OF_METHOD.get(each.arg) == name:
                        yield each.value.lineno
