"""Marks for other systems: what the gradebook says, with nothing that was not graded turned into a 0."""

from __future__ import annotations

import codecs
import csv
import io
import shutil
from pathlib import Path

import pytest

from autograder.grading.course.course import Course
from autograder.reporting.export import export
from tests.support.courses import copy_course
from tests.support.helpers import ASSIGNMENT, NOTEBOOK, autograder, autograder_here, make_course
from tests.support.reports import FORMULA, HOSTILE, give_points

SCORES = {
    "ada": "10", "ben": "6.5", "cem": "9.25", "dot": "10", "eve": "10", "fay": "0", "gus": "", "hal": "",
    "ida": "10", "jon": "10", HOSTILE: "8", FORMULA: "8", "nil": "", "waits": "",
}  # fmt: skip


@pytest.fixture(scope="module")
def course(graded_class, tmp_path_factory) -> Course:
    """Only read by the tests."""
    return Course.at(copy_course(graded_class, tmp_path_factory.mktemp("copy") / "course"))


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def by_student(rows: list[dict[str, str]], column: str) -> dict[str, dict[str, str]]:
    return {row[column].removeprefix("'"): row for row in rows}


def test_the_command_writes_a_file_and_says_who_has_no_score(course):
    told = autograder("export", "--to", "canvas", "--course", course.root)
    assert told.returncode == 0, told.stderr
    path = course.root / "exports" / "canvas-total.csv"
    assert told.stdout.strip() == f"14 students: {path}"
    for line in (
        "2 without a score: nothing was handed in",
        "1 without a score: the file handed in cannot be read",
        "1 without a score: handed in and not graded yet",
    ):
        assert line in told.stderr
    again = autograder("export", "--to", "canvas", "--output", "-", "--course", course.root)
    assert again.stdout == path.read_bytes().decode().replace("\r\n", "\n")


def test_canvas_gets_its_columns_and_the_points_possible(course):
    rows = read(export(course, "canvas", [ASSIGNMENT]).text)
    assert list(rows[0]) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", ASSIGNMENT]
    assert rows[0]["Student"].strip() == "Points Possible"
    assert rows[0][ASSIGNMENT] == "10"
    found = by_student(rows[1:], "SIS Login ID")
    assert {student: row[ASSIGNMENT] for student, row in found.items()} == SCORES
    assert found["ada"]["Student"] == "Lovelace, Ada"
    assert found["ben"]["ID"] == "4711"
    assert found["dot"]["Student"] == "dot", "without a name there is still something to know them by"


@pytest.mark.parametrize(("to", "marked"), [("canvas", False), ("moodle", True), ("csv", True)])
def test_excel_and_the_importers_read_names_with_accents(course, tmp_path, to, marked):
    """Excel takes a file without the mark for the system's code page; Canvas does not take a mark away."""
    shutil.copytree(course.root, tmp_path / "course")
    with Course.at(tmp_path / "course").gradebook() as gradebook:
        gradebook.update_or_create_student("ada", first_name="Zoë", last_name="Łukasiewicz")
    path = tmp_path / "marks.csv"
    for output in (path, "-"):
        told = autograder_here(
            "export", ASSIGNMENT, "--to", to, "--output", output, "--course", tmp_path / "course"
        )
        assert told.returncode == 0, told.stderr
    written = path.read_bytes()
    assert written.startswith(codecs.BOM_UTF8) == marked
    rows = read(written.decode("utf-8-sig" if marked else "utf-8"))
    assert next(iter(rows[0])) in ("Student", "Username", "assignment")
    assert any("Zoë" in str(row) and "Łukasiewicz" in str(row) for row in rows)
    assert "\ufeff" not in told.stdout, "programs that read a pipe need no mark"
    assert "Łukasiewicz" in told.stdout


def test_moodle_gets_what_it_can_be_mapped_by(course):
    found = by_student(read(export(course, "moodle", [ASSIGNMENT]).text), "Username")
    assert {student: row[ASSIGNMENT] for student, row in found.items()} == SCORES
    assert found["ada"]["Email address"] == "ada@example.org"
    assert (found["ada"]["First name"], found["ada"]["Last name"]) == ("Ada", "Lovelace")


