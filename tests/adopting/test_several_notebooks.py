"""nbgrader's own example course: two notebooks in an assignment, test cells, hidden tests, essays, a task."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import nbgrader
import pytest

from autograder.grading.batch import grade
from autograder.grading.build import build
from autograder.grading.collecting.collect import collect
from autograder.grading.course.course import Course
from autograder.grading.course.settings import SETTINGS, with_settings
from autograder.grading.judging.judge_pool import LocalJudges
from autograder.grading.records.results import results
from autograder.grading.records.scores import read_marks
from autograder.grading.workers.forkserver import ForkServer
from autograder.reporting.page import page
from autograder.reporting.report import gather
from autograder.verdict import ByHand, Finding, TaskVerdict, Verdict
from tests.support.courses import done, run
from tests.support.helpers import autograder_here

GUIDE = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide"
CONFIG = with_settings('c = get_config()\nc.CourseDirectory.course_id = "example"\n', SETTINGS)
POINTS = {
    "problem1/correct_squares": 0.0,
    "problem1/squares_invalid_input": 1.0,
    "problem1/sum_of_squares_equation": None,
    "problem1/correct_sum_of_squares": 0.0,
    "problem1/sum_of_squares_uses_squares": 0.5,
    "problem1/sum_of_squares_application": 0.0,
    "problem1/cell-938593c4a215c6cc": None,
    "problem2/part-a": None,
    "problem2/part-b": None,
}
"""What nbgrader itself gives bitdiddle; `None` waits for a person."""


def part(notebook: str, status: str, points: float) -> Verdict:
    task = TaskVerdict("square", points, ())
    findings = (Finding("cell_error", "It stopped.", "Yours stopped."),)
    return Verdict("kim", "ps1", notebook, status, 0.5, 7, findings, (task,), (ByHand("essay", 2.0),))


class TestVerdict:
    def test_lists_its_notebooks_and_gives_back_each(self):
        parts = [part("a", "graded", 1.0), part("b", "timeout", 3.0)]
        whole = Verdict.of_several(parts)
        assert [task.task for task in whole.tasks] == ["a/square", "b/square"]
        assert [each.message for each in whole.findings] == ["a: It stopped.", "b: It stopped."]
        assert (whole.notebook, whole.status, whole.max_score, whole.seconds) == ("", "timeout", 4.0, 1.0)
        listed = [each["notebook"] for each in whole.as_json()["notebooks"]]
        assert listed == ["a", "b"]
        assert [whole.part(name).as_json() for name in listed] == [each.as_json() for each in parts]

    def test_is_missing_only_if_all_are(self):
        there, absent = part("a", "graded", 1.0), part("b", "missing", 1.0)
        assert Verdict.of_several([absent, there]).status == "graded"
        assert Verdict.of_several([absent, absent]).status == "missing"

    def test_of_one_notebook_is_written_as_ever(self):
        written = part("a", "graded", 1.0).as_json()
        assert "notebooks" not in written
        assert "notebook" not in written["findings"][0]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("example")
    (root / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    shutil.copytree(GUIDE / "source" / "ps1", root / "source" / "ps1")
    shutil.copytree(GUIDE / "submitted", root / "submitted")
    second = root / "submitted" / "solo" / "ps1" / "problem2.ipynb"
    second.parent.mkdir(parents=True)
    shutil.copy(GUIDE / "submitted" / "hacker" / "ps1" / "problem2.ipynb", second)
    return Course.at(root)


@pytest.fixture(scope="module")
def judges() -> Iterator[LocalJudges]:
    with ForkServer() as workers:
        yield LocalJudges(workers, 2)


@pytest.fixture(scope="module")
def graded(course: Course, judges: LocalJudges) -> Course:
    (built,) = build(course, ["ps1"], say=lambda line: None)
    assert (built.tasks, built.max_score, built.by_hand) == (9, 13.0, 10.0)
    assert any("NotImplementedError" in remark for remark in built.remarks)
    assert len(list(grade(course, "ps1", judges=judges))) == 3
    return course


@pytest.mark.slow
class TestNbgradersExample:
    def test_every_cell_has_the_points_that_nbgrader_gives(self, graded: Course):
        marks = read_marks(graded, "ps1")
        assert marks.marks["bitdiddle"].tasks == POINTS
        assert marks.max_scores.keys() == POINTS.keys()
        assert marks.max_score == 13.0

    def test_a_notebook_that_is_missing_beside_another_has_no_points(self, graded: Course):
        found = {each.verdict.student: each.verdict for each in results(graded, "ps1")}
        assert [each.status for each in found["solo"].notebooks] == ["missing", "graded"]
        assert found["solo"].status == "graded"
        tasks = read_marks(graded, "ps1").marks["solo"].tasks
        assert {points for task, points in tasks.items() if task.startswith("problem1/")} == {0.0}

    def test_the_report_and_the_page_have_all_of_them(self, graded: Course):
        report = gather(graded, "ps1")
        assert {task.task for task in report.tasks} >= {"problem1/correct_squares"}
        shown = page(report, graded.root)
        assert "Of test cells nothing is known but whether they passed." in shown
        assert "is explained by a known mistake" not in shown
        done(run(graded.root, "nbgrader", "generate_feedback", "ps1", "--student", "bitdiddle"))
        pages = graded.root / "feedback" / "bitdiddle" / "ps1"
        assert sorted(page.name for page in pages.glob("*.html")) == ["problem1.html", "problem2.html"]
        assert "problem1/" not in (pages / "problem1.html").read_text(encoding="utf-8")
        shown = page(gather(graded, "ps1"), graded.root)
        assert all(
            f'ps1/{name}.html" aria-label="{name}, feedback' in shown for name in ("problem1", "problem2")
        )

    def test_one_file_is_judged_by_its_name(self, graded: Course):
        told = autograder_here(
            "check", str(graded.root / "submitted/hacker/ps1/problem1.ipynb"), "--course", str(graded.root)
        )
        assert "3 of 3 points, and 7 that a person gives" in told.stdout

    def test_nbgraders_own_command_gives_the_same(self, graded: Course):
        before = read_marks(graded, "ps1").marks
        assert "invalid" not in done(run(graded.root, "nbgrader", "autograde", "ps1", "--force"))
        assert read_marks(graded, "ps1").marks == before

    def test_only_a_notebook_that_has_changed_is_judged_again(self, graded: Course, judges: LocalJudges):
        of_hacker = graded.root / "submitted" / "hacker" / "ps1"
        shutil.copy(of_hacker / "problem1.ipynb", graded.root / "submitted/bitdiddle/ps1/problem1.ipynb")
        second = graded.root / "autograded" / "bitdiddle" / "ps1" / "problem2.ipynb"
        before = second.stat().st_mtime_ns
        fresh = [each.verdict for each in grade(graded, "ps1", judges=judges) if each.fresh]
        assert [verdict.student for verdict in fresh] == ["bitdiddle"]
        assert fresh[0].score == 3.0
        assert second.stat().st_mtime_ns == before
        again = list(grade(graded, "ps1", judges=judges))
        assert not any(each.fresh for each in again)

    def test_a_download_is_put_in_place_whole(self, graded: Course, tmp_path: Path):
        for name in ("problem1.ipynb", "problem2.ipynb"):
            target = tmp_path / "download" / "solo" / f"my {name}"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(graded.root / "submitted" / "hacker" / "ps1" / name, target)
        collect(graded, "ps1", tmp_path / "download", roster=None, times="files", dry_run=False)
        there = graded.root / "submitted" / "solo" / "ps1"
        assert sorted(path.name for path in there.glob("*.ipynb")) == ["problem1.ipynb", "problem2.ipynb"]
