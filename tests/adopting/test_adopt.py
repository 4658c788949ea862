"""`autograder adopt`: a course that nbgrader has graded, told on one screen, completed and built."""

from __future__ import annotations

import os
import pty
import shutil
import sys
from pathlib import Path

import nbformat
import nbgrader
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.grading.course.course import Course
from autograder.grading.course.settings import SETTINGS, missing
from tests.support.courses import files
from tests.support.helpers import ROOT, autograder_here

EXAMPLE = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide"
SOLUTION = "def f(x):\n    ### BEGIN SOLUTION\n    return x + 1\n    ### END SOLUTION"
TEST = "assert f(1) == 2\n### BEGIN HIDDEN TESTS\nassert f(2) == 3\n### END HIDDEN TESTS"
HAS = "hidden test is kept from students and from their feedback."


def cell(source, name="", kind="", points=None, make=new_code_cell):
    """A cell as nbgrader marks it: a `kind` of `solution`, `grade`, `both` or `task`."""
    made = make(source)
    if name:
        marks = {
            "schema_version": 3,
            "grade_id": name,
            "solution": kind in ("solution", "both"),
            "grade": kind in ("grade", "both"),
            "task": kind == "task",
            "locked": kind in ("grade", "task"),
        }
        made["metadata"]["nbgrader"] = marks if points is None else {**marks, "points": points}
    return made


def write(course, name, *cells, **metadata):
    if "kernelspec" in metadata:
        metadata["kernelspec"].setdefault("display_name", "x")
    path = course / "source" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=list(cells), metadata=metadata), path)
    return path


@pytest.fixture
def course(tmp_path) -> Path:
    """A course with one assignment and no configuration."""
    course = tmp_path / "course"
    write(course, "hw1/hw1.ipynb", cell(SOLUTION, "f", "solution"), cell(TEST, "test_f", "grade", 2))
    return course


def adopt(*arguments):
    return autograder_here("adopt", *arguments)


def said(*arguments) -> str:
    told = adopt(*arguments)
    assert told.returncode == 0, told.stderr
    return told.stdout


