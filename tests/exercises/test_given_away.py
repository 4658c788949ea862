"""No later notebook, and no file that students have from the first day, answers an earlier task."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import nbformat
import pytest

from autograder.checking.runner.handed_out_file import goes_out
from autograder.exercises import HOME
from autograder.grading.assignment.bundle import OPTIMIZERS, Bundle
from autograder.grading.assignment.cells import is_solution
from autograder.grading.course.course import Course
from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.judge import judge_answers
from autograder.grading.workers.forkserver import ForkServer, RunLimits
from tests.support.courses import ROOT

KNOWN = {("LSTMLayer", "05_stacking", "LSTMLayer")}
"""The task, the assignment that gives its answer, and the name there, where it cannot be helped."""
HANDS_ON = ("detach_state", "state/training.py", "loss_and_state")
"""A function that returns its argument, which is most of `detach_state` and no secret."""
INSTEAD_OF_SELF = """
class _Everything:
    def __init__(self, value):
        self._value = value
    def __getattr__(self, name):
        return self._value
"""
"""An object whose every attribute is what a task was given: `self.encoder` of a class is the task's `rnn`."""


@dataclass(frozen=True)
class Definition:
    """A function, class or method that students can read, with all that stands beside it."""

    origin: str
    beside: str
    node: ast.FunctionDef | ast.ClassDef
    owner: str = ""
    """The class of a method."""

    @property
    def name(self) -> str:
        return f"{self.owner}.{self.node.name}" if self.owner else self.node.name

    def answer(self, task: str, wanted: ast.FunctionDef | ast.ClassDef) -> str | None:
        """Return it as an answer to a task; `None` if it is of another kind or takes other arguments."""
        if type(wanted) is not type(self.node):
            return None
        if isinstance(self.node, ast.ClassDef) or isinstance(wanted, ast.ClassDef):
            return f"{self.beside}\n\nclass {task}({self.name}):\n    pass\n"
        takes = len(wanted.args.args)
        given = self.node.args.args
        if not len(given) - len(self.node.args.defaults) <= takes <= len(given):
            return None
        names = [argument.arg for argument in wanted.args.args]
        first = f"_Everything({names[0]})" if self.owner and names else ", ".join(names[:1])
        call = f"{self.name}({', '.join([first, *names[1:]])})"
        return f"{self.beside}\n{INSTEAD_OF_SELF}\n\ndef {task}({', '.join(names)}):\n    return {call}\n"


def definitions(origin: str, trees: list[ast.Module]) -> Iterator[Definition]:
    nodes = [node for tree in trees for node in tree.body]
    kept = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    kept = [node for node in kept if not node.name.startswith("test_")]
    for node in (each for one in kept for each in ast.walk(one)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            node.decorator_list.clear()
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    beside = "\n\n".join(map(ast.unparse, kept))
    for node in kept:
        yield Definition(origin, beside, node)
        if isinstance(node, ast.ClassDef):
            methods = (each for each in node.body if isinstance(each, ast.FunctionDef))
            yield from (Definition(origin, beside, each, node.name) for each in methods)


def in_release(assignment: str) -> list[Definition]:
    (path,) = (ROOT / "release" / assignment).glob("*.ipynb")
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell["cell_type"] == "code"]
    return list(
        definitions(assignment, [ast.parse(cell["source"]) for cell in cells if not is_solution(cell)])
    )


def in_package() -> list[Definition]:
    files = [path for path in sorted(HOME.rglob("*.py")) if goes_out(path.name)]
    return [
        each
        for path in files
        for each in definitions(str(path.relative_to(HOME)), [ast.parse(path.read_text(encoding="utf-8"))])
    ]


def wanted_of(bundle: Bundle, task: str) -> ast.FunctionDef | ast.ClassDef | None:
    for node in ast.parse(bundle.solution.get(task, "")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == task:
            return node
    return None


@pytest.mark.slow
def test_no_task_is_answered_by_what_students_can_read():
    course = Course.at(ROOT)
    assignments = course.assignments()
    package, releases = in_package(), {name: in_release(name) for name in assignments}
    found = set()
    with ForkServer(RunLimits(call_seconds=2, total_seconds=60), preload=OPTIMIZERS) as workers:
        for number, assignment in enumerate(assignments):
            bundle = course.bundle(assignment)
            later = [each for name in assignments[number + 1 :] for each in releases[name]]
            with checks_of(bundle) as checks:
                for task, points in bundle.tasks.items():
                    wanted = wanted_of(bundle, task)
                    if wanted is None:
                        continue
                    answers = {
                        f"{each.origin} {each.name}": text
                        for each in (*later, *package)
                        if (text := each.answer(task, wanted)) is not None
                    }
                    told = judge_answers(
                        bundle, task, answers, seed=7, checks=checks, workers=workers, explain=False
                    )
                    for name, verdict in told.items():
                        if verdict.score > points / 2:
                            found.add((task, *name.split()))
    assert found == {*KNOWN, HANDS_ON}
    for assignment in assignments:
        holds = {task for task, origin, _ in KNOWN if origin == assignment}
        named = {task for name in course.release_after(assignment) for task in course.bundle(name).tasks}
        assert holds <= named, f"{assignment} does not say after which one it is released"
        assert holds or not named
