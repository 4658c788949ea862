"""Classes too large to be shown whole: pages say what they leave out, and memory grows as the class does."""

from __future__ import annotations

import io
import json
import random
import tracemalloc
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

import pytest
from rich.console import Console

from autograder.cli import tables
from autograder.cli.console import print_json, print_json_list
from autograder.grading.records.results import Result
from autograder.reporting.attention import Attention
from autograder.reporting.common_mistakes import CommonMistake, Example
from autograder.reporting.overview.behind import Behind
from autograder.reporting.overview.class_report import CourseReport, StudentLine
from autograder.reporting.overview.page import course_page
from autograder.reporting.page import MOST_NAMES, MOST_ROWS, page
from autograder.reporting.report import Report, Submission
from autograder.reporting.similarity import similar_pairs
from autograder.reporting.statistics import spread
from autograder.verdict import Finding, TaskVerdict, Verdict

NOW = datetime(2026, 11, 25, 1, 0)


def report_of(count: int) -> Report:
    students = tuple(f"student{number:05}" for number in range(count))
    scores = spread([float(number % 11) for number in range(count)], 10.0)
    return Report(
        course="c", assignment="01_first", notebook="first", max_score=10.0, graded=NOW, students=count,
        handed_in=count, judged=count, full_marks=0, need_a_person=count, waiting=0, states={"graded": count},
        scores=scores, seconds=spread([0.3] * count), tasks=(), checks=(),
        mistakes=(CommonMistake("f", "a", "A hint.", ("It is right.",), students, Example("ada", "x")),),
        explained=count, clusters=(), guesses=(), everybody={}, pairs=(),
        attention=tuple(Attention(student, "corrupt", "It cannot be read.") for student in students),
        found={"mistakes": 1, "clusters": 0, "pairs": 0},
        submissions=tuple(
            Submission(student, "", "graded", "graded", 5.0, 0.0, {}, 0.3, (), "", None, None, "")
            for student in students
        ),
    )  # fmt: skip


def course_report_of(count: int) -> CourseReport:
    students = [f"student{number:05}" for number in range(count)]
    return CourseReport(
        course="c", graded=NOW, max_total=10.0, totals=spread([5.0] * count, 10.0), assignments=(),
        students=tuple(StudentLine(each, "", {}, {}, 5.0, 1, 0.5, 0) for each in students),
        behind=tuple(Behind(each, ("01_first", "02_second"), None) for each in students),
        need_a_person=0, attention=(), everybody={}, checks=(), mistakes=(),
        found={"checks": 0, "mistakes": 0},
    )  # fmt: skip


def rows(text: str, table: str) -> int:
    return text.split(f'id="{table}"')[1].split("</table>")[0].split("<tbody>")[1].count("<tr>")


@pytest.mark.parametrize(("count", "cut"), [(MOST_ROWS, False), (MOST_ROWS + 1, True)])
def test_a_page_of_an_assignment_says_what_it_leaves_out(count, cut, tmp_path):
    text = page(report_of(count), tmp_path)
    assert rows(text, "submissions") == rows(text, "reasons") == MOST_ROWS
    for file in ("submissions.csv", "attention.csv"):
        assert (f"<code>{file}</code>" in text) is cut
    assert text.count(f"The table has {MOST_ROWS:,} of {count:,} rows") == 2 * cut
    names = text.split('id="mistake-1"')[1].split("</article>")[0]
    assert names.count("student0") == MOST_NAMES
    assert f"and {count - MOST_NAMES} more, who are in the table that" in names


@pytest.mark.parametrize(("count", "cut"), [(MOST_ROWS, False), (MOST_ROWS + 1, True)])
def test_a_page_of_a_course_says_what_it_leaves_out(count, cut, tmp_path):
    text = course_page(course_report_of(count), tmp_path)
    assert rows(text, "scores") == rows(text, "behind-table") == MOST_ROWS
    assert text.count(f"The table has {MOST_ROWS:,} of {count:,} rows") == 2 * cut


def verdicts(count: int) -> Iterator[Verdict]:
    for number in range(count):
        name, status = f"s{number}" + "x" * (number % 5), ("graded", "timeout")[number % 7 == 3]
        found = (Finding("timeout", "It did not end in time, which a person should see. " * 4),) * (
            number % 2
        )
        tasks = (TaskVerdict("f", 4.0, ()), TaskVerdict("g", 6.0, ()))
        yield Verdict(name, "01_first", "first", status, number * 1.7, 7, found, tasks)


def test_results_printed_in_pieces_are_the_same(monkeypatch):
    results = [Result(verdict, None) for verdict in verdicts(40)]

    def printed(together: int) -> str:
        monkeypatch.setattr(tables, "ROWS_TOGETHER", together)
        said = io.StringIO()
        tables.print_results(Console(file=said, width=120), results)
        return said.getvalue()

    whole = printed(40)
    assert whole.count("\n") == 41
    assert printed(7) == printed(1) == printed(39) == whole


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_list_printed_value_by_value_is_the_same_json(count, capsys):
    values = [
        {"message": 'two\nlines, a "quote" and ⟂\u2028', "of": [1, [], {}], "number": n} for n in range(count)
    ]
    print_json(values)
    whole = capsys.readouterr().out
    print_json_list(iter(values))
    assert capsys.readouterr().out == whole
    assert json.loads(whole) == values


class Invented(Mapping[str, Mapping[str, str]]):
    """Answers that are made when they are asked for; every hundredth student has those of the one before."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __getitem__(self, student: str) -> Mapping[str, str]:
        number = int(student)
        draw = random.Random(number - (number % 100 == 99))
        lines = [f"    total = {draw.random()} * width + {draw.random()} - height" for _ in range(12)]
        return {"f": "\n".join(["def f(width, height):", *lines, "    return total"])}

    def __iter__(self) -> Iterator[str]:
        return (f"{number:06}" for number in range(self.count))

    def __len__(self) -> int:
        return self.count


@pytest.mark.slow
def test_copies_are_found_in_a_large_class_and_memory_grows_as_it_does():
    peaks = {}
    for count in (200, 800):
        tracemalloc.start()
        try:
            found = similar_pairs(Invented(count), {}, {})
            _, peaks[count] = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert {(pair.left, pair.right) for pair in found} == {
            (f"{one - 1:06}", f"{one:06}") for one in range(99, count, 100)
        }
    assert peaks[800] < 6 * peaks[200]
    assert peaks[800] / 800 < 9000, "as tuples of strings, an answer's runs took 30,000 bytes"


def test_an_empty_class_has_no_pairs(tmp_path: Path):
    assert similar_pairs({}, {}, {}) == []
    assert similar_pairs({"ada": {"f": ""}}, {}, {}) == []
