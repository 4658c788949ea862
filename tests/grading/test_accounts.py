"""A course on a machine that several people use: graders of one group, students who may see nothing of it."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.courses import LSTM, done, hand_in, source, totals, with_answers
from tests.support.environments.accounts import Account, accounts

WRONG = "def lstm_cell(x, h, c, *weights):\n    return h, c"
MADE = ("verdicts", ".autograder", "autograded", "reports", "gradebook.db")
"""The files and folders that grading and reporting make in a course."""


@dataclass(frozen=True)
class Shared:
    """A course in a folder of the graders' group, and three accounts: two graders and a student."""

    course: Path
    tina: Account
    theo: Account
    student: Account

    def share(self) -> None:
        with (self.course / "nbgrader_config.py").open("a") as file:
            file.write("\nc.CourseDirectory.groupshared = True\n")

    def grades(self, who: Account, *options: str) -> subprocess.CompletedProcess[str]:
        return who.run(self.course, "autograder", "grade", LSTM, *options, umask=0o077)


@pytest.fixture
def shared(empty_course) -> Iterator[Shared]:
    with accounts("tina", "theo", "student", group="graders") as (folder, people):
        tina, theo, student = people
        course = folder / "course"
        shutil.copytree(empty_course, course, symlinks=True)
        hand_in(course, "ada", source())
        hand_in(course, "ben", with_answers(lstm_cell=WRONG))
        tina.takes(course)
        shutil.rmtree(course / ".autograder", ignore_errors=True)  # nobody has graded yet
        subprocess.run(["chgrp", "-R", tina.group, course], check=True)
        subprocess.run(["chmod", "-R", "u+rwX,g+rwXs,o=", course], check=True)
        course.chmod(0o2775)
        yield Shared(course, tina, theo, student)


def modes(course: Path, *parts: str) -> dict[str, int]:
    paths = [path for part in parts for path in (course / part, *(course / part).rglob("*"))]
    return {
        str(path.relative_to(course)): stat.S_IMODE(path.stat().st_mode) for path in paths if path.exists()
    }


@pytest.mark.slow
def test_two_graders_with_accounts_of_their_own_grade_one_course(shared):
    shared.share()
    done(shared.grades(shared.tina))
    assert totals(shared.course) == {"ada": 10, "ben": 8}
    hand_in(shared.course, "ben", source())
    done(shared.grades(shared.theo))
    assert totals(shared.course) == {"ada": 10, "ben": 10}
    done(shared.grades(shared.tina, "--force"))
    for who in (shared.tina, shared.theo):
        assert "ben" in done(who.run(shared.course, "autograder", "results", LSTM, umask=0o077))
        done(who.run(shared.course, "autograder", "report", LSTM, umask=0o077))
        done(who.run(shared.course, "nbgrader", "autograde", LSTM, "--force", umask=0o077))
    found = modes(shared.course, *MADE)
    for name, mode in found.items():
        kind = 0o070 if (shared.course / name).is_dir() else 0o060
        assert mode & kind == kind, (name, oct(mode))
    for name in ("verdicts", ".autograder", "reports", "gradebook.db"):
        assert found[name] & 0o007 == 0, name


@pytest.mark.slow
def test_a_course_that_comes_to_be_shared_is_opened_by_its_owner(shared):
    done(shared.grades(shared.tina))
    assert modes(shared.course, ".autograder")[".autograder"] == 0o700
    before = modes(shared.course, *MADE)
    refused = shared.grades(shared.theo)
    assert refused.returncode == 1
    assert len(refused.stderr.splitlines()) == 1, refused.stderr
    assert "groupshared = True" in refused.stderr

    shared.share()
    refused = shared.grades(shared.theo)
    assert refused.returncode == 1
    assert f"{shared.tina.name} opens it by running `autograder grade {LSTM}`" in refused.stderr
    reading = shared.theo.run(shared.course, "autograder", "results", LSTM)
    assert (reading.returncode, len(reading.stderr.splitlines())) == (1, 1)
    assert "You may not read" in reading.stderr
    assert modes(shared.course, *MADE) == before
    done(shared.grades(shared.tina))
    done(shared.grades(shared.theo, "--force"))


@pytest.mark.slow
def test_a_student_sees_nothing_of_a_course_but_its_release(shared):
    made = shared.tina.home.parent / "made"
    made.mkdir(mode=0o777)
    made.chmod(0o777)
    course = made / "course"
    done(shared.tina.run(made, "autograder", "new", course))
    hand_in(course, "ada", source())
    shared.tina.takes(course / "submitted")
    done(shared.tina.run(course, "autograder", "build", LSTM))
    done(shared.tina.run(course, "autograder", "grade", LSTM))
    done(shared.tina.run(course, "autograder", "report", LSTM))
    done(shared.tina.run(course, "autograder", "export", "--to", "csv"))
    closed = ("source", "solutions", "verdicts", ".autograder", "autograded", "reports", "exports")
    for name in closed:
        assert shared.student.run(made, "ls", course / name).returncode != 0, name
    assert shared.student.run(made, "cat", course / "gradebook.db").returncode != 0
    assert done(shared.student.run(made, "cat", course / "release" / LSTM / "lstm_cell.ipynb"))

    found = json.loads(done(shared.tina.run(course, "autograder", "doctor", "--json")))
    assert [each["path"] for each in found["open"]] == [str(course / "submitted")]
    (course / "verdicts").chmod(0o755)
    (course / "gradebook.db").chmod(0o644)
    said = done(shared.tina.run(course, "autograder", "doctor"))
    assert f"drwxr-xr-x {course}/verdicts: chmod o= {course}/verdicts" in said
    for each in json.loads(done(shared.tina.run(course, "autograder", "doctor", "--json")))["open"]:
        done(shared.tina.run(course, "sh", "-c", each["remedy"]))
    assert "Open to every account" not in done(shared.tina.run(course, "autograder", "doctor"))
