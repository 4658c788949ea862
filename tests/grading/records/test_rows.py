"""The rows of several submissions, written together, are those that nbgrader's API would write one by one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from nbgrader.api import Comment, Grade, SubmittedNotebook

from autograder.grading.course.course import Course
from autograder.grading.records.rows import CellScore, SubmissionRows, save_rows
from tests.support.helpers import ASSIGNMENT, NOTEBOOK
from tests.support.resuming import make_class, rows

ON_TIME = datetime(2026, 3, 1, 9, 0)
LATE = datetime(2026, 3, 1, 12, 0)


@pytest.fixture
def course(tmp_path) -> Course:
    return make_class(tmp_path / "course")


def submission(student: str, points: float | None = 1.0, at: datetime = ON_TIME, **other) -> SubmissionRows:
    cells = {"check_lstm_cell": CellScore(points, False), "lstm_cell": CellScore(None, True)}
    return SubmissionRows(student, NOTEBOOK, at, cells, **{"read": True, "look_again": False} | other)


def save(course: Course, *submissions: SubmissionRows, penalty=lambda student, score, late: None) -> dict:
    with course.gradebook() as book:
        save_rows(book.db, course.bundle(ASSIGNMENT), submissions, penalty)
        book.db.commit()
    return rows(course)


@pytest.mark.filterwarnings("ignore:Object of type <Submitted")  # nbgrader's own way of making rows
def test_new_rows_are_those_of_nbgraders_api(course):
    save(course, submission("ada"), submission("ben", 0.5))
    with course.gradebook() as book:
        book.update_or_create_student("cai")
        book.add_submission(ASSIGNMENT, "cai", timestamp=ON_TIME.replace(tzinfo=UTC))
        for grade in book.find_submission(ASSIGNMENT, "cai").notebooks[0].grades:
            grade.auto_score = 1.0 if grade.name == "check_lstm_cell" else 0.0
            grade.needs_manual_grade = False
        for comment in book.find_submission(ASSIGNMENT, "cai").notebooks[0].comments:
            comment.auto_comment = "No response." if comment.name == "lstm_cell" else None
        book.db.commit()
    found = rows(course)
    assert found[f"cai {ASSIGNMENT}"] == found[f"ada {ASSIGNMENT}"]
    assert found[f"ben {ASSIGNMENT}"]["score"] == 0.5
    with course.gradebook() as book:
        columns = [
            {
                key: value
                for key, value in vars(one).items()
                if key not in ("id", "assignment_id") and key[0] != "_"
            }
            for one in book.db.query(SubmittedNotebook)
        ]
        assert columns[0] == columns[1] == columns[2]


def test_rows_that_are_missing_are_made_and_none_twice(course):
    before = save(course, submission("ada"))
    with course.gradebook() as book:
        book.db.delete(book.db.query(Grade).first())
        book.db.delete(book.db.query(Comment).first())
        book.db.commit()
    assert save(course, submission("ada")) == before
    both = save(course, submission("ada"), submission("ben"))
    assert both["grade"] == 2 * before["grade"]
    assert both["comment"] == 2 * before["comment"]
    assert both["student"] == 2


def test_a_persons_points_and_comments_stay_and_are_flagged(course):
    save(course, submission("ada"), submission("ben"))
    with course.gradebook() as book:
        grade = book.find_grade("check_lstm_cell", NOTEBOOK, ASSIGNMENT, "ada")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 0.75, 0.5, False
        book.find_comment("lstm_cell", NOTEBOOK, ASSIGNMENT, "ada").manual_comment = "Well done."
        book.db.commit()
    found = save(course, submission("ada", 0.25), submission("ben", 0.25))
    ada, ben = found[f"ada {ASSIGNMENT}"], found[f"ben {ASSIGNMENT}"]
    assert ada["grades"]["check_lstm_cell"] == (0.25, 0.75, 0.5, True)
    assert ben["grades"]["check_lstm_cell"] == (0.25, None, None, False)
    assert ada["comments"]["lstm_cell"] == ("No response.", "Well done.")
    assert ada["score"] == 1.25


def test_what_was_not_read_and_what_nothing_ran_of_wait_for_a_person(course):
    found = save(course, submission("ada", read=False), submission("ben", look_again=True))
    assert set(found[f"ada {ASSIGNMENT}"]["grades"].values()) == {(None, None, None, True)}
    assert {flagged for *_, flagged in found[f"ben {ASSIGNMENT}"]["grades"].values()} == {True}
    assert found[f"ben {ASSIGNMENT}"]["score"] == 1


def test_a_late_submission_alone_loses_points_of_its_own_score(course):
    asked = []

    def penalty(student: str, score: float, seconds: float) -> float:
        asked.append((student, score, seconds))
        return 0.5

    late, on_time = submission("ben", 0.75, LATE), submission("ada")
    found = save(course, on_time, late, penalty=penalty)
    assert asked == [("ben", 0.75, 2.5 * 3600)]
    assert (found[f"ada {ASSIGNMENT}"]["late"], found[f"ben {ASSIGNMENT}"]["late"]) == (None, 0.5)
    with course.gradebook() as book:
        book.find_submission(ASSIGNMENT, "ben").extension = timedelta(hours=2)
        grade = book.find_grade("check_lstm_cell", NOTEBOOK, ASSIGNMENT, "ben")
        grade.manual_score, grade.extra_credit = 0.25, 1.0
        book.db.commit()
    save(course, late, penalty=penalty)
    assert asked[1:] == [("ben", 1.25, 1800)]
    found = save(course, submission("ben", 0.75, ON_TIME), penalty=penalty)
    assert found[f"ben {ASSIGNMENT}"]["late"] is None
    assert len(asked) == 2
