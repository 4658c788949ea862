"""Time and memory of every command that reads a whole class, for classes of 1,000 to 100,000.

A few different answers (solved, with known mistakes, wrong in a way nobody knows, untouched, unreadable) are
judged for real. Each file, verdict and graded notebook is then written under the names of a whole class, the
gradebook's rows by `save_rows`, as the recorder does it, hundreds in one transaction. Every student has some
lines of their own in each answer, and one in a hundred has those of somebody else, so that the search for
answers that are alike has as much to read as in a real class. Everything after that is the real thing: each
command runs as a process of its own, and its peak memory is that of the largest process of it. `grade` finds
nothing that has changed.

    python benchmarks/scale.py [--sizes 1000 10000 100000] [--assignment 03_lstm_cell] [--only report grade]
    python benchmarks/scale.py --folder /srv/scratch --keep   # 150 kB a submission; kept courses are reused
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported, as `autograder` does

import nbformat
from _shared import AUTOGRADER, make_course
from msgspec import structs
from rich.console import Console
from rich.table import Table

from autograder.checking.runner.collection import collect
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.cells import check_task, grade_id, is_grade, is_solution
from autograder.grading.course.course import Course
from autograder.grading.handed_in.folder import HandedIn
from autograder.grading.judging.judge import Graded, judge
from autograder.grading.judging.judge_pool import LocalJudges, cores
from autograder.grading.records.known import known_mistakes
from autograder.grading.records.rows import CellScore, SubmissionRows, save_rows
from autograder.grading.records.store import Key, assignment_seed
from autograder.grading.workers.forkserver import ForkServer
from autograder.verdict import UNREAD

TOGETHER = 500
TIME = "2026-11-02 10:00:00"
WORDS = [f"word{number}" for number in range(400)]
SLOT = re.compile("@[0-9]+@")
OWN = "\nown = {" + ", ".join(f"'@{one}@': '@{one + 1}@'" for one in range(1, 17, 2)) + "}"
"""The lines that each student has for themselves in each answer."""


LAUNCHER = """
import os, resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
os.write(int(sys.argv[1]), f"{used.ru_utime + used.ru_stime} {used.ru_maxrss}".encode())
sys.exit(status)
"""
"""A small program between: Linux counts the memory of whoever starts a process as that process's own peak."""

NOBODY_KNOWS = """
right = {name}
def {name}(*given, **named):
    found = right(*given, **named)
    return tuple(each * 1.0625 for each in found) if isinstance(found, tuple) else found * 1.0625
"""
"""A mistake that is in no catalogue."""


