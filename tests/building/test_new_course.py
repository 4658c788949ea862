"""`autograder new` and `new-assignment` as an instructor types them: what is made, and its name."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from autograder.grading.building.examine import examine
from autograder.grading.course.course import Course
from tests.support.courses import done, run
from tests.support.helpers import ROOT, autograder, autograder_here


def made(target: Path, *options: object) -> Path:
    """A course, made by the command in this process."""
    told = autograder_here("new", target, *options)
    assert told.returncode == 0, told.stderr
    return target


def course_id(course: Path) -> str:
    """The name as nbgrader reads it."""
    return str(Course.at(course).directory.course_id)


def refused(*arguments: object) -> str:
    told = autograder_here(*arguments)
    assert told.returncode == 1
    assert told.stdout == ""
    return told.stderr


class TestName:
    @pytest.mark.parametrize(
        ("folder", "name"),
        [
            ("my-course", "my-course"),
            ("RNN 2026/27 (Zoë)", "27-Zoe"),
            ("-Übung.", "Ubung"),
            ("*?[x]", "x"),
            ("循环", "course"),
            ("x" * 200, "x" * 128),
        ],
    )
    def test_it_is_made_from_the_directory(self, tmp_path, folder, name):
        assert course_id(made(tmp_path / folder, "--empty")) == name

    def test_the_working_directory_has_a_name_too(self, tmp_path, monkeypatch):
        (tmp_path / "spring-2027").mkdir()
        monkeypatch.chdir(tmp_path / "spring-2027")
        assert course_id(made(Path(), "--empty")) == "spring-2027"

    def test_it_can_be_chosen_and_is_told(self, tmp_path):
        told = autograder_here("new", tmp_path / "course", "--course-id", "rnn.2026_a", "--empty")
        assert "On nbgrader's exchange it is called rnn.2026_a." in told.stdout
        assert course_id(tmp_path / "course") == "rnn.2026_a"
        assert (tmp_path / "course" / "README.md").read_text().startswith("# rnn.2026_a\n")

    @pytest.mark.parametrize("name", ["", "a/b", "..", "-x", "a b", 'a"\nimport os#', "a*", "ä", "x" * 129])
    def test_one_that_no_exchange_could_use_is_refused(self, tmp_path, name):
        said = refused("new", tmp_path / "course", "--course-id", name)
        assert "cannot be a course's name" in said
        assert re.search(r"`--course-id [\w.-]+` would do", said)
        assert not (tmp_path / "course").exists()

    @pytest.mark.parametrize(
        "config",
        ["c = get_config()\n", 'c = get_config()\nc.CourseDirectory.course_id = "a"\n' * 2, None],
        ids=["none", "two", "one"],
    )
    def test_it_holds_whatever_the_copied_course_was_called(self, tmp_path, config):
        origin = made(tmp_path / "origin", "--empty")
        if config is not None:
            (origin / "nbgrader_config.py").write_text(config)
        assert course_id(made(tmp_path / "mine", "--course", origin)) == "mine"

    @pytest.mark.slow
    def test_two_instructors_do_not_meet_on_one_exchange(self, tmp_path):
        exchange = tmp_path / "exchange"
        exchange.mkdir(mode=0o777)
        exchange.chmod(0o777)
        for name in ("rnn-ada", "rnn-ben"):
            course = made(tmp_path / name, "--empty")
            for step in ("source", "release"):
                notebook = course / step / "01_first" / "first.ipynb"
                notebook.parent.mkdir(parents=True)
                notebook.write_text((ROOT / "skeleton" / "assignment.ipynb").read_text())
            done(run(course, "nbgrader", "release_assignment", "01_first", f"--Exchange.root={exchange}"))
        assert sorted(path.name for path in exchange.iterdir()) == ["rnn-ada", "rnn-ben"]


class TestBesides:
    def test_the_readme_says_what_to_back_up(self, tmp_path):
        readme = (made(tmp_path / "course") / "README.md").read_text()
        kept = readme[readme.index("## What to back up") :]
        for part in ("`.autograder/seed`", "`gradebook.db`", "`submitted/`", "`verdicts/`", "`source/`"):
            assert part in kept, part
        assert "- `source/03_lstm_cell/`" in readme

    def test_every_command_of_the_readme_is_one(self, tmp_path):
        readme = (made(tmp_path / "course") / "README.md").read_text()
        commands = set(re.findall(r"^autograder ([\w-]+)", readme, re.MULTILINE))
        assert commands >= {"build", "validate", "grade", "status", "report", "export"}
        for command in commands:
            assert autograder_here(command, "--help").returncode == 0, command

    def test_git_keeps_students_work_and_the_seed_out(self, tmp_path):
        course = made(tmp_path / "course")
        secret = ["submitted/ada/x.ipynb", "gradebook.db", "verdicts/x/ada.json", ".autograder/seed"]
        secret += ["autograded/ada/x.ipynb", "feedback/x.html", "reports/x.html", "exports/x.csv"]
        for name in secret:
            (course / name).parent.mkdir(parents=True, exist_ok=True)
            (course / name).write_text("secret")
        subprocess.run(["git", "init", "-q"], cwd=course, check=True)
        subprocess.run(["git", "add", "."], cwd=course, check=True)
        told = subprocess.run(["git", "ls-files"], cwd=course, check=True, capture_output=True, text=True)
        added = set(told.stdout.split())
        assert {"README.md", ".gitignore", "nbgrader_config.py"} <= added
        assert {path.relative_to(course).as_posix() for path in (course / "source").rglob("*.ipynb")} <= added
        assert not added & set(secret)

    def test_what_the_copied_course_has_of_them_is_not_taken_for_its_own(self, tmp_path):
        """A README of the origin's root speaks of the origin."""
        origin = made(tmp_path / "origin", "--empty")
        (origin / "README.md").write_text("the origin's")
        assert "the origin's" not in (made(tmp_path / "mine", "--course", origin) / "README.md").read_text()


