"""How long the report of a large class takes, and how large the page is.

A few dozen submissions that differ (right answers in every style the tests know, wrong ones, an untouched
and an unreadable one) are graded for real. Their verdicts, graded notebooks and gradebook rows are then
copied under the names of a whole class. The other nine assignments get rows for everybody, so that the
gradebook is as large as a course's. Every answer is thus there several times, which is more work for the
search for answers that are alike than a real class is.

    python benchmarks/report.py [--students 300] [--real 36] [--assignment 03_lstm_cell] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import statistics
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from _shared import AUTOGRADER, run
from nbgrader.api import Assignment, Grade, Student, SubmittedAssignment, SubmittedNotebook
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from autograder.grading.course.course import Course
from tests.support.helpers import ROOT, make_course, released, solved, submission, submit
from tests.variants import NOTEBOOKS

ASSIGNMENTS = [f"{number:02}_{name}" for number, name in enumerate(NOTEBOOKS, start=1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--real", type=int, default=36, help="submissions that are really graded")
    parser.add_argument("--assignment", default="03_lstm_cell", choices=ASSIGNMENTS)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="autograder-bench-") as made:
        course = graded(Path(made), options.assignment, options.real)
        multiply(course, options.assignment, options.students)
        report(course, options)


def graded(root: Path, assignment: str, count: int) -> Course:
    """A course of ten assignments, one of them graded for `count` students who answer differently."""
    course = make_course(root, ASSIGNMENTS)
    shutil.copytree(ROOT / "solutions" / "mistakes", root / "solutions" / "mistakes")
    draw = random.Random(1)
    module = NOTEBOOKS[assignment[3:]]
    for number in range(count):
        answers = {
            task: draw.choice([module.SOLUTIONS[task], *styles.values()])
            for task, styles in module.CORRECT.items()
        }
        for task in draw.sample(sorted(module.WRONG), k=min(number % 3, len(module.WRONG))):
            answers[task] = draw.choice(list(module.WRONG[task].values()))[1]
        from_solution = submission(answers, base=solved(assignment))
        raw = {0: json.dumps(released(assignment)).encode(), 1: from_solution[:5000]}.get(
            number, from_solution
        )
        submit(course, f"real{number:03}", raw, assignment)
    run([*AUTOGRADER, "grade", assignment], root)
    return course


def multiply(course: Course, assignment: str, students: int) -> None:
    """Make a whole class of those who were graded."""
    real = course.students(assignment)
    for number in range(len(real), students):
        origin, name = real[number % len(real)], f"copy{number:03}"
        for step in ("submitted", "autograded"):
            there = course.folder(step, name, assignment)
            shutil.copytree(course.folder(step, origin, assignment), there)
        kept = json.loads(course.verdict_path(origin, assignment).read_text())
        kept["verdict"]["student"] = name
        course.verdict_path(name, assignment).write_text(json.dumps(kept, indent=1))
    with course.gradebook() as gradebook:
        names = course.students(assignment)
        known = {student.id for student in gradebook.students}
        add(gradebook, Student, [{"id": name} for name in names if name not in known])
        scores = {
            (submission.student_id, grade.name): grade.auto_score
            for submission in gradebook.assignment_submissions(assignment)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }
        done = {student for student, _ in scores}
        for each in gradebook.db.query(Assignment).all():
            fill(
                gradebook, each, [n for n in names if each.name != assignment or n not in done], real, scores
            )
        gradebook.db.commit()


def fill(gradebook: Any, assignment: Any, names: list[str], real: list[str], scores: dict) -> None:
    """Rows of one assignment for the students in `names`, as nbgrader would make them one by one."""
    (notebook,) = assignment.notebooks
    rows = [(name, uuid.uuid4().hex, uuid.uuid4().hex) for name in names]
    add(
        gradebook,
        SubmittedAssignment,
        [{"id": one, "assignment_id": assignment.id, "student_id": name} for name, one, _ in rows],
    )
    add(
        gradebook,
        SubmittedNotebook,
        [{"id": two, "assignment_id": one, "notebook_id": notebook.id} for _, one, two in rows],
    )
    add(
        gradebook,
        Grade,
        [
            {
                "id": uuid.uuid4().hex,
                "notebook_id": two,
                "cell_id": cell.id,
                "auto_score": scores.get((real[position % len(real)], cell.name), cell.max_score),
                "needs_manual_grade": False,
            }
            for position, (_, _, two) in enumerate(rows)
            for cell in notebook.grade_cells
        ],
    )


def add(gradebook: Any, kind: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        gradebook.db.execute(kind.__table__.insert(), rows)


def report(course: Course, options: argparse.Namespace) -> None:
    page = course.root / "reports" / f"{options.assignment}.html"
    ways = {
        "report, HTML": ["report", options.assignment],
        "report, JSON": ["report", options.assignment, "--json"],
        "export of one assignment": ["export", options.assignment, "--to", "canvas"],
        "export of ten, per task": ["export", "--to", "canvas", "--per", "task"],
    }
    table = Table(
        title=f"{options.assignment}, {options.students} students ({options.real} really graded), "
        f"ten assignments, {options.rounds} rounds"
    )
    for title in ("command", "median seconds", "slowest", "CPU-seconds", "megabytes"):
        table.add_column(title, justify="left" if title == "command" else "right")
    sizes = {"report, HTML": page, "export of ten, per task": course.root / "exports" / "canvas-task.csv"}
    for way, command in ways.items():
        seconds, cpu = [], []
        for _ in range(options.rounds):
            started, before = time.perf_counter(), cpu_seconds()
            run([*AUTOGRADER, *command], course.root)
            seconds.append(time.perf_counter() - started)
            cpu.append(cpu_seconds() - before)
        size = f"{sizes[way].stat().st_size / 1e6:.2f}" if way in sizes else "–"
        table.add_row(
            way,
            f"{statistics.median(seconds):.1f}",
            f"{max(seconds):.1f}",
            f"{statistics.median(cpu):.1f}",
            size,
        )
    Console(width=110).print(table)


def cpu_seconds() -> float:
    """The CPU-seconds of the commands run so far, which other programs do not change."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
