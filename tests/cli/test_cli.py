"""The commands as a TA types them: the invented class from end to end, the JSON contract, every error."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from autograder.checking.runner.marks import RULES
from autograder.grading import doctor
from autograder.grading.course.course import Course
from autograder.grading.records.store import assignment_seed
from autograder.grading.workers import forkserver
from autograder.verdict import OUTCOMES, STATUSES, UNREAD
from tests.support.helpers import ASSIGNMENT, ROOT, autograder, autograder_here, make_known

EXPECTED = {
    "ada": ("graded", 10),
    "bela": ("graded", 10),
    "chidi": ("graded", 10),
    "dana": ("graded", 0),
    "emil": ("graded", 4),
    "farah": ("graded", 8),
    "goran": ("graded", 8),
    "hilde": ("graded", 9.5),
    "ismail": ("corrupt", None),
    "jo": ("graded", 8),
    "kim": ("graded", 8),
    "lea": ("missing", None),
}


def scores_in(gradebook: Path) -> dict[str, float]:
    query = """
        SELECT submitted_assignment.student_id, SUM(COALESCE(grade.manual_score, grade.auto_score, 0))
        FROM grade JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id
        JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id
        GROUP BY submitted_assignment.student_id"""
    with sqlite3.connect(gradebook) as connection:
        return dict(connection.execute(query).fetchall())


@pytest.fixture
def course(tmp_path) -> Path:
    """A built course without submissions, made from what is committed."""
    for part in ("source", "release", "nbgrader_config.py"):
        origin = ROOT / part
        (shutil.copytree if origin.is_dir() else shutil.copyfile)(origin, tmp_path / part)
    return tmp_path


def submit(course: Path, student: str, content: bytes | None = None, assignment: str = ASSIGNMENT) -> Path:
    """Hand in the solved notebook, or other bytes."""
    name = f"{assignment[3:]}.ipynb"
    folder = course / "submitted" / student / assignment
    folder.mkdir(parents=True)
    solved = (ROOT / "source" / assignment / name).read_bytes()
    (folder / name).write_bytes(solved if content is None else content)
    return folder / name


def workers_left() -> list[str]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        if "autograder.worker.forkserver" in line and process.status() != psutil.STATUS_ZOMBIE:
            found.append(line)
    return found


FIRST_LINE = """
import os, sys
from autograder.cli import commands, console

def first(line):
    console.tell(line)
    os._exit("torch" in sys.modules or "nbgrader" in sys.modules)  # flushes nothing

