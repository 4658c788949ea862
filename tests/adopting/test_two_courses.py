"""Courses of other subjects, numpy and pandas: the scores are nbgrader's, also when converted into checks."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from autograder.errors import UserError
from autograder.grading.converting.convert import plan
from autograder.grading.course.course import Course
from tests.adopting.subjects import STUDENTS, subject
from tests.adopting.test_same_as_nbgrader import STOCK, TIMEOUT, made_courses, marks, run_stock
from tests.support.helpers import autograder_here

CONVERTED = {
    "arrays": {"board": 2, "unit_rows": 2, "moving_average": 3, "fit_line": 2, "count_labels": 1},
    "tables": {
        "rentals": 2, "clean": 2, "by_shop": 3, "longest": 1.5, "with_prices": 2, "total": 1, "mean_paid": 1,
        "busiest": 0.5, "crosswise": 2,
    },
}  # fmt: skip
"""The points of the test cells that become checks, by task: 10 of 15 points, and 15 of 17."""
STAY = {
    "arrays": {
        "centre_values": "reads a file",
        "centre_argument": "what became of an input",
        "count_labels_parts": "a part of the points",
        "warmest_values": "reads a file",
    },
    "tables": {"clean_argument": "reads a file"},
}
NAMES = tuple(CONVERTED)


@pytest.mark.parametrize("name", NAMES)
def test_nearly_all_test_cells_can_be_checks(name, tmp_path):
    home = tmp_path / "source" / name
    home.mkdir(parents=True)
    (tmp_path / "nbgrader_config.py").write_text(STOCK)
    nbformat.write(subject(name).source, home / f"{name}.ipynb")
    stays = list[str]()
    for task, points in CONVERTED[name].items():
        made = plan(Course.at(tmp_path), name, task)
        assert made.points == points, task
        stays += made.stays
    for task in ("centre", "warmest") if name == "arrays" else ():
        with pytest.raises(UserError) as refused:
            plan(Course.at(tmp_path), name, task)
        stays += str(refused.value).splitlines()
    for cell, reason in STAY[name].items():
        assert any(f"`{cell}`" in line and reason in line for line in stays), cell


@pytest.fixture(scope="module", params=NAMES)
def graded(request, tmp_path_factory) -> tuple[str, Path, Path]:
    """A course's name, and the course, graded by nbgrader and by ours."""
    name = request.param
    stock, ours = made_courses(tmp_path_factory.mktemp(name), {name: subject(name)})
    run_stock(stock, "autograde", name)
    for command in (("adopt", ours, "--yes"), ("grade", name, "--course", ours)):
        told = autograder_here(*command)
        assert told.returncode == 0, told.stderr
    return name, stock, ours


@pytest.mark.slow
def test_every_cell_has_nbgraders_score(graded):
    _, stock, ours = graded
    assert marks(ours) == marks(stock)
    assert len(marks(ours)) == len(STUDENTS)


@pytest.mark.slow
def test_the_scores_are_the_same_when_tasks_are_converted(graded):
    """Four tasks, each of which takes six seconds; all fourteen were tried when this was written.

    Whoever loops for ever is compared at the end alone: each comparison would wait for each loop.
    """
    name, _, plain = graded
    course = plain.parent / "converted"
    shutil.copytree(plain, course)
    shutil.move(course / "submitted/endless", course / "endless")
    config = course / "nbgrader_config.py"  # the first check of a notebook imports more than 4 seconds allow
    config.write_text(config.read_text().replace(f"timeout = {TIMEOUT}", "timeout = 20"))
    for task, points in [*CONVERTED[name].items()][:4]:
        told = autograder_here("convert", name, task, "--course", course)
        assert f"`{task}`: {points:g} points by a check" in told.stdout, told.stderr
        assert "5 of 5 submissions alike." in told.stdout
    shutil.move(course / "endless", course / "submitted/endless")
    for command in ("build", "grade"):
        told = autograder_here(command, name, "--course", course)
        assert told.returncode == 0, told.stdout + told.stderr
    assert totals(course) == totals(plain)
    missing = course / "verdicts" / name / "missing.json"
    assert name == "arrays" or "Your cell for `rentals` stopped: ModuleNotFoundError" in missing.read_text()


def totals(course: Path) -> dict[str, float]:
    return {who: sum(filter(None, cells.values())) for who, cells in marks(course).items()}