@dataclass(frozen=True)
class Used:
    """The time and memory that one command used."""

    seconds: float
    cpu: float
    megabytes: float
    """The peak resident memory of the largest process."""
    written: float
    """The megabytes of what it printed, or of the file that it wrote."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assignment", default="03_lstm_cell")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--folder", type=Path, help="where the courses are made; default: a temporary folder")
    parser.add_argument("--keep", action="store_true", help="leave the courses in --folder")
    parser.add_argument("--only", nargs="+", help="commands to measure; default: all")
    options = parser.parse_args()
    if options.keep and not options.folder:
        parser.error("--keep needs --folder")
    commands = commands_for(options.assignment)
    chosen = {name: commands[name] for name in options.only or commands}
    table = Table(title=f"{options.assignment}, each command a process of its own")
    for column in (
        "command",
        "submissions",
        "seconds",
        "CPU-seconds",
        "CPU ms each",
        "peak MB",
        "MB written",
    ):
        table.add_column(column, justify="left" if column == "command" else "right")
    with tempfile.TemporaryDirectory(prefix="autograder-bench-", dir=options.folder) as made:
        for size in options.sizes:
            home = (options.folder if options.keep else Path(made)) / f"course-{size}"
            if not home.exists():
                say(f"{size}: made in {fill(home, options.assignment, size):.0f} seconds")
            for name, command in chosen.items():
                used = run(command, home)
                say(f"{size} {name}: {used}")
                table.add_row(
                    name,
                    f"{size:,}",
                    f"{used.seconds:.1f}",
                    f"{used.cpu:.1f}",
                    f"{used.cpu / size * 1e3:.2f}",
                    f"{used.megabytes:.0f}",
                    f"{used.written:.1f}",
                )
            if not options.keep:
                shutil.rmtree(home)
    Console(width=120).print(table)


def commands_for(assignment: str) -> dict[str, tuple[list[str], str]]:
    """Return each command, and the file that it writes besides what it prints."""
    return {
        "results": (["results", assignment], ""),
        "results --json": (["results", assignment, "--json"], ""),
        "results --clusters": (["results", assignment, "--clusters"], ""),
        "report": (["report", assignment], f"reports/{assignment}.html"),
        "report --json": (["report", assignment, "--json"], ""),
        "report of the course": (["report"], "reports/course.html"),
        "export": (["export", "--to", "canvas"], "exports/canvas-total.csv"),
        "export --per task": (["export", "--to", "csv", "--per", "task"], "exports/csv-task.csv"),
        "status": (["status"], ""),
        "grade": (["grade", assignment, "--jobs", "2"], ""),
    }


def run(command: tuple[list[str], str], home: Path) -> Used:
    """Run a command to its end; it must succeed."""
    arguments, written = command
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        told = subprocess.run(
            [sys.executable, "-S", "-c", LAUNCHER, str(err.fileno()), *AUTOGRADER, *arguments],
            cwd=home,
            stdout=out,
            stderr=subprocess.PIPE,
            pass_fds=(err.fileno(),),
            text=True,
        )
        seconds = time.perf_counter() - started
        if told.returncode:
            raise SystemExit(f"autograder {' '.join(arguments)} failed:\n{told.stderr[-2000:]}")
        err.seek(0)
        cpu, kilobytes = map(float, err.read().split())
        size = (home / written).stat().st_size if written else out.seek(0, os.SEEK_END)
    return Used(seconds, cpu, kilobytes / 1024, size / 1e6)


def fill(home: Path, assignment: str, size: int) -> float:
    """Make a graded course of so many submissions; return the seconds that it took."""
    beside = home.with_name(f"{home.name}.making")
    shutil.rmtree(beside, ignore_errors=True)
    course = Course.at(make_course(beside, assignment, []))
    bundle, seed = course.bundle(assignment), assignment_seed(course, assignment)
    with ForkServer(preload=bundle.preload) as workers:
        origins = [Origin(*each) for each in judged(course, bundle, seed, workers)]
    started = time.perf_counter()
    conditions = Key.of(None, bundle.digest(), seed).conditions
    for first in range(0, size, TOGETHER):
        numbers = range(first, min(size, first + TOGETHER))
        rows = [hand_in(course, bundle, conditions, number, origins) for number in numbers]
        with course.gradebook() as gradebook:
            save_rows(gradebook.db, bundle, rows, lambda student, score, late: None)
            gradebook.db.commit()
    beside.rename(home)
    return time.perf_counter() - started


class Origin:
    """An answer that was judged for real: its file, its graded notebook, its verdict and its scores."""

    def __init__(self, handed_in: bytes, graded: Graded) -> None:
        cells = {grade_id(cell): cell for cell in nbformat.v4.reads(graded.notebook).cells if grade_id(cell)}
        read = graded.verdict.status not in UNREAD
        points = {task.task: task.score for task in graded.verdict.tasks}
        scores = {
            name: CellScore(points.get(check_task(cell) or name), False)
            for name, cell in cells.items()
            if is_grade(cell)
        }
        self.handed_in = handed_in.decode()
        self.notebook = graded.notebook + "\n"
        self.content = graded.content
        self.verdict = graded.verdict
        self.rows = SubmissionRows(
            "", self.verdict.notebook, datetime.fromisoformat(TIME), scores, read, graded.verdict.nothing_ran
        )


def hand_in(
    course: Course, bundle: Bundle, conditions: str, number: int, origins: Sequence[Origin]
) -> SubmissionRows:
    """Write what a student handed in and what the recorder writes of it; return the rows of the gradebook."""
    student, origin = f"student{number:06}", origins[number % len(origins)]
    # One in a hundred has the words of the one before.
    own = random.Random(number - 1 if number % 100 == 99 else number)
    raw, notebook = with_words(origin.handed_in, own).encode(), with_words(origin.notebook, own)
    seconds = round(0.2 + own.random() / 10, 3)
    verdict = structs.replace(origin.verdict, student=student, seconds=seconds)
    key = Key(conditions, HandedIn(raw).digest())
    kept = {**asdict(key), "content": origin.content, "verdict": verdict.as_json()}
    for step, text in (("submitted", raw), ("autograded", notebook.encode())):
        folder = course.folder(step, student, bundle.assignment)
        folder.mkdir(parents=True)
        (folder / f"{bundle.notebook}.ipynb").write_bytes(text)
        (folder / "timestamp.txt").write_text(f"{TIME} UTC")
    path = course.verdict_path(student, bundle.assignment)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept) + "\n")
    return replace(origin.rows, student=student)


def judged(course: Course, bundle: Bundle, seed: int, workers: ForkServer) -> Iterator[tuple[bytes, Graded]]:
    """Judge some answers for real: each as it was handed in, and what came of it."""
    known = known_mistakes(course, bundle, seed, LocalJudges(workers, cores()))
    every = list(bundle.mistakes)
    mistakes = [every[number * len(every) // 10] for number in range(10)]
    answers = [bundle.solution] * 8
    answers += [{**bundle.solution, one.task: one.answer(bundle.solution)} for one in mistakes]
    first = next(iter(bundle.solution))
    answers.append({**bundle.solution, first: bundle.solution[first] + NOBODY_KNOWS.format(name=first)})
    own = [with_own_lines(bundle, each) for each in answers]
    with bundle.checks_folder() as folder:
        checks = collect(folder)
        for raw in [*own, bundle.released.encode(), own[0][:5000]]:
            yield (
                raw,
                judge(
                    raw,
                    bundle,
                    student="real",
                    seed=seed,
                    checks=checks,
                    workers=workers,
                    known=lambda task: known.get(task, ()),
                ),
            )


def with_own_lines(bundle: Bundle, answers: Mapping[str, str]) -> bytes:
    notebook = nbformat.reads(bundle.with_answers(answers).decode(), as_version=4)
    for cell in notebook.cells:
        if is_solution(cell) and cell.cell_type == "code" and grade_id(cell) in answers:
            cell.source += OWN
    return str(nbformat.writes(notebook)).encode()


def with_words(text: str, draw: random.Random) -> str:
    return SLOT.sub(lambda _: draw.choice(WORDS), text)


def say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


if __name__ == "__main__":
    main()