commands.tell = first
commands.app(["demo", sys.argv[1]])
"""
"""A program that begins the demo and ends at its first line: with 1 if that came after the slow imports."""


@pytest.mark.slow
class TestDemo:
    def test_the_first_line_comes_before_the_slow_imports(self, tmp_path):
        begun = [sys.executable, "-c", FIRST_LINE, tmp_path / "course"]
        told = subprocess.run(begun, capture_output=True, text=True)
        line = f"Made the course. Building {ASSIGNMENT}\n"
        assert (told.returncode, told.stdout, told.stderr) == (0, line, "")

    def test_each_stage_has_a_line_as_it_begins(self, demo):
        _, told = demo
        stages = (
            f"Made the course. Building {ASSIGNMENT}",
            f"{ASSIGNMENT}: judging the solution",
            f"{ASSIGNMENT}: running the solution in a notebook",
            f"{ASSIGNMENT}: proving the release",
            f"{ASSIGNMENT}: trying the known mistakes",
            f"{ASSIGNMENT}: putting it in place",
            f"{ASSIGNMENT}: writing the notebooks of 12 invented students",
        )
        begun = told.stdout.splitlines()[: len(stages) + 1]
        assert tuple(begun[:-1]) == stages
        assert begun[-1].endswith("Grading them:")

    def test_the_gradebook_has_the_names_that_formgrader_lists(self, demo):
        with sqlite3.connect(demo[0] / "gradebook.db") as connection:
            students = connection.execute("SELECT id, first_name, last_name FROM student").fetchall()
        assert {student: first for student, first, _ in students} == {
            student: student.capitalize() for student in EXPECTED
        }
        assert all(last for _, _, last in students)

    def test_no_answer_has_the_marks_of_a_source_notebook(self, demo):
        files = [path for path in (demo[0] / "submitted").rglob("*") if path.is_file()]
        assert len(files) == len(EXPECTED)
        assert not [path for path in files if "SOLUTION" in path.read_text(encoding="utf-8")]

    def test_ends_well_and_leaves_nothing_running(self, demo):
        course, told = demo
        assert told.returncode == 0, told.stdout + told.stderr
        assert "Traceback" not in told.stdout + told.stderr
        assert all(student in told.stdout for student in EXPECTED)
        ours = [line for line in workers_left() if str(course) in line]
        assert ours == []

    def test_it_ends_with_the_report_of_the_class(self, demo):
        course, told = demo
        page = course / "reports" / f"{ASSIGNMENT}.html"
        assert str(page) in told.stdout.strip().splitlines()[-1]
        text = page.read_text(encoding="utf-8")
        for part in (
            "memory_updated_in_place",
            "gates_in_another_order",
            "builtins.abs",
            "bela and hilde",
        ):
            assert part in text, part

    def test_every_submission_has_its_status_and_score(self, demo):
        course, _ = demo
        verdicts = json.loads(autograder_here("results", ASSIGNMENT, "--json", "--course", course).stdout)
        assert {v["student"]: (v["status"], v["score"]) for v in verdicts} == EXPECTED

    def test_gradebook_has_the_same_scores(self, demo):
        course, _ = demo
        assert scores_in(course / "gradebook.db") == {
            student: score or 0 for student, (_, score) in EXPECTED.items()
        }

    def test_hostile_code_found_and_changed_nothing(self, demo):
        course, _ = demo
        text = (course / "autograded/kim" / ASSIGNMENT / "lstm_cell.ipynb").read_text()
        assert "gradebook.db" not in text.replace('gradebook.db\\").execute', "")
        cells = [cell for cell in json.loads(text)["cells"] if "sqlite3" in "".join(cell["source"])]
        printed = "".join(
            o.get("text", "") if isinstance(o.get("text"), str) else "".join(o["text"])
            for o in cells[0]["outputs"]
        )
        assert printed.strip() == "Score: 10/10"

    def test_json_is_the_contract(self, demo):
        course, _ = demo
        for verdict in json.loads(
            autograder_here("results", ASSIGNMENT, "--json", "--course", course).stdout
        ):
            assert_contract(verdict)

    def test_grading_again_changes_nothing(self, demo):
        course, _ = demo
        before = {path: path.stat().st_mtime_ns for path in (course / "autograded").rglob("*.ipynb")}
        told = autograder_here("grade", ASSIGNMENT, "--course", course)
        assert told.returncode == 0
        assert {path: path.stat().st_mtime_ns for path in (course / "autograded").rglob("*.ipynb")} == before


def assert_contract(verdict: dict[str, Any]) -> None:
    """Every field that the contract names is there, with its type and its words."""
    assert set(verdict) >= {
        "student", "assignment", "notebook", "status", "score", "max_score", "seconds", "seed", "findings",
        "tasks",
    }  # fmt: skip
    assert verdict["status"] in STATUSES
    assert isinstance(verdict["seed"], int)
    assert isinstance(verdict["seconds"], float)
    assert all(set(finding) >= {"kind", "message"} for finding in verdict["findings"])
    assert sum(task["max_score"] for task in verdict["tasks"]) == verdict["max_score"]
    if verdict["status"] in UNREAD:
        assert {each["score"] for each in (verdict, *verdict["tasks"])} == {None}
        return
    assert sum(task["score"] for task in verdict["tasks"]) == verdict["score"]
    for task in verdict["tasks"]:
        assert set(task) >= {"task", "score", "max_score", "checks"}
        assert sum(check["points"] for check in task["checks"]) == task["score"]
        for check in task["checks"]:
            assert set(check) >= {
                "check", "rule", "title", "outcome", "points", "max_points", "message", "diagnosis",
            }  # fmt: skip
            assert check["rule"] in RULES
            assert check["outcome"] in OUTCOMES
            assert check["diagnosis"] is None or all(check["diagnosis"][key] for key in ("mistake", "hint"))
            assert check["title"]
            assert (check["message"] == "") == (check["outcome"] == "passed")


def refused(told: subprocess.CompletedProcess[str]) -> str:
    """The one sentence of a refusal: non-zero exit, nothing on stdout, one line on stderr, no traceback."""
    assert told.returncode != 0
    lines = [line for line in told.stderr.splitlines() if line.strip() and "ETA" not in line]
    assert len(lines) == 1, told.stderr
    assert "Traceback" not in told.stderr
    return lines[0]


class TestRefusals:
    def test_no_course(self, tmp_path):
        for command in (
            ["build"],
            ["grade", ASSIGNMENT],
            ["results", ASSIGNMENT],
            ["check", ROOT / "release/03_lstm_cell/lstm_cell.ipynb"],
        ):
            assert "There is no course in" in refused(autograder_here(*command, "--course", tmp_path))
        # And as a process, with an exit status and two streams of its own.
        assert "There is no course in" in refused(autograder("results", ASSIGNMENT, "--course", tmp_path))

    def test_unknown_assignment(self, course):
        for command in (["build", "99_none"], ["grade", "99_none"], ["results", "99_none"]):
            line = refused(autograder_here(*command, "--course", course))
            assert "99_none" in line
            assert "02_rnn_cell" in line

    def test_no_submissions(self, course):
        make_known(Course.at(course))
        assert "Nobody has submitted" in refused(autograder_here("grade", ASSIGNMENT, "--course", course))
        assert "Nothing has been graded yet" in refused(
            autograder_here("results", ASSIGNMENT, "--course", course)
        )

    def test_unknown_student(self, course):
        submit(course, "ada")
        make_known(Course.at(course))
        line = refused(autograder_here("grade", ASSIGNMENT, "--student", "nobody", "--course", course))
        assert "'nobody' has not submitted" in line
        assert not (course / "autograded").exists()
        assert not (course / "verdicts").exists()

    def test_assignment_that_the_gradebook_does_not_know(self, course):
        submit(course, "ada")
        assert "autograder build" in refused(autograder_here("grade", ASSIGNMENT, "--course", course))
        assert not (course / "autograded").exists()

    def test_notebook_that_is_none(self, course, tmp_path):
        broken = tmp_path / "lstm_cell.ipynb"
        broken.write_text('{"cells": [')
        told = autograder_here("check", broken, "--course", course)
        assert told.returncode == 1
        assert "could not be read" in told.stderr
        assert "There is no notebook" in refused(
            autograder_here("check", tmp_path / "none.ipynb", "--course", course)
        )
        broken.rename(tmp_path / "other.ipynb")
        assert "--assignment" in refused(
            autograder_here("check", tmp_path / "other.ipynb", "--course", course)
        )

    def test_directory_that_is_taken(self, tmp_path):
        (tmp_path / "here").mkdir()
        (tmp_path / "here" / "file").write_text("mine")
        assert "not an empty directory" in refused(autograder_here("new", tmp_path / "here"))
        assert "not an empty directory" in refused(autograder_here("demo", tmp_path / "here"))

    def test_locked_gradebook(self, course):
        submit(course, "ada")
        make_known(Course.at(course))
        with (course / "nbgrader_config.py").open("a") as file:
            file.write(f"\nc.CourseDirectory.db_url = 'sqlite:///{course}/gradebook.db?timeout=1'\n")
        with sqlite3.connect(course / "gradebook.db", isolation_level=None) as holder:
            holder.execute("BEGIN EXCLUSIVE")
            assert "locked" in refused(autograder_here("grade", ASSIGNMENT, "--course", course))
            holder.execute("ROLLBACK")
        assert not (course / "autograded").exists()
        assert not (course / "verdicts").exists()


def test_check_prints_json_that_is_the_contract(course):
    told = autograder(
        "check", ROOT / "solutions" / ASSIGNMENT / "lstm_cell.ipynb", "--json", "--course", course
    )
    assert told.returncode == 0, told.stderr
    verdict = json.loads(told.stdout)
    assert_contract(verdict)
    assert (verdict["status"], verdict["score"]) == ("graded", 10)
    assert not (course / "gradebook.db").exists()


def test_check_has_the_inputs_of_grading_once_there_are_any(course):
    solved = ROOT / "solutions" / ASSIGNMENT / "lstm_cell.ipynb"
    told = autograder_here("check", solved, "--course", course).stdout
    assert "a seed for this run" in told
    assert not (course / ".autograder" / "seed").exists()
    seed = assignment_seed(Course.at(course), ASSIGNMENT)
    assert (
        "the course's seed, as `autograder grade` does"
        in autograder_here("check", solved, "--course", course).stdout
    )
    verdict = json.loads(autograder_here("check", solved, "--json", "--course", course).stdout)
    assert verdict["seed"] == seed


def test_doctor_says_what_holds():
    told = autograder("doctor", "--json")
    found = json.loads(told.stdout)
    assert told.returncode == (0 if found["can_grade"] else 1)
    assert found["versions"]["torch"].startswith("2.13")
    assert {layer["name"] for layer in found["layers"]} >= {"seccomp", "landlock", "pid-namespace"}
    lacking = [layer for layer in found["layers"] if not layer["holds"]]
    assert all(layer["remedy"] for layer in lacking), "a problem is told without what to do about it"


@pytest.mark.slow
def test_doctor_tries_a_worker(monkeypatch):
    """All layers hold, all versions are right, and the fork server still ends before it is ready."""
    assert doctor.examine(Path("/"))["can_grade"]
    monkeypatch.setattr(forkserver, "_IMPORTS", ("autograder.no_such_module",))
    found = doctor.examine(Path("/"))
    assert (found["can_grade"], found["level"]) == (False, forkserver.best_level(forkserver.probe()).value)
    (told,) = (problem for problem in found["problems"] if "worker" in problem)
    assert told.startswith("A worker cannot run a cell on this machine, so nothing can be graded.")
    assert "No module named 'autograder.no_such_module'" in told


@pytest.mark.slow
def test_doctor_says_which_torch_grading_takes(tmp_path, monkeypatch):
    """Students may have others, so another one may be where a class is to be graded."""
    other = tmp_path / "torch-2.6.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.6.0\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    problems = json.loads(autograder("doctor", "--json").stdout)["problems"]
    (told,) = (problem for problem in problems if problem.startswith("torch "))
    assert told.startswith("torch is 2.6.0, and grading takes 2.13.0: install torch==2.13.0.")
    assert "lstm-autograder[grading]" in told


@pytest.mark.slow
def test_doctor_names_the_settings_that_an_older_course_lacks(tmp_path):
    """A course keeps the configuration that it was made with."""
    autograder_here("new", tmp_path / "course", "--empty")
    assert not [told for told in problems_of(tmp_path / "course") if "Without the line" in told]
    config = tmp_path / "course" / "nbgrader_config.py"
    lines = config.read_text().splitlines(keepends=True)
    newer = (
        "c.GenerateAssignment.exporter_class",
        "c.GenerateFeedback.exporter_class",
        "c.ExportApp.plugin_class",
    )
    config.write_text("".join(line for line in lines if not line.startswith(newer)))
    told = [told for told in problems_of(tmp_path / "course") if "Without the line" in told]
    assert [line.split(" = ")[0] for line in told] == [f"Without the line `{name}" for name in newer]


def problems_of(course):
    return json.loads(autograder_here("doctor", "--json", "--course", course).stdout)["problems"]


@pytest.mark.slow
def test_only_the_named_student_is_graded(course):
    for student in ("ada", "ben"):
        submit(course, student)
    make_known(Course.at(course))
    told = autograder_here("grade", ASSIGNMENT, "--student", "ben", "--jobs", "1", "--course", course)
    assert told.returncode == 0, told.stderr
    assert [path.name for path in (course / "autograded").iterdir()] == ["ben"]


@pytest.mark.slow
def test_environment_of_the_caller_does_not_reach_the_student(course):
    cells = json.loads((ROOT / "source" / ASSIGNMENT / "lstm_cell.ipynb").read_text())
    spy = "import os\nprint(os.environ, open('/proc/self/environ').read(), open('/proc/1/environ').read())"
    cells["cells"].append(
        {
            "cell_type": "code",
            "source": spy,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "id": "spy",
        }
    )
    submit(course, "spy", json.dumps(cells).encode())
    make_known(Course.at(course))
    told = autograder("grade", ASSIGNMENT, "--course", course, SECRET_TOKEN="hunter2-in-the-clear")
    assert told.returncode == 0, told.stderr
    graded = (course / "autograded/spy" / ASSIGNMENT / "lstm_cell.ipynb").read_text()
    assert "OMP_NUM_THREADS" in graded
    assert "hunter2" not in graded
    assert str(course) not in graded


@pytest.mark.parametrize("command", [("grade", ASSIGNMENT), ("check", "lstm_cell.ipynb")])
def test_the_fork_server_starts_before_torch_is_imported(command, tmp_path):
    """Both take seconds over it, and do so at the same time."""
    program = f"""
import sys
from autograder.grading.workers import forkserver

def started(*args, **kwargs):
    sys.exit("late" if "torch" in sys.modules else "in time")

forkserver.ForkServer.__init__ = started
from autograder.cli import main
sys.argv = ["autograder", *{command}]
main()
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert ran.stderr.strip() == "in time"
