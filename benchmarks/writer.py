"""Submissions that one writer puts on record in a second, one by one and several together.

One solved submission is judged for real; its verdict and notebook are then recorded under many students'
names, by the function that `autograder grade` calls: first into a gradebook that does not know them, then
once more. One process, and no judge beside it. Medians of rounds that take turns.

    python benchmarks/writer.py [--assignment 03_lstm_cell] [--submissions 640] [--together 1 8 64]
    python benchmarks/writer.py --db-url postgresql+psycopg://…    # an empty database, which stays filled
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported, as `autograder` does

from _shared import make_course
from msgspec import structs
from rich.console import Console
from rich.table import Table

from autograder.checking.runner.collection import collect
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.course.course import Course
from autograder.grading.judging.judge import Graded, judge
from autograder.grading.records.record import record
from autograder.grading.records.store import Key
from autograder.grading.workers.forkserver import ForkServer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assignment", default="03_lstm_cell")
    parser.add_argument("--submissions", type=int, default=640)
    parser.add_argument("--together", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--db-url", default="")
    options = parser.parse_args()
    seconds: dict[tuple[int, str], list[tuple[float, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="autograder-bench-") as made:
        config = f"c.CourseDirectory.db_url = {options.db_url!r}\n" if options.db_url else ""
        home = make_course(Path(made) / "course", options.assignment, [{}], config=config)
        course = Course.at(home)
        bundle = course.bundle(options.assignment)
        graded = judged(course, bundle)
        for number in range(options.rounds):
            for together in options.together:
                names = [f"r{number}t{together}s{each:05}" for each in range(options.submissions)]
                for kind in ("new", "again"):
                    seconds[together, kind].append(recorded(course, bundle, graded, names, together))
    report(seconds, options.submissions)


def judged(course: Course, bundle: Bundle) -> Graded:
    (student,) = course.students(bundle.assignment)
    raw = course.handed_in(student, bundle)
    with ForkServer(preload=bundle.preload) as workers, bundle.checks_folder() as folder:
        return judge(raw, bundle, student=student, seed=1, checks=collect(folder), workers=workers)


def recorded(
    course: Course, bundle: Bundle, graded: Graded, names: list[str], together: int
) -> tuple[float, float]:
    """Record a verdict under each name; return seconds and CPU-seconds of this process."""
    verdicts = [structs.replace(graded.verdict, student=name) for name in names]
    batch = [(replace(graded, verdict=verdict), Key("", "")) for verdict in verdicts]
    started, cpu = time.perf_counter(), time.process_time()
    for first in range(0, len(batch), together):
        record(course, bundle, batch[first : first + together])
    return time.perf_counter() - started, time.process_time() - cpu


def report(seconds: dict[tuple[int, str], list[tuple[float, float]]], submissions: int) -> None:
    table = Table(title=f"{submissions} submissions on record")
    for column in ("together", "students", "a second", "CPU milliseconds each"):
        table.add_column(column, justify="right")
    for (together, kind), rounds in seconds.items():
        wall, cpu = (statistics.median(part) for part in zip(*rounds, strict=True))
        table.add_row(str(together), kind, f"{submissions / wall:.0f}", f"{cpu / submissions * 1e3:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
