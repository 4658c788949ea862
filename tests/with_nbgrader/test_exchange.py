"""The exchange from release to feedback, walked by an instructor and two students with accounts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from tests.support.courses import LSTM, NOTEBOOK, TASKS, done, named, source, totals
from tests.support.environments.accounts import Account, accounts

GRADE = {"nbgrader": "autograde", "autograder": "grade"}
SETTINGS = 'c.Exchange.root = {exchange!r}\nc.CourseDirectory.course_id = "recurrent-networks"\n'


@dataclass(frozen=True)
class Class:
    """An instructor's course, and two students who have fetched its assignment over an exchange."""

    course: Path
    prof: Account
    anna: Account
    ben: Account

    def staff(self, *command: object) -> str:
        return done(self.prof.run(self.course, *command))

    def hands_in(self, student: Account, tasks: int) -> None:
        """Solve the first tasks in the fetched notebook, and submit."""
        path = student.home / LSTM / NOTEBOOK
        notebook = nbformat.read(path, as_version=4)
        for task in TASKS[:tasks]:
            named(notebook, task)["source"] = named(source(), task)["source"]
        nbformat.write(notebook, path)
        done(student.run(student.home, "nbgrader", "submit", LSTM))

    def reads(self, student: Account) -> list[str]:
        """The student's feedback pages, the oldest submission's first."""
        done(student.run(student.home, "nbgrader", "fetch_feedback", LSTM))
        return [path.read_text() for path in sorted((student.home / LSTM / "feedback").rglob("*.html"))]

    def hand_back(self) -> None:
        self.staff("nbgrader", "generate_feedback", LSTM)
        self.staff("nbgrader", "release_feedback", LSTM)


@pytest.fixture
def people(empty_course) -> Iterator[Class]:
    with accounts("prof", "anna", "ben") as (folder, (prof, anna, ben)):
        exchange = folder / "exchange"
        exchange.mkdir()
        exchange.chmod(0o777)
        settings = SETTINGS.format(exchange=str(exchange))
        course = prof.home / "course"
        shutil.copytree(empty_course, course, symlinks=True)
        with (course / "nbgrader_config.py").open("a") as file:
            file.write(settings)
        prof.takes(course)
        made = Class(course, prof, anna, ben)
        made.staff("nbgrader", "release_assignment", LSTM)
        for student in (anna, ben):
            (student.home / "nbgrader_config.py").write_text(f"c = get_config()\n{settings}")
            done(student.run(student.home, "nbgrader", "fetch_assignment", LSTM))
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("command", ["autograder", "nbgrader"])
def test_every_student_reads_feedback_whoever_graded(people, command):
    people.hands_in(people.anna, 4)
    people.hands_in(people.ben, 2)
    people.staff("nbgrader", "collect", LSTM)
    people.staff(command, GRADE[command], LSTM)
    assert totals(people.course) == {people.anna.name: 10, people.ben.name: 4}
    people.hand_back()
    (annas,), (bens,) = people.reads(people.anna), people.reads(people.ben)
    assert "lstm_cell: 10 of 10 points</h1>" in annas
    assert "lstm_cell: 4 of 10 points</h1>" in bens
    assert "lstm_cell: 2 of 2 points, everything holds" in bens
    assert "LSTMCell: 0 of 4 points, still to do" in bens

    # Handed in again: each submission has its own page.
    people.hands_in(people.ben, 4)
    people.staff("nbgrader", "collect", LSTM, "--update")
    people.staff(command, GRADE[command], LSTM)
    people.hand_back()
    first, second = people.reads(people.ben)
    assert first == bens
    assert "lstm_cell: 10 of 10 points</h1>" in second
    handed_back = [path.name for path in (people.ben.home / LSTM / "feedback").rglob("*") if path.is_file()]
    assert handed_back == [NOTEBOOK.replace(".ipynb", ".html")] * 2


@pytest.mark.slow
def test_feedback_of_an_earlier_version_and_of_an_earlier_grading(people):
    people.hands_in(people.ben, 2)
    people.staff("nbgrader", "collect", LSTM)
    people.staff("autograder", "grade", LSTM)
    people.staff("nbgrader", "generate_feedback", LSTM)
    for step in ("autograded", "feedback"):  # as it was left by earlier versions
        (people.course / step / people.ben.name / LSTM / "submission_secret.txt").unlink()
    verdict = people.course / "verdicts" / LSTM / f"{people.ben.name}.json"
    before = verdict.read_text()
    assert people.prof.run(people.course, "nbgrader", "release_feedback", LSTM).returncode != 0
    people.staff("autograder", "grade", LSTM)
    assert verdict.read_text() == before, "judged again: its seconds are others"
    people.hand_back()
    (page,) = people.reads(people.ben)
    assert "lstm_cell: 4 of 10 points</h1>" in page

    # Judged again, for whatever reason: the page that was made before is not handed back any more.
    submitted = people.course / "submitted" / people.ben.name / LSTM / NOTEBOOK
    notebook = nbformat.read(submitted, as_version=4)
    named(notebook, "lstm_cell")["source"] = "def lstm_cell(x, h, c, *weights):\n    return h, c"
    submitted.chmod(0o644)
    nbformat.write(notebook, submitted)
    people.staff("autograder", "grade", LSTM)
    people.hand_back()
    (page,) = people.reads(people.ben)
    assert "lstm_cell: 2 of 10 points</h1>" in page
