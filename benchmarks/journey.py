"""Where the time of one submission goes: rebuilding, forking, its cells, its checks, writing, recording.

Solved submissions are judged and recorded one after the other in this process, by the functions that
`autograder grade` calls, each of which is timed where it stands. What the checks wait for the student's
process is a row of its own. Medians over the submissions, start-up not included.

    python benchmarks/journey.py [--assignment 03_lstm_cell] [--submissions 40]
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported, as `autograder` does

from _shared import CpuMeter, make_course
from rich.console import Console
from rich.table import Table

from autograder.checking.runner.checks import Checks
from autograder.checking.runner.collection import collect
from autograder.grading.course.course import Course
from autograder.grading.judging import judge as judging
from autograder.grading.judging.attempt import Attempt
from autograder.grading.records.record import record
from autograder.grading.records.store import Key
from autograder.grading.workers.client import Worker
from autograder.grading.workers.forkserver import ForkServer
from autograder.protocol.messages import Begin
from autograder.protocol.without import Without


class Stopwatch:
    """Seconds by part, gathered from functions that are timed where they stand."""

    def __init__(self) -> None:
        self.now: dict[str, float] = defaultdict(float)
        self.all: list[dict[str, float]] = []
        self._inside: list[str] = []

    def time(self, home: Any, name: str, part: str) -> None:
        """Count the seconds of `home.name` as `part`, and not as the part of whoever calls it."""
        timed: Callable[..., Any] = getattr(home, name)

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            self._inside.append(part)
            try:
                return timed(*args, **kwargs)
            finally:
                self._inside.pop()
                seconds = time.perf_counter() - started
                self.now[part] += seconds
                if self._inside:
                    self.now[self._inside[-1]] -= seconds

        setattr(home, name, wrapper)

    def lap(self) -> None:
        self.all.append(dict(self.now))
        self.now.clear()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assignment", default="03_lstm_cell")
    parser.add_argument("--submissions", type=int, default=40)
    options = parser.parse_args()
    watch = Stopwatch()
    spawn = ForkServer.spawn

    def until_it_answers(workers: ForkServer, without: Without | None = None) -> Worker:
        worker = spawn(workers, without)  # which does not wait for the fork
        worker.perform([Begin(name="", seed=0)], 10)
        return worker

    setattr(ForkServer, "spawn", until_it_answers)  # noqa: B010  (mypy refuses to assign a method)
    watch.time(judging, "rebuild", "rebuild the notebook")
    watch.time(judging, "unusual_code", "read it for unusual code")
    watch.time(ForkServer, "spawn", "fork and confine a worker")
    watch.time(Attempt, "_send_cell", "run its cells")
    watch.time(Attempt, "judge_task", "checks: references, comparisons")
    watch.time(Attempt, "_perform", "checks: requests to the student's objects")
    watch.time(Worker, "end", "end the worker")
    watch.time(judging, "graded_notebook", "write the notebook")
    watch.time(judging, "_file_text", "write the notebook")
    meter = CpuMeter()
    meter.enter()
    try:
        with tempfile.TemporaryDirectory(prefix="autograder-bench-") as made:
            home = make_course(Path(made) / "course", options.assignment, [{}] * (options.submissions + 2))
            cpu = judged(Course.at(home), options.assignment, watch, meter)
    finally:
        meter.close()
    report(watch.all[2:], options.assignment, cpu)


def judged(course: Course, assignment: str, watch: Stopwatch, meter: CpuMeter) -> float | None:
    """CPU-seconds of all processes for each submission but the first two, which pay for what is paid once."""
    bundle = course.bundle(assignment)

    def one(student: str, checks: Checks, workers: ForkServer) -> None:
        raw = course.handed_in(student, bundle)
        started = time.perf_counter()
        graded = judging.judge(raw, bundle, student=student, seed=1, checks=checks, workers=workers)
        between = time.perf_counter()
        record(course, bundle, [(graded, Key.of(raw, "", 1))])
        watch.now["record it"] = time.perf_counter() - between
        watch.now["all of it"] = time.perf_counter() - started
        watch.lap()

    def all_of_them(checks: Checks) -> float | None:
        students = course.students(assignment)
        with ForkServer(preload=bundle.preload) as workers:
            for student in students[:2]:
                one(student, checks, workers)
            before = meter.seconds()
            for student in students[2:]:
                one(student, checks, workers)
            after = meter.seconds()
        return None if before is None or after is None else (after - before) / len(students[2:])

    with bundle.checks_folder() as folder:
        return all_of_them(collect(folder))


def report(laps: list[dict[str, float]], assignment: str, cpu: float | None) -> None:
    told = f", {cpu:.3f} CPU-seconds each in all processes" if cpu is not None else ""
    table = Table(title=f"{assignment}, {len(laps)} solved submissions one at a time{told}")
    table.add_column("part")
    table.add_column("median milliseconds", justify="right")
    parts = {part: statistics.median(lap.get(part, 0.0) for lap in laps) for part in laps[0]}
    for part, seconds in sorted(parts.items(), key=lambda item: -item[1]):
        table.add_row(part, f"{1000 * seconds:.1f}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