def test_names_are_escaped(course):
    text = export(course, "moodle", [ASSIGNMENT]).text
    found = by_student(read(text), "Username")
    assert found["ben"]["Last name"] == "'=HYPERLINK(1)"
    assert found["ben"]["First name"] == "<b>Ben</b>"
    for row in csv.reader(io.StringIO(text, newline="")):
        assert not [field for field in row if field.startswith(("=", "+", "@"))]


def test_the_plain_table_says_why_there_is_no_score(course):
    found = by_student(read(export(course, "csv", [ASSIGNMENT]).text), "student")
    states = {student: row["state"] for student, row in found.items() if not row["score"]}
    assert states == {"gus": "corrupt", "hal": "missing", "nil": "missing", "waits": "not_graded"}
    ben = found["ben"]
    assert (ben["raw_score"], ben["late_penalty"], ben["score"], ben["max_score"]) == (
        "8",
        "1.5",
        "6.5",
        "10",
    )
    assert found["fay"]["score"] == "0", "an untouched notebook was graded, and earned nothing"


def test_tasks_and_the_late_penalty_add_up_to_the_score(course):
    rows = read(export(course, "canvas", [ASSIGNMENT], per_task=True).text)
    columns = [name for name in rows[0] if name.startswith(ASSIGNMENT)]
    assert columns == [
        f"{ASSIGNMENT} {name}"
        for name in ("lstm_gates", "lstm_cell", "LSTMCell", "copy_from_torch", "late penalty")
    ]
    assert [rows[0][name] for name in columns] == ["2", "2", "4", "2", "0"]
    for student, row in by_student(rows[1:], "SIS Login ID").items():
        points = [row[name] for name in columns]
        if SCORES[student]:
            assert sum(map(float, points)) == float(SCORES[student]), student
        else:
            assert set(points) == {""}, student
    assert by_student(rows[1:], "SIS Login ID")["ben"][f"{ASSIGNMENT} late penalty"] == "-1.5"


def test_what_waits_for_a_person_is_no_zero(course, tmp_path):
    shutil.copytree(course.root, tmp_path / "course")
    at = Course.at(tmp_path / "course")
    with at.gradebook() as gradebook:
        grade = gradebook.find_grade("check_LSTMCell", NOTEBOOK, ASSIGNMENT, "ada")
        grade.auto_score, grade.needs_manual_grade = None, True
        gradebook.db.commit()
    found = export(at, "csv", [ASSIGNMENT])
    ada = by_student(read(found.text), "student")["ada"]
    assert (ada["state"], ada["score"]) == ("needs_manual_grade", "")
    assert found.empty["needs_manual_grade"] == 1
    with at.gradebook() as gradebook:
        give_points(gradebook, "ada", "check_LSTMCell", 3.5)
    assert by_student(read(export(at, "csv", [ASSIGNMENT]).text), "student")["ada"]["score"] == "9.5"


def test_extra_credit_counts_and_a_penalty_never_takes_more_than_there_is(course, tmp_path):
    shutil.copytree(course.root, tmp_path / "course")
    at = Course.at(tmp_path / "course")
    with at.gradebook() as gradebook:
        gradebook.find_grade("check_LSTMCell", NOTEBOOK, ASSIGNMENT, "ada").extra_credit = 0.5
        gradebook.find_submission_notebook(NOTEBOOK, ASSIGNMENT, "ben").late_submission_penalty = 99.0
        gradebook.db.commit()
    found = by_student(read(export(at, "canvas", [ASSIGNMENT]).text), "SIS Login ID")
    assert (found["ada"][ASSIGNMENT], found["ben"][ASSIGNMENT]) == ("10.5", "0")
    tasks = by_student(read(export(at, "canvas", [ASSIGNMENT], per_task=True).text), "SIS Login ID")["ben"]
    assert sum(float(points) for name, points in tasks.items() if name.startswith(ASSIGNMENT)) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Nothing has been graded yet: run `autograder grade ASSIGNMENT` first."),
        ((ASSIGNMENT,), f"Nothing has been graded yet: run `autograder grade {ASSIGNMENT}` first."),
        (("99_none",), "There is no assignment '99_none'"),
    ],
)
def test_what_cannot_be_exported_is_one_sentence(tmp_path, arguments, words):
    make_course(tmp_path)
    told = autograder_here("export", *arguments, "--to", "moodle", "--course", tmp_path)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.strip().startswith(words)
    assert not (Path(tmp_path) / "exports").exists()