class TestWhatIsSaid:
    def test_the_example_course(self, tmp_path):
        """Where nobody can be asked, nothing is done either."""
        shutil.copytree(EXAMPLE / "source" / "ps1", tmp_path / "source" / "ps1")
        before = files(tmp_path, ".")
        for options in (("--dry-run",), ()):
            told = said(tmp_path, *options)
            counted = "4 test cells (3 points), 4 cells and 1 task that a person grades.\n"
            assert f"ps1: 2 notebooks, 13 points: {counted}" in told
            assert all(f"+{each.line}\n" in told for each in SETTINGS)
            assert told.endswith(f"Nothing was changed. To have it done: autograder adopt {tmp_path} --yes\n")
        assert files(tmp_path, ".") == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]

    def test_an_assignment_is_told_by_what_grades_it(self, course):
        write(
            course,
            "hw2/b.ipynb",
            cell(SOLUTION, "f", "solution"),
            cell(TEST, "test_f", "grade", 2),
            cell('check("f")', "check_f", "grade", 1.5),
            cell("because", "why", "both", 3, new_markdown_cell),
            cell("Draw it.", "draw", "task", 1, new_markdown_cell),
            cell(f"{TEST}\n{TEST}", "more", "grade", 0),
        )
        write(course, "hw2/a.ipynb", cell("print(1)"))
        told = said(course / "source" / "hw2" / "a.ipynb", "--dry-run")
        assert (
            "hw2: 2 notebooks, 7.5 points: 2 test cells (2 points), 1 task with checks (1.5 points), "
            "1 cell and 1 task that a person grades. 3 hidden tests are kept from students and from their "
            "feedback.\n"
        ) in told
        assert "hw1" not in told

    def test_the_courses_own_marks_count(self, course):
        config = 'c.ClearHiddenTests.begin_test_delimeter = "VERBERGEN"\n'
        (course / "nbgrader_config.py").write_text(config)
        assert HAS not in said(course)
        text = TEST.replace("BEGIN HIDDEN TESTS", "VERBERGEN")
        write(course, "hw1/hw1.ipynb", cell(SOLUTION, "f", "solution"), cell(text, "test_f", "grade", 2))
        assert f"1 {HAS}" in said(course)

    def test_cells_of_another_language_are_named(self, course):
        write(
            course,
            "hw1/hw1.ipynb",
            cell("%%time\nx = 1"),
            cell("%%R\nx <- 1"),
            cell(SOLUTION, "f", "solution"),
            cell("%%bash\ntest 1 = 1", "shell", "grade", 1),
        )
        told = said(course)
        place = "  source/hw1/hw1.ipynb, cell"
        assert f"{place} 2 (%%R): `%%R` is no Python, and grading passes over it.\n" in told
        no_test = "As a test it tests nothing."
        assert f"{place} `shell`: `%%bash` is no Python, and grading passes over it. {no_test}\n" in told
        assert "%%time" not in told

    @pytest.mark.parametrize(
        ("metadata", "language"),
        [
            ({"kernelspec": {"name": "ir", "language": "R"}}, "R"),
            ({"kernelspec": {"name": "julia-1.11"}, "language_info": {"name": "julia"}}, "julia"),
            ({"kernelspec": {"name": "conda-env-x-py", "language": "python"}}, ""),
            ({"kernelspec": {"name": "ir"}}, ""),
            ({"language_info": {"name": "python"}}, ""),
            ({}, ""),
        ],
    )
    def test_only_a_notebook_of_another_language_is_refused(self, course, metadata, language):
        write(course, "hw1/hw1.ipynb", cell(TEST, "test_f", "grade", 2), **metadata)
        told = adopt(course)
        refused = f"source/hw1/hw1.ipynb is a notebook for {language}, and grading runs Python."
        assert (refused in told.stdout, told.returncode) == (bool(language), int(bool(language)))

    def test_a_notebook_of_another_language_is_not_graded(self, course):
        """Nobody is given a 0 for it, whatever nbgrader released."""
        (course / "nbgrader_config.py").write_text("")
        made = write(course, "hw1/hw1.ipynb", cell(TEST, "f", "grade", 2), language_info={"name": "R"})
        (course / "release").mkdir()
        shutil.copytree(made.parent, course / "release" / "hw1")
        told = autograder_here("grade", "hw1", "--course", course)
        assert (told.returncode, told.stderr.startswith("The notebook hw1 of hw1 is one for R, and")) == (
            1,
            True,
        )

    def test_a_notebook_of_an_older_nbgrader_is_told_how_to_update_it(self, course):
        path = course / "source" / "hw1" / "hw1.ipynb"
        path.write_text(path.read_text().replace('"schema_version": 3', '"schema_version": 1'))
        told = said(course)
        assert told.count("run `nbgrader update source/hw1/hw1.ipynb`.") == 1

    def test_what_a_build_would_refuse_is_told_before(self, course):
        write(course, "hw2/hw2.ipynb", cell(SOLUTION + "\n### BEGIN SOLUTION", "f", "solution"))
        (course / "source" / "hw2" / "other.ipynb").write_text("<<<<<<< HEAD\n{")
        told = said(course, "--dry-run")
        assert "  To be mended before it can be built: source/hw2" in told
        assert "Then hw1 is built:" in told

    def test_a_path_that_is_in_no_course(self, tmp_path, course):
        told = [adopt(path) for path in (tmp_path, course / "nowhere", course.parent / "course" / "source")]
        assert [each.returncode for each in told] == [1, 1, 0]
        assert told[0].stderr.startswith(f"{tmp_path} lies in no nbgrader course: ")
        assert told[1].stderr == f"There is no {course / 'nowhere'}.\n"
        (course / "submitted").mkdir()
        assert "Assignments: hw1." in adopt(course / "submitted").stderr
        (tmp_path / "nbgrader_config.py").write_text("")
        assert f"{tmp_path} has no assignment: " in adopt(tmp_path).stderr


