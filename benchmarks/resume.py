"""Kills `autograder grade` with SIGKILL at random moments, goes on, and compares with an undisturbed run.

Each time, a fresh copy of one class is graded, its whole process group is killed at a random moment, and the
same command is given again. A moment is a random time after a random number of verdicts, so that most fall
between the first and the last one on any machine. Counted are submissions that
have no verdict or no score afterwards (lost), that were judged a second time although they were on
record, or have more rows in the gradebook than they should (doubled), and those whose scores, verdict
or graded notebook differ from the undisturbed run's.

    python benchmarks/resume.py [--moments 20] [--copies 2] [--jobs 2] [--seed 1]
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from autograder.grading.course.course import Course
from tests.support.helpers import ASSIGNMENT, NOTEBOOK
from tests.support.resuming import (
    copy,
    finished,
    leftovers,
    make_class,
    start_grading,
    state,
    wait_for_verdicts,
)


@dataclass(frozen=True)
class Killed:
    """One batch that was killed: when, what was on record then, and what came of it."""

    seconds: float
    on_record: int
    lost: int
    doubled: int
    differing: int
    left: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--copies", type=int, default=2, help="of six submissions")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="autograder-bench-") as made:
        home = Path(made)
        ungraded = make_class(home / "ungraded", options.copies)
        undisturbed = copy(ungraded, home / "undisturbed")
        started = time.monotonic()
        grade(undisturbed, options.jobs)
        takes = time.monotonic() - started
        found, count = [], 6 * options.copies
        recorded = [nanoseconds for _, nanoseconds in finished(undisturbed).values()]
        between = (max(recorded) - min(recorded)) / 1e9 / count
        for number in range(options.moments):
            course = copy(ungraded, home / f"killed{number}")
            verdicts = draw.randrange(count)
            seconds = draw.uniform(0, 2 * between if verdicts else takes / 2)
            found.append(kill_and_go_on(course, undisturbed, verdicts, seconds, options.jobs))
            shutil.rmtree(course.root)
        report(found, takes, options)


def grade(course: Course, jobs: int) -> None:
    batch = start_grading(course, "--jobs", jobs)
    told = batch.communicate()[0].decode()
    if batch.returncode:
        raise SystemExit(f"autograder grade failed:\n{told[-2000:]}")


def kill_and_go_on(course: Course, undisturbed: Course, verdicts: int, seconds: float, jobs: int) -> Killed:
    """Kill a batch so many seconds after so many verdicts, go on, and count what is not as it should be."""
    started = time.monotonic()
    batch = start_grading(course, "--jobs", jobs)
    wait_for_verdicts(course, verdicts, batch, 600)
    time.sleep(seconds)
    if batch.poll() is None:
        os.killpg(batch.pid, signal.SIGKILL)
    killed = time.monotonic()
    batch.communicate()
    before = finished(course)
    grade(course, jobs)
    after, expected, got = finished(course), state(undisturbed), state(course)
    scores = got["gradebook"]
    students = finished(undisturbed)
    lost = [s for s in students if s not in after or f"{s} {ASSIGNMENT}" not in scores]
    again = [s for s in before if after.get(s) != before[s]]
    tables = [name for name in expected["gradebook"] if " " not in name]
    more = sum(max(0, scores[name] - expected["gradebook"][name]) for name in tables)
    return Killed(
        seconds=killed - started,
        on_record=len(before),
        lost=len(lost),
        doubled=len(again) + more,
        differing=sum(parts(got, s) != parts(expected, s) for s in students),
        left=len(leftovers(course)),
    )


def parts(found: dict, student: str) -> tuple:
    """All that is on record of a student."""
    return (
        found["gradebook"].get(f"{student} {ASSIGNMENT}"),
        found.get(f"verdicts/{ASSIGNMENT}/{student}.json"),
        found.get(f"autograded/{student}/{ASSIGNMENT}/{NOTEBOOK}.ipynb"),
        found.get(f"autograded/{student}/{ASSIGNMENT}/timestamp.txt"),
    )


def report(found: list[Killed], takes: float, options: argparse.Namespace) -> None:
    count = 6 * options.copies
    title = f"{ASSIGNMENT}, {count} submissions, --jobs {options.jobs}, seed {options.seed}"
    table = Table(title=f"{title}: killed {len(found)} times; an undisturbed run takes {takes:.1f} s")
    for column in (
        "killed after",
        f"on record of {count}",
        "lost",
        "doubled",
        "differing",
        "files left over",
    ):
        table.add_column(column, justify="right")
    for each in found:
        numbers = (each.on_record, each.lost, each.doubled, each.differing, each.left)
        table.add_row(f"{each.seconds:.2f} s", *map(str, numbers))
    table.add_section()
    median = statistics.median(each.on_record for each in found)
    sums = [sum(getattr(each, name) for each in found) for name in ("lost", "doubled", "differing", "left")]
    table.add_row("together", f"median {median:g}", *map(str, sums), style="bold")
    Console(width=110).print(table)
    if any(sums):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
