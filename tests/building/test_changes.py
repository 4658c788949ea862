"""Keys of the parts of an assignment: the work that a change asks for, and what is taken over."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

import autograder.grading.building.changes as changes
from autograder.errors import UserError
from autograder.grading.build import build
from autograder.grading.building.changes import Parts
from autograder.grading.course.course import Course
from autograder.grading.validate import validate
from tests.support.environments import fork_servers
from tests.support.faults import make_own_course
from tests.support.helpers import autograder_here

NAME = "01_double"
SOURCE = f"source/{NAME}/double.ipynb"
CHECKS = f"source/{NAME}/checks/test_double.py"
CATALOGUE = f"solutions/mistakes/{NAME}.toml"
ANSWERS = f"solutions/variants/{NAME}.toml"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def add_cell(course: Path, cell: nbformat.NotebookNode) -> None:
    notebook = nbformat.read(course / SOURCE, as_version=4)
    notebook.cells.insert(1, cell)
    nbformat.write(notebook, course / SOURCE)


def write(name: str, text: str) -> Callable[[Path], Any]:
    def change(course: Path) -> None:
        (course / name).parent.mkdir(exist_ok=True)
        (course / name).write_text(text)

    return change


FREE = {"grade": True, "grade_id": "why", "locked": False, "points": 2, "schema_version": 3}
FREE |= {"solution": True, "task": False}
CHANGES: dict[str, tuple[Callable[[Path], Any], set[str]]] = {
    "prose": (lambda at: add_cell(at, nbformat.v4.new_markdown_cell("Twice.")), {"text"}),
    "a free answer": (
        lambda at: add_cell(at, nbformat.v4.new_markdown_cell("Why?", metadata={"nbgrader": FREE})),
        {"text", "code"},  # the prose behind it has another place
    ),
    "code": (lambda at: edit(at / SOURCE, "return 2 * x", "return x * 2"), {"code"}),
    "a file beside it": (write(f"source/{NAME}/data.csv", "1"), {"code"}),
    "checks": (lambda at: edit(at / CHECKS, "doubles every", "doubles each"), {"checks"}),
    "a hint": (lambda at: edit(at / CATALOGUE, "by three", "by 3"), {"catalogue"}),
    "a right answer": (write(ANSWERS, "[double]\n"), {"right_answers"}),
    "a setting": (
        lambda at: edit(
            at / "nbgrader_config.py", "c = get_config()", "c = get_config()\nc.Exchange.root = '/x'"
        ),
        {"engine"},
    ),
    "the seed": (write(".autograder/seed", "3\n"), {"engine"}),
}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    make_own_course(tmp_path)
    return tmp_path


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_of_one_part_changes_its_key_alone(course, what):
    before = Parts.of(Course.at(course), NAME)
    change, parts = CHANGES[what]
    change(course)
    assert Parts.of(Course.at(course), NAME).changed(before) == parts


def test_packaged_checks_are_a_part_of_their_own_and_none_of_the_engine(tmp_path, monkeypatch):
    """A check file of one assignment asks for nothing in the others."""
    from tests.support.helpers import make_course

    exercises = tmp_path / "autograder" / "exercises"
    shutil.copytree(changes.autograder.exercises.HOME, exercises)
    monkeypatch.setattr(changes.autograder.exercises, "HOME", exercises)
    monkeypatch.setattr(changes.autograder, "__file__", str(tmp_path / "autograder" / "__init__.py"))
    (tmp_path / "course").mkdir()
    course = make_course(tmp_path / "course", ["02_rnn_cell", "03_lstm_cell"])

    def parts() -> dict[str, Parts]:
        changes._package.cache_clear()
        return {name: Parts.of(course, name) for name in ("02_rnn_cell", "03_lstm_cell")}

    try:
        before = parts()
        edit(exercises / "lstm_cell" / "test_lstm_gates.py", '"""', '"""\n')
        after = parts()
        assert after["03_lstm_cell"].changed(before["03_lstm_cell"]) == {"checks"}
        assert after["02_rnn_cell"] == before["02_rnn_cell"]
        (tmp_path / "autograder" / "new.py").touch()
        assert parts()["02_rnn_cell"].changed(before["02_rnn_cell"]) == {"engine"}
    finally:
        changes._package.cache_clear()


def test_a_build_counts_only_while_what_it_made_is_there_and_the_gradebook_knows_it(tmp_path):
    from tests.support.helpers import ASSIGNMENT, make_course

    course = make_course(tmp_path)
    changes.keep_built(course, ASSIGNMENT, Parts.of(course, ASSIGNMENT), {"tasks": 4})
    last = changes.last_build(course, ASSIGNMENT)
    assert last is not None
    assert (last.parts, last.said) == (Parts.of(course, ASSIGNMENT), {"tasks": 4})
    hints = course.folder("release", ".", ASSIGNMENT) / "hints.json"
    kept = hints.read_bytes()
    hints.write_bytes(kept + b"\n")
    assert changes.last_build(course, ASSIGNMENT) is None
    hints.write_bytes(kept)
    assert changes.last_build(course, ASSIGNMENT) == last
    (tmp_path / "gradebook.db").unlink()
    assert changes.last_build(course, ASSIGNMENT) is None


def built(course: Path, **options: bool) -> tuple[list[str], str]:
    """Build, and return the steps that were taken and what was taken over."""
    steps: list[str] = []
    with fork_servers.kept():
        (one,) = build(Course.at(course), [], say=steps.append, **options)
    return [step.removeprefix(f"{NAME}: ") for step in steps], one.taken_over


def validated(course: Path) -> bool:
    """Validate, and return whether it was taken over."""
    with fork_servers.kept():
        (one,) = validate(Course.at(course), [], 1, say=lambda line: None)
    assert not one.problems
    return one.unchanged


PROVED = ["judging the solution", "running the solution in a notebook", "proving the release"]
WRITTEN = "writing the release and the solution"
TRIED, PLACED = "trying the known mistakes", "putting it in place"


@pytest.mark.slow
def test_a_build_takes_over_what_does_not_depend_on_the_change(course):
    solved = course / "solutions" / NAME / "double.ipynb"
    assert built(course) == ([*PROVED, TRIED, PLACED], "")
    assert not validated(course)
    ran = nbformat.read(solved, as_version=4)
    assert built(course) == ([], "")

    CHANGES["prose"][0](course)
    assert built(course) == ([WRITTEN, PLACED], "the proofs and the tried mistakes")
    again = nbformat.read(solved, as_version=4)
    assert "Twice." in [cell["source"] for cell in again.cells]
    assert [cell for cell in again.cells if cell["cell_type"] == "code"] == ran.cells
    assert again.metadata == ran.metadata
    assert "Twice." in (course / "release" / NAME / "double.ipynb").read_text()
    assert validated(course), "no verdict depends on prose"

    hints = (course / "release" / NAME / "hints.json").read_bytes()
    CHANGES["a hint"][0](course)
    assert built(course) == ([WRITTEN, TRIED, PLACED], "the proofs")
    assert (course / "release" / NAME / "hints.json").read_bytes() != hints
    assert not validated(course)

    CHANGES["checks"][0](course)
    assert built(course) == ([*PROVED, TRIED, PLACED], "")
    hints = (course / "release" / NAME / "hints.json").read_bytes()
    handout = course / ".autograder" / "handouts" / f"{NAME}.json"
    kept = json.loads(handout.read_text())
    handout.write_text(json.dumps({**kept, "files": {**kept["files"], "hints.json": "old"}}))
    assert built(course, force=True) == ([*PROVED, TRIED, PLACED], "")
    assert (course / "release" / NAME / "hints.json").read_bytes() == hints, "nothing is taken over"

    released = course / "release" / NAME / "double.ipynb"
    before = released.read_bytes()
    released.write_bytes(before + b"\n")  # somebody edits what is generated
    CHANGES["prose"][0](course)
    assert built(course) == ([*PROVED, TRIED, PLACED], "")
    assert not released.read_bytes().endswith(b"\n\n")
    (course / "gradebook.db").unlink()
    assert built(course) == ([*PROVED, TRIED, PLACED], "")
    told = autograder_here("build", "--course", course).stdout
    assert (
        told == f"{NAME}: unchanged since it was built (--force builds it all the same), 1 tasks, 2 points\n"
    )


@pytest.mark.slow
def test_nothing_is_taken_over_from_what_did_not_hold(course):
    edit(course / SOURCE, "2 * x", "2 * x + 0 * 1")
    edit(course / CATALOGUE, "2 * x", "2 * x + 0 * 1")
    built(course)
    edit(course / SOURCE, "2 * x + 0 * 1", "2 * x + 1")
    edit(course / CATALOGUE, "2 * x + 0 * 1", "2 * x + 1")
    for _ in range(2):
        with pytest.raises(UserError, match="its own solution gets"):
            built(course)
    kept = json.loads((course / ".autograder" / "built" / f"{NAME}.json").read_text())
    assert kept["parts"]["code"] != Parts.of(Course.at(course), NAME).code
