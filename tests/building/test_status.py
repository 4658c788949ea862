"""`autograder status` on real courses: what it counts, what it says to do next, and that it only reads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.grading.course.course import Course
from tests.support.courses import copy_course, done, run
from tests.support.helpers import ASSIGNMENT, ROOT, autograder, autograder_here, submission
from tests.support.reports import give_points

COUNTS = ("handed_in", "graded", "to_grade", "out_of_date", "for_a_person")


@pytest.fixture
def course(graded_class, tmp_path) -> Course:
    """Twelve who handed in and were graded, and one who waits."""
    return Course.at(copy_course(graded_class, tmp_path / "course"))


def asked(course: Path) -> dict[str, dict[str, Any]]:
    told = autograder_here("status", "--json", "--course", course)
    assert told.returncode == 0, told.stderr
    return {each["assignment"]: each for each in json.loads(told.stdout)["assignments"]}


def counts(course: Course) -> tuple[int, ...]:
    found = asked(course.root)[ASSIGNMENT]
    return tuple(found[name] for name in COUNTS)


def everything(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


class TestGraded:
    def test_each_submission_is_counted_once_and_who_needs_a_person_besides(self, course):
        # Two files that are none or no notebook: gus and hal.
        assert counts(course) == (13, 12, 1, 0, 2)
        assert asked(course.root)[ASSIGNMENT]["next"] == f"autograder grade {ASSIGNMENT}"

    def test_a_person_s_points_settle_it(self, course):
        with course.gradebook() as gradebook:
            for cell in ("lstm_gates", "lstm_cell", "LSTMCell", "copy_from_torch"):
                give_points(gradebook, "gus", f"check_{cell}", 1.0)
        assert counts(course) == (13, 12, 1, 0, 1)

    def test_what_is_handed_in_again_is_to_be_graded(self, course):
        path = course.folder("submitted", "ada", ASSIGNMENT) / "lstm_cell.ipynb"
        path.write_bytes(submission({"lstm_gates": "lstm_gates = None"}))
        assert counts(course) == (13, 11, 2, 0, 2)

    def test_other_conditions_make_what_is_graded_out_of_date(self, course):
        release = course.folder("release", ".", ASSIGNMENT) / "lstm_cell.ipynb"
        release.write_text(release.read_text().replace("# The LSTM cell", "# The cell"))
        assert counts(course) == (13, 0, 1, 12, 2)

    def test_without_the_seed_all_would_be_judged_again_and_none_is_drawn(self, course):
        (course.root / ".autograder" / "seed").unlink()
        assert counts(course) == (13, 0, 1, 12, 2)
        assert not (course.root / ".autograder" / "seed").exists()

    @pytest.mark.slow
    def test_grading_leaves_nothing_to_grade(self, course):
        assert autograder_here("grade", ASSIGNMENT, "--course", course.root).returncode == 0
        assert counts(course) == (13, 13, 0, 0, 2)
        assert asked(course.root)[ASSIGNMENT]["next"] == f"autograder report {ASSIGNMENT}"

    def test_a_gradebook_that_was_lost_is_named_with_what_is_gone(self, course):
        (course.root / "gradebook.db").write_bytes(b"")
        assert counts(course) == (13, 0, 13, 0, 2)
        for command in (["status"], ["grade", ASSIGNMENT], ["results", ASSIGNMENT]):
            told = autograder_here(*command, "--course", course.root)
            assert "the gradebook knows none of them: points and comments that people gave are lost." in (
                told.stdout + told.stderr
            ), command

    def test_it_changes_nothing(self, course):
        before = everything(course.root)
        assert autograder_here("status", "--course", course.root).returncode == 0
        assert everything(course.root) == before

    def test_the_table_says_it_in_words(self, course):
        told = autograder("status", "--course", course.root)
        line = next(line for line in told.stdout.splitlines() if line.startswith(ASSIGNMENT))
        assert line.split()[-3:] == ["autograder", "grade", ASSIGNMENT]
        assert told.stdout.strip().endswith(
            "13 submissions: 12 graded, 1 to grade, 0 out of date; 2 for a person."
        )

    def test_a_catalogue_that_cannot_be_read_is_told_and_stops_nothing(self, course):
        catalogue = course.catalogue_path(ASSIGNMENT)
        catalogue.write_text("[broken")
        (course.folder("solution", ".", ASSIGNMENT)).mkdir(parents=True)
        told = autograder_here("status", "--course", course.root)
        assert told.returncode == 0
        assert "is not TOML that can be read" in told.stdout


class TestBuilt:
    @pytest.fixture
    def fresh(self, tmp_path) -> Path:
        assert autograder_here("new", tmp_path / "course", "--empty").returncode == 0
        assert autograder_here("new-assignment", "01_first", "--course", tmp_path / "course").returncode == 0
        return tmp_path / "course"

    @pytest.mark.slow
    def test_from_an_empty_course_to_a_release_that_is_behind(self, fresh, tmp_path):
        """Each step is the one that `status` says is next, until there is none."""
        exchange = tmp_path / "exchange"
        exchange.mkdir()
        exchange.chmod(0o777)
        with (fresh / "nbgrader_config.py").open("a") as config:
            config.write(f"\nc.Exchange.root = {str(exchange)!r}\n")
        seen = []
        for _ in range(3):
            (found,) = asked(fresh).values()
            seen.append((found["built"], found["released"], found["next"]))
            if found["next"].startswith("autograder"):
                told = autograder(*found["next"].split()[1:], "--course", fresh)
                assert told.returncode == 0, told.stderr
            elif found["next"]:
                done(run(fresh, *found["next"].split()))
        assert seen == [
            ("no", "", "autograder build 01_first"),
            ("yes", "no", "nbgrader release_assignment 01_first"),
            ("yes", "yes", ""),
        ]
        notebook = fresh / "source" / "01_first" / "first.ipynb"
        notebook.write_text(notebook.read_text().replace("# The title", "# Another title"))
        (found,) = asked(fresh).values()
        assert (found["built"], found["next"]) == ("changed", "autograder build 01_first")
        assert autograder("build", "01_first", "--course", fresh).returncode == 0
        (found,) = asked(fresh).values()
        assert (found["released"], found["next"]) == (
            "changed",
            "nbgrader release_assignment 01_first --force",
        )

    def test_a_course_without_an_assignment_says_how_to_begin(self, tmp_path):
        assert autograder_here("new", tmp_path / "course", "--empty").returncode == 0
        told = autograder_here("status", "--course", tmp_path / "course")
        assert "`autograder new-assignment 01_first`" in told.stdout
        assert not (tmp_path / "course" / "gradebook.db").exists()

    def test_the_committed_releases_are_made_from_the_sources(self, tmp_path):
        found = asked(ROOT)
        assert len(found) == 13
        assert {each["built"] for each in found.values()} == {"yes"}


def test_it_needs_no_torch():
    """No import of torch, which takes a second, in a command that only reads."""
    program = "import sys; sys.modules['torch'] = None; from autograder.cli import main; main()"
    told = subprocess.run(
        [sys.executable, "-c", program, "status", "--course", ROOT], capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr
