"""`autograder convert` on whole courses: what is written, what is compared, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbformat
import nbgrader
import pytest

from autograder.grading.build import source_bundle
from autograder.grading.converting.compare import Compared, Pair
from autograder.grading.course.course import Course
from tests.support.helpers import autograder_here as autograder

GUIDE = Path(nbgrader.__file__).parent / "docs/source/user_guide"
CONFIG = """c = get_config()
c.CourseDirectory.course_id = "plain"
c.GenerateAssignment.exporter_class = "autograder.grading.releasing.exporter.ReleaseExporter"
"""
RIGHT = "    if n < 0:\n        raise ValueError\n    return {n: np.arange(n)}"
TABLE = f"def table(n):\n    ### BEGIN SOLUTION\n{RIGHT}\n    ### END SOLUTION"
TESTS = "assert table(0)[0].shape == (0,)\nnp.testing.assert_array_equal(table(2)[2], [0, 1])"
HIDDEN = "### BEGIN HIDDEN TESTS\nassert list(table(5)) == [5]\n### END HIDDEN TESTS"
RAISES = "with pytest.raises(ValueError):\n    table(-1)"
STAYS = "assert table(len(vars()) and 3)"


def cell(source: str, name: str = "", points: float | None = None, solution: bool = False):
    marks = {"grade": points is not None, "solution": solution, "locked": not solution, "grade_id": name}
    marks |= {"schema_version": 3, "task": False} | ({"points": points} if points is not None else {})
    return nbformat.v4.new_code_cell(source, metadata={"nbgrader": marks} if name else {})


def notebook(answer: str = TABLE, tests: str = f"{TESTS}\n{HIDDEN}"):
    """A course's notebook: the solution cell has another id than its function's name."""
    return nbformat.v4.new_notebook(
        cells=[
            cell("import numpy as np\nimport pytest", "given"),
            cell(answer, "cell-1", solution=True),
            cell("table(3)"),
            cell(tests, "values", 1.5),
            cell(RAISES, "refuses", 1),
            cell(STAYS, "stays", 1),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )


def course_with(tmp_path: Path, made=None, **answers: str) -> Path:
    course = tmp_path / "course"
    (course / "source/ps").mkdir(parents=True)
    (course / "nbgrader_config.py").write_text(CONFIG)
    nbformat.write(made or notebook(), course / "source/ps/table.ipynb")
    for student, answer in answers.items():
        (course / "submitted" / student / "ps").mkdir(parents=True)
        nbformat.write(notebook(answer), course / "submitted" / student / "ps/table.ipynb")
    return course


def files_of(course: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in course.rglob("*") if path.is_file()}


def refused(course: Path, *command: str) -> str:
    before = files_of(course)
    told = autograder("convert", *command, "--course", course)
    assert told.returncode == 1
    assert files_of(course) == before
    return told.stdout + told.stderr


def test_a_tasks_cells_become_a_check_that_is_compared_on_the_class(tmp_path):
    answers = {
        "ada": f"def table(n):\n{RIGHT}",
        "ben": "def table(n):\n    return {n: list(range(n))}",
        "cleo": f"np.testing.assert_array_equal = print\ndef table(n):\n{RIGHT}".replace(
            "(n)}", "(n) * 1.5}"
        ),
    }
    course = course_with(tmp_path, **answers)
    before = files_of(course)
    tried = autograder("convert", "ps", "table", "--dry-run", "--course", course)
    assert tried.returncode == 0, tried.stderr
    assert "hidden_table.py:" in tried.stdout
    assert "expect_equal(lambda: table(2)[2], [0, 1]" in tried.stdout
    assert files_of(course) == before

    told = autograder("convert", "ps", "cell-1", "--course", course)
    assert told.returncode == 0, told.stderr
    assert (
        "cell `stays`, line 1: it stays a test cell: it uses `vars`, which a check does not have."
        in told.stderr
    )
    assert "`table`: 2.5 points by a check, in place of values, refuses." in told.stdout
    assert (
        "2 of 3 submissions alike; look at 1:\n  cleo 2.5 → 1 (`table(2)[2]` must be `[0, 1]`." in told.stdout
    )
    made = nbformat.read(course / "source/ps/table.ipynb", 4).cells
    graded = {
        each["metadata"]["nbgrader"]["grade_id"]: each for each in made if "nbgrader" in each["metadata"]
    }
    assert list(graded) == ["import_check", "given", "cell-1", "values", "stays"]
    assert graded["values"]["source"] == 'check("table")'
    assert graded["values"]["metadata"]["nbgrader"]["points"] == 2.5
    assert made[3]["metadata"]["tags"] == ["raises-exception"]

    (part,) = source_bundle(Course.at(course), "ps").parts
    assert part.cell_seconds == 30, "nbgrader's own limit, while test cells are left"
    assert "already: there is nothing to convert" in refused(course, "ps", "table")


def test_a_fault_of_the_check_is_not_alike():
    pair = Pair("kim", 0, 0, "The check `a` has a fault.", is_fault=True)
    told = Compared(Pair("", 1, 1, ""), Pair("", 0, 0, ""), (pair,)).told()
    assert told == ["0 of 1 submissions alike; look at 1:", "  kim 0 → 0 (The check `a` has a fault.)"]


def test_a_cell_stays_whose_check_would_be_unfair(tmp_path):
    answer = TABLE.replace("{n: np.arange(n)}", "range(n)")
    course = course_with(tmp_path, notebook(answer, "assert table(2) == range(2)"))
    told = autograder("convert", "ps", "table", "--course", course)
    assert (
        "cell `values`: it stays a test cell: its check gives the solution 0 of 1.5 points "
        "(`table(2)` must be `range(0, 2)`. It is a range)." in told.stderr
    )
    assert "`table`: 1 points by a check, in place of refuses." in told.stdout


def test_nothing_is_written_where_the_release_would_earn_all_points(tmp_path):
    given = "def table(n):\n    raise ValueError\n    ### BEGIN SOLUTION\n    ### END SOLUTION"
    made = notebook(given, "with pytest.raises(ValueError):\n    table(2)")
    said = refused(course_with(tmp_path, made), "ps", "table")
    for cell, points in (("values", 1.5), ("refuses", 1)):
        assert (
            f"cell `{cell}`: it stays a test cell: its check gives the untouched release {points} p" in said
        )


def test_what_cannot_be_converted_is_refused_in_a_sentence(tmp_path):
    course = course_with(tmp_path)
    assert "No solution cell of ps defines `chair`" in refused(course, "ps", "chair")
    assert "There is no assignment 'ps2'" in refused(course, "ps2", "table")
    (course / "source/ps/checks").mkdir()
    (course / "source/ps/checks/test_table.py").touch()
    assert "test_table.py is there already: move it away first." in refused(course, "ps", "table")


@pytest.mark.slow
def test_nbgraders_example_becomes_checks_task_by_task(tmp_path):
    course = course_with(tmp_path)
    shutil.rmtree(course / "source/ps")
    for part in ("source/ps1", "submitted/bitdiddle/ps1", "submitted/hacker/ps1"):
        (course / part).mkdir(parents=True)
        shutil.copyfile(GUIDE / part / "problem1.ipynb", course / part / "problem1.ipynb")
    told = autograder("convert", "ps1", "squares", "--course", course)
    assert "2 of 2 submissions alike." in told.stdout, told.stderr
    told = autograder("convert", "ps1", "sum_of_squares", "--course", course)
    assert (
        "`sum_of_squares_uses_squares`, line 2: it stays a test cell: it uses `squares` otherwise"
        in told.stderr
    )
    assert (
        "1 of 2 submissions alike; look at 1:\n  bitdiddle 0 → 0.5 (Judged with a correct `squares`"
        in told.stdout
    )
    built = autograder("build", "ps1", "--course", course)
    assert "ps1: built, 6 tasks, 10 points, 7 of them graded by hand" in built.stdout, built.stderr
    told = autograder("validate", "ps1", "--course", course)
    assert told.returncode == 0, told.stderr
    assert "No known mistakes of `squares`, `sum_of_squares` are kept" in told.stdout


@pytest.mark.slow
def test_submissions_of_before_are_not_said_to_be_changed(tmp_path):
    course = course_with(tmp_path)
    assert autograder("build", "--course", course).returncode == 0
    (course / "submitted/ada").mkdir(parents=True)
    shutil.copytree(course / "release/ps", course / "submitted/ada/ps")
    assert autograder("convert", "ps", "table", "--course", course).returncode == 0
    assert autograder("build", "--course", course).returncode == 0
    assert autograder("grade", "ps", "--course", course).returncode == 0
    verdict = json.loads((course / "verdicts/ps/ada.json").read_text())
    assert "edited_check" not in {finding["kind"] for finding in verdict["verdict"]["findings"]}
