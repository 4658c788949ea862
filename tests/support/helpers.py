"""Helpers that tests share: small courses, notebooks with other answers, and the two roads to a verdict."""

from __future__ import annotations

import copy
import functools
import io
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import nullcontext, redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import psutil
from nbgrader import api

from autograder import cli
from autograder.checking.runner.checks import Checks
from autograder.checking.runner.collection import collect
from autograder.grading.assignment.bundle import Bundle, packaged_checks
from autograder.grading.course.course import Course
from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.judge import Graded, judge
from autograder.grading.workers.forkserver import ForkServer, RunLimits
from autograder.verdict import OUTCOMES, STATUSES, UNREAD
from tests.support.environments import fork_servers

# nbgrader starts a process, two seconds long, for every new gradebook, to be told the same each time.
api.get_alembic_version = functools.cache(api.get_alembic_version)

ROOT = Path(__file__).parents[2]
ASSIGNMENT = "03_lstm_cell"
NOTEBOOK = "lstm_cell"
SEED = 20_261_121
"""The course seed of judged notebooks; no worker may ever see it."""

QUICK = RunLimits(cell_seconds=1.5, call_seconds=1.5, total_seconds=25)
"""Limits for tests in which something hangs."""


@functools.cache
def _committed(kind: str, assignment: str) -> str:
    return (ROOT / kind / assignment / f"{assignment[3:]}.ipynb").read_text(encoding="utf-8")


def solved(assignment: str = ASSIGNMENT) -> dict[str, Any]:
    """The solved notebook as JSON data, without outputs: every point is right in it."""
    return _blank(_committed("solutions", assignment))


def released(assignment: str = ASSIGNMENT) -> dict[str, Any]:
    """The notebook as students get it, as JSON data."""
    return _blank(_committed("release", assignment))