class TestTheConfiguration:
    def test_the_repositorys_own_has_the_same_settings(self):
        """Its comments say what each is for; `adopt` and `doctor` have them from the package."""
        lines = (ROOT / "nbgrader_config.py").read_text().splitlines()
        assert [each.line for each in SETTINGS] == [
            line for line in lines if "autograder." in line or ("autograde_preprocessors" in line)
        ]

    def test_what_is_there_stays_and_is_not_repeated(self, course):
        own = f"# ours\r\nc = get_config()\r\n{SETTINGS[0].line}\r\nc.X.y = 1"
        (course / "nbgrader_config.py").write_bytes(own.encode())
        (course / "nbgrader_config.py").chmod(0o600)
        (course / "source" / "hw1" / "hw1.ipynb").write_text("{")  # so that nothing is built
        told = adopt(course, "--yes")
        assert told.returncode == 1
        written = (course / "nbgrader_config.py").read_bytes().decode()
        assert written.startswith(f"{own}\n\n#")
        assert [written.count(each.line) for each in SETTINGS] == [1] * len(SETTINGS)
        assert (course / "nbgrader_config.py").stat().st_mode & 0o777 == 0o600
        assert missing(Course.at(course).config) == []
        assert "nbgrader_config.py has all that is needed." in said(course)

    def test_another_value_is_told_and_asked_for(self, course):
        own = (
            'c.Autograde.exporter_class = "mine.Exporter"',
            'c.GenerateFeedback.preprocessors.append("mine.P")',
        )
        (course / "nbgrader_config.py").write_text("\n".join(own))
        told = said(course)
        for number, line in enumerate(own, 1):
            assert f"nbgrader_config.py, line {number}, says `{line}`. If it stays, " in told
        (course / "source" / "hw1" / "hw1.ipynb").write_text("{")
        shown = asked(course, "n", "y", "y")
        assert "Replace it for Autograde, by a line at the end? [y/N]: n" in shown
        lacking = missing(Course.at(course).config)
        assert {each.app for each in lacking} == {"Autograde"}
        assert Course.at(course).config.Autograde.exporter_class == "mine.Exporter"

    def test_a_no_at_the_end_changes_nothing(self, course):
        before = files(course, ".")
        assert asked(course, "n").endswith("Do it? [y/N]: n\nNothing was changed.\n")
        assert files(course, ".") == before

    def test_lines_that_have_no_effect_are_told(self, course):
        (course / "nbgrader_config.py").write_text(
            "import types\nc = types.SimpleNamespace()\n"
            + "".join(
                f"c.{app} = types.SimpleNamespace()\n" for app in sorted({each.app for each in SETTINGS})
            )
        )
        told = adopt(course, "--yes")
        assert "has the lines at its end, where they have no effect" in told.stderr
        assert not (course / "release").exists()

    def test_new_sends_a_copied_course_here(self, course, tmp_path):
        (course / "nbgrader_config.py").write_text("")
        told = autograder_here("new", tmp_path / "copy", "--course", course)
        assert told.stdout.endswith(f"Next: autograder adopt {tmp_path / 'copy'}\n")


@pytest.mark.slow
class TestBuilding:
    def test_one_that_is_refused_keeps_no_other_from_being_built(self, course):
        right, tests = cell(SOLUTION, "f", "solution"), cell(TEST, "test_f", "grade", 2)
        wrong = cell(SOLUTION.replace("x + 1", "x"), "f", "solution")
        write(course, "hw0/hw0.ipynb", wrong, tests)
        write(course, "hw2/hw2.ipynb", right, tests, kernelspec={"name": "conda-env-x-py"})
        write(course, "hw3/hw3.ipynb", right, kernelspec={"name": "ir", "language": "R"})
        told = adopt(course, "--yes")
        assert told.returncode == 1
        assert "hw0 cannot be released: its own solution gets 0 of 2 points" in told.stderr
        assert told.stderr.endswith(
            f"Mend what is said above of hw0; then: autograder build hw0 --course {course}\n"
        )
        assert sorted(path.name for path in (course / "release").iterdir()) == ["hw1", "hw2"]
        assert missing(Course.at(course).config) == []


def asked(course: Path, *answers: str) -> str:
    """What the command says on a terminal where it is given these answers."""
    child, terminal = pty.fork()
    if not child:
        os.environ["COLUMNS"] = "300"
        os.execv(sys.executable, [sys.executable, "-m", "autograder", "adopt", str(course)])
    shown, left = b"", list(answers)
    while True:
        try:
            more = os.read(terminal, 1 << 12)
        except OSError:  # the other end is closed
            break
        shown += more
        if shown.endswith(b"[y/N]: ") and left:
            os.write(terminal, f"{left.pop(0)}\n".encode())
    os.waitpid(child, 0)
    os.close(terminal)
    assert not left
    return shown.decode().replace("\r\n", "\n")
