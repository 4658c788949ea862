"""A class's answers, read from the graded notebooks when somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.course.course import Course
from autograder.grading.records.answers import graded_answers
from autograder.reporting.common_mistakes import own_words

MOST_KEPT = 1000
"""The students whose answers are kept once they were read: a large class's do not fit into memory."""


class AnswersAsRead(Mapping[str, Mapping[str, str]]):
    """Each student's solution cells in their own words, by `grade_id`."""

    def __init__(self, course: Course, bundle: Bundle, students: Sequence[str]) -> None:
        self._course, self._bundle = course, bundle
        self._students = dict.fromkeys(students)
        self.stubs = bundle.of_all(lambda part: part.stubs)
        self._kept: dict[str, dict[str, str]] = {}

    def __getitem__(self, student: str) -> Mapping[str, str]:
        if student in self._kept:
            return self._kept[student]
        if student not in self._students:
            raise KeyError(student)
        cells = graded_answers(self._course, student, self._bundle)
        told = {task: own_words(cell, self.stubs[task]) for task, cell in cells.items()}
        if len(self._kept) < MOST_KEPT:
            self._kept[student] = told
        return told

    def __iter__(self) -> Iterator[str]:
        return iter(self._students)

    def __len__(self) -> int:
        return len(self._students)