class TestEmpty:
    @pytest.fixture
    def course(self, tmp_path) -> Path:
        return made(tmp_path / "course", "--empty")

    def test_it_has_no_assignment_and_build_says_what_to_do(self, course):
        assert [path for path in (course / "source").iterdir() if path.is_dir()] == []
        assert list((course / "solutions" / "mistakes").iterdir()) == []
        assert (course / "source" / "students.md").is_file()
        said = refused("build", "--course", course)
        assert "`autograder new-assignment 01_first` writes one" in said

    def test_a_name_that_is_taken_is_left_alone(self, course):
        assert autograder_here("new-assignment", "01_first", "--course", course).returncode == 0
        notebook = course / "source" / "01_first" / "first.ipynb"
        notebook.write_text("mine")
        assert "is there already" in refused("new-assignment", "01_first", "--course", course)
        assert notebook.read_text() == "mine"
        (course / "solutions" / "mistakes" / "02_next.toml").write_text("mine")
        assert "is there already" in refused("new-assignment", "02_next", "--course", course)
        assert not (course / "source" / "02_next").exists()

    @pytest.mark.parametrize("name", ["../out", "a/b", "", "a+b", ".hidden", "ü"])
    def test_a_name_that_nbgrader_could_not_use_is_refused(self, course, name):
        assert "cannot be an assignment's name" in refused("new-assignment", name, "--course", course)
        assert [path for path in (course / "source").iterdir() if path.is_dir()] == []

    def test_a_task_of_another_name_stands_in_all_files(self, course):
        told = autograder_here("new-assignment", "01_first", "--task", "attend", "--course", course)
        assert told.returncode == 0, told.stderr
        checks = "source/01_first/checks"
        written = ["source/01_first/first.ipynb", f"{checks}/test_attend.py", f"{checks}/reference_attend.py"]
        written += ["solutions/mistakes/01_first.toml", "solutions/variants/01_first.toml"]
        for file in written:
            text = (course / file).read_text()
            assert file in told.stdout
            assert "attend" in text
            assert not re.search(r"scale(?!\w)", text), file
        assert examine(Course.at(course), ["01_first"]) == []

    def test_a_function_and_a_class_lie_in_one_notebook(self, course):
        """A name with a capital letter is a class; mistakes of the second task have its name in theirs."""
        tasks = ("--task", "attend", "--task", "Gate")
        told = autograder_here("new-assignment", "01_first", *tasks, "--course", course)
        assert told.returncode == 0, told.stderr
        checks = course / "source" / "01_first" / "checks"
        names = [f"{what}_{task}.py" for what in ("reference", "test") for task in ("Gate", "attend")]
        assert sorted(path.name for path in checks.iterdir()) == names
        assert all(f"checks/{path.name}" in told.stdout for path in checks.iterdir())
        assert examine(Course.at(course), ["01_first"]) == []
        mistakes = (course / "solutions" / "mistakes" / "01_first.toml").read_text()
        assert "[batch_summed]" in mistakes
        assert "[batch_summed_Gate]" in mistakes

    @pytest.mark.slow
    def test_the_checks_of_both_hold(self, course):
        tasks = ("--task", "attend", "--task", "Gate")
        autograder_here("new-assignment", "01_first", *tasks, "--course", course)
        for command in ("build", "validate"):
            told = autograder(command, "01_first", "--course", course)
            assert told.returncode == 0, told.stdout + told.stderr
        assert "Everything holds" in told.stdout

    def test_one_name_for_two_tasks_is_refused(self, course):
        twice = ("--task", "attend", "--task", "attend")
        assert "no two are the same" in refused("new-assignment", "01_first", *twice, "--course", course)

    @pytest.mark.parametrize("task", ["a b", "class", "1st", "check", "é", "", "x" * 41])
    def test_a_task_that_cannot_be_called_so_is_refused(self, course, task):
        said = refused("new-assignment", "01_first", "--task", task, "--course", course)
        assert "cannot be a task's name" in said
        assert not (course / "source" / "01_first").exists()

    def test_new_lays_an_assignment_out_as_well(self, course, monkeypatch):
        """With the course, or in one that is there."""
        both = course.parent / "both"
        told = autograder_here("new", both, "--empty", "--assignment", "01_first")
        assert told.returncode == 0, told.stderr
        assert f"`autograder build 01_first --course {both}`" in told.stdout
        before = (course / "nbgrader_config.py").read_bytes()
        monkeypatch.chdir(course)
        assert autograder_here("new", "--assignment", "01_first").returncode == 0
        assert (course / "nbgrader_config.py").read_bytes() == before
        for root in (both, course):
            assert examine(Course.at(root), ["01_first"]) == []

    def test_new_without_a_directory_is_refused_where_there_is_no_course(self, tmp_path, monkeypatch):
        (tmp_path / "nowhere").mkdir()
        monkeypatch.chdir(tmp_path / "nowhere")
        for options in ((), ("--assignment", "01_first")):
            assert "Name the directory" in refused("new", *options)
        assert list((tmp_path / "nowhere").iterdir()) == []

    @pytest.mark.slow
    def test_the_first_assignment_builds_holds_and_grades_as_it_is(self, course):
        """Everything the README of an empty course tells one to type, and a student's work after it."""
        for command in ("new-assignment", "build", "validate"):
            told = autograder(command, "01_first", "--course", course)
            assert told.returncode == 0, told.stdout + told.stderr
        assert "Everything holds" in told.stdout
        assert (course / "release" / "01_first" / "students.md").is_file()
        assert "these two marks" not in (course / "release" / "01_first" / "first.ipynb").read_text()
        for student, step in (("ada", "solutions"), ("ben", "release")):
            folder = course / "submitted" / student / "01_first"
            folder.mkdir(parents=True)
            (folder / "first.ipynb").write_bytes((course / step / "01_first" / "first.ipynb").read_bytes())
        told = autograder("grade", "01_first", "--course", course)
        assert told.returncode == 0, told.stderr
        told = autograder("results", "01_first", "--json", "--course", course)
        assert {each["student"]: each["score"] for each in json.loads(told.stdout)} == {"ada": 2, "ben": 0}