def _blank(text: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(text)
    for cell in data["cells"]:
        cell["source"] = "".join(cell["source"])
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    return data


def cell_named(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The cell with nbgrader's id `name`."""
    return next(c for c in data["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name)


def code_cell(source: str) -> dict[str, Any]:
    """A code cell as a student adds one."""
    return {
        "cell_type": "code",
        "source": source,
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "id": _id(),
    }


def _id() -> str:
    return f"added-{next(_numbers)}"


_numbers = itertools.count(1)


def submission(
    answers: Mapping[str, str] | None = None,
    *,
    before: str = "",
    after: Mapping[str, str] | None = None,
    end: str = "",
    base: Mapping[str, Any] | None = None,
) -> bytes:
    """The solved notebook (or `base`) with other `answers` by grade_id and code cells added to it.

    `before` is a cell in front of everything, `after` has cells to put behind those named, `end` is the last.
    """
    data = copy.deepcopy(dict(base)) if base is not None else solved()
    for name, source in (answers or {}).items():
        cell_named(data, name)["source"] = source
    for name, source in (after or {}).items():
        data["cells"].insert(data["cells"].index(cell_named(data, name)) + 1, code_cell(source))
    if before:
        data["cells"].insert(0, code_cell(before))
    if end:
        data["cells"].append(code_cell(end))
    return json.dumps(data).encode()


def answer(name: str, *, prepend: str = "", append: str = "") -> str:
    """The right source of a solution cell with more in front of it and behind it."""
    return "\n".join(filter(None, [prepend, str(cell_named(solved(), name)["source"]), append]))


def make_bundle(assignment: str = ASSIGNMENT, solution: bool | Mapping[str, str] = False) -> Bundle:
    """The bundle of the committed assignment, with its own solution or with another one."""
    bundle = Bundle(assignment, assignment[3:], _committed("release", assignment))
    if not isinstance(solution, Mapping):
        cells = {task: str(cell_named(solved(assignment), task)["source"]) for task in bundle.tasks}
        solution = cells if solution else {}
    return replace(bundle, solution=solution)


def run_judge(raw: bytes | None, workers: ForkServer, bundle: Bundle | None = None) -> Graded:
    """Judge one submission in this process; the result keeps the contract of every verdict."""
    bundle = bundle or make_bundle()
    with (
        checks_of(bundle)
        if bundle.own_checks or bundle.has_plain_tests
        else nullcontext(_packaged(bundle.notebook)) as checks
    ):
        graded = judge(raw, bundle, student="mallory", seed=SEED, checks=checks, workers=workers)
    assert_explicit(graded.verdict.as_json())
    graded.notebook.encode()  # can be written
    nbformat.validate(nbformat.reads(graded.notebook, as_version=4))
    return graded


@functools.cache
def _packaged(notebook: str) -> Checks:
    """The package's own checks of a notebook, collected once, as for a whole class."""
    return collect(packaged_checks(notebook))


def assert_explicit(verdict: Mapping[str, Any]) -> None:
    """Assert that every status and outcome is one of the contract's, and no score outside its bounds."""
    json.dumps(verdict, ensure_ascii=False, allow_nan=False).encode()
    assert verdict["status"] in STATUSES, verdict["status"]
    if verdict["status"] in UNREAD:
        assert {each["score"] for each in (verdict, *verdict["tasks"])} == {None}
        return
    assert 0 <= verdict["score"] <= verdict["max_score"]
    for task in verdict["tasks"]:
        assert 0 <= task["score"] <= task["max_score"]
        assert all(check["outcome"] in OUTCOMES for check in task["checks"]), task
        assert all(len(check["message"]) < 5000 for check in task["checks"]), (
            "a message that fills the screen"
        )


def scores(graded: Graded) -> dict[str, float]:
    """The score of each task."""
    return {task.task: task.score for task in graded.verdict.tasks}


def outcomes(graded: Graded, task: str) -> dict[str, str]:
    """The outcome of each check in a task."""
    return {check.check: check.outcome for t in graded.verdict.tasks if t.task == task for check in t.checks}


def outputs_text(graded: Graded) -> str:
    """All that a submission printed, displayed or raised, as it stands in the graded notebook."""
    cells = nbformat.reads(graded.notebook, as_version=4).cells
    return json.dumps([cell.get("outputs", []) for cell in cells], ensure_ascii=False)


def make_course(root: Path, assignments: Iterable[str] = (ASSIGNMENT,), settings: str = "") -> Course:
    """A built course in an empty directory: the committed release, and a gradebook that knows it.

    `settings` are more lines for its `nbgrader_config.py`.
    """
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    (root / "nbgrader_config.py").write_text(f"{config}\n{settings}\n", encoding="utf-8")
    course = Course.at(root)
    for name in assignments:
        for step in ("source", "release"):
            shutil.copytree(ROOT / step / name, root / step / name, copy_function=shutil.copyfile)
        make_known(course, name)
    return course


def make_known(course: Course, name: str = ASSIGNMENT) -> None:
    """Tell a course's gradebook of a released assignment, as `build` does."""
    release = nbformat.read(course.folder("release", ".", name) / f"{name[3:]}.ipynb", as_version=4)
    with course.gradebook() as gradebook:
        gradebook.add_assignment(name)
        gradebook.add_notebook(name[3:], name)
        for cell in release.cells:
            marks = cell["metadata"].get("nbgrader", {})
            where = (marks.get("grade_id"), name[3:], name)
            kind = {"cell_type": cell["cell_type"]}
            if marks.get("grade"):
                gradebook.add_grade_cell(*where, max_score=marks["points"], **kind)
            if marks.get("solution"):
                gradebook.add_solution_cell(*where)
            if marks:
                gradebook.add_source_cell(
                    *where, source=cell["source"], checksum=marks.get("checksum"), **kind
                )


def submit(course: Course, student: str, raw: bytes | None, assignment: str = ASSIGNMENT) -> Path:
    """Put a student's notebook where submissions lie; `None` leaves the folder empty."""
    path = course.folder("submitted", student, assignment) / f"{assignment[3:]}.ipynb"
    path.parent.mkdir(parents=True)
    if raw is not None:
        path.write_bytes(raw)
    return path


def autograder_here(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command in this process: one of its own takes four seconds to import what is here already.

    For what the command decides, says and leaves behind; what is about processes needs `autograder`. Its fork
    server is one that an earlier call has left.
    """
    command = list(map(str, arguments))
    said, complained = io.StringIO(), io.StringIO()
    with redirect_stdout(said), redirect_stderr(complained), fork_servers.kept():
        try:
            cli.app(command)
        except SystemExit as ended:
            status = ended.code
    return subprocess.CompletedProcess(command, status, said.getvalue(), complained.getvalue())


def autograder(
    *arguments: object, seconds: float = 300, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the real command, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "autograder", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd="/",
        timeout=seconds,
        env={**os.environ, **environment},
    )


def workers_of(parent: ForkServer) -> list[psutil.Process]:
    """Return the processes of a parent's workers: unlike its copies they are in sessions of their own."""
    home, found = psutil.Process(parent._process.pid), []
    for child in home.children(recursive=True):
        with suppress(ProcessLookupError):
            if os.getsid(child.pid) != os.getsid(home.pid):
                found.append(child)
    return found
