"""Grades one class on this machine and on a Dask cluster of it, in turns; kills parts of the cluster.

`throughput`: `autograder grade --jobs 1` and `2` beside `--scheduler` with one and two workers of one thread
each, and one of two threads, taking turns. The workers are there before; in the first round their hosts are
not. With more than one round the medians are those of workers that have judged before.

`kills`: workers and schedulers are killed with SIGKILL at random moments while a class is graded; where the
scheduler was killed, another is started and the same command is given again. Counted is what `resume.py`
counts: submissions that are lost, doubled, or unlike those of an undisturbed run with `--jobs 2`.

    python benchmarks/cluster.py throughput [--submissions 60] [--rounds 3] [--assignment 03_lstm_cell]
    python benchmarks/cluster.py kills [--workers 20] [--schedulers 5] [--copies 10] [--seed 1]
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from _shared import AUTOGRADER, CpuMeter, alternate, make_course, run
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from resume import grade, parts

from autograder.grading.course.course import Course
from tests.support.environments.clusters import QUICK_TO_GIVE_UP, Cluster, cluster, wait_for
from tests.support.helpers import ASSIGNMENT
from tests.support.resuming import copy, finished, leftovers, make_class, start_grading, state

SECONDS = 1800
KINDS = {(1,): "one worker", (1, 1): "two workers", (2,): "one worker of two threads"}
"""Clusters by the threads of their workers."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = parser.add_subparsers(required=True)
    fast = kinds.add_parser("throughput")
    fast.add_argument("--submissions", type=int, default=60)
    fast.add_argument("--rounds", type=int, default=3)
    fast.add_argument("--assignment", default=ASSIGNMENT)
    fast.set_defaults(go=throughput)
    killed = kinds.add_parser("kills")
    killed.add_argument("--workers", type=int, default=20)
    killed.add_argument("--schedulers", type=int, default=5)
    killed.add_argument("--copies", type=int, default=10, help="of six submissions")
    killed.add_argument("--seed", type=int, default=1)
    killed.set_defaults(go=kills)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="autograder-bench-") as made:
        options.go(Path(made), options)


def throughput(home: Path, options: argparse.Namespace) -> None:
    name = options.assignment
    course = make_course(home / "course", name, [{}] * options.submissions)
    command = [*AUTOGRADER, "grade", name, "--force"]
    student = min(path.name for path in (course / "submitted").iterdir())
    run([*command, "--student", student], course)  # tries the known mistakes, which `build` does for a course
    meter = CpuMeter()
    meter.enter()
    try:
        with ExitStack() as stack:
            ways = {}
            for threads, words in KINDS.items():
                made = stack.enter_context(cluster(home / words.replace(" ", "-"), threads))
                count = str(sum(threads))
                ways[f"--jobs {count}"] = lambda count=count: run([*command, "--jobs", count], course)
                ways[f"--scheduler, {words}"] = lambda made=made: run(
                    [*command, "--scheduler", made.address], course
                )
            found = alternate(ways, options.rounds, meter)
    finally:
        meter.close()
    table = Table(title=f"{name}, {options.submissions} solved submissions, {options.rounds} rounds, medians")
    for title in ("way of grading", "submissions a second", "in the first round", "CPU-seconds each"):
        table.add_column(title)
    for way, rounds in found.items():
        seconds = statistics.median(seconds for seconds, _ in rounds)
        first = rounds[0][0]
        cpus = [cpu for _, cpu in rounds if cpu is not None]
        cpu = f"{statistics.median(cpus) / options.submissions:.3f}" if cpus else "–"
        table.add_row(way, f"{options.submissions / seconds:.2f}", f"{options.submissions / first:.2f}", cpu)
    Console(width=110).print(table)


def kills(home: Path, options: argparse.Namespace) -> None:
    draw = random.Random(options.seed)
    ungraded = make_class(home / "ungraded", options.copies)
    undisturbed = copy(ungraded, home / "undisturbed")
    grade(undisturbed, 2)
    workers = schedulers = batches = 0
    sums = dict.fromkeys(("lost", "doubled", "differing", "left"), 0)
    while workers < options.workers or schedulers < options.schedulers:
        course = copy(ungraded, home / f"course{batches}")
        with cluster(home / f"cluster{batches}", (1, 1), **QUICK_TO_GIVE_UP) as made:
            if workers < options.workers:
                workers += kill_workers(course, made, draw, options.workers - workers)
            else:
                kill_scheduler(course, made, draw)
                schedulers += 1
        count_faults(course, undisturbed, sums)
        batches += 1
        print(
            f"{workers} workers and {schedulers} schedulers killed in {batches} batches: {sums}", flush=True
        )
    if any(sums.values()):
        raise SystemExit(1)


def kill_workers(course: Course, made: Cluster, draw: random.Random, most: int) -> int:
    """Grade a class and kill workers meanwhile; return how many were killed."""
    batch = start_grading(course, "--scheduler", made.address)
    killed = 0
    while batch.poll() is None and killed < most:
        wait_for(lambda: made.hosts() or batch.poll() is not None, SECONDS)
        time.sleep(draw.uniform(0, 10))
        if batch.poll() is None:
            made.kill_worker(draw.randrange(2))
            killed += 1
    told = batch.communicate(timeout=SECONDS)[0].decode()
    if batch.returncode:
        raise SystemExit(f"autograder grade failed:\n{told[-2000:]}\n{made.log()[-5000:]}")
    return killed


def kill_scheduler(course: Course, made: Cluster, draw: random.Random) -> None:
    """Grade a class, kill the scheduler meanwhile, start another, and give the same command again."""
    batch = start_grading(course, "--scheduler", made.address)
    verdicts = draw.randrange(1, 12)
    wait_for(lambda: len(finished(course)) >= verdicts or batch.poll() is not None, SECONDS)
    assert made.scheduler is not None
    made.scheduler.kill()
    made.scheduler.wait()
    time.sleep(draw.uniform(0, 10))
    made.start_scheduler()  # sometimes soon enough for the batch, sometimes not
    for _ in range(2):
        made.start_worker()
    batch.communicate(timeout=SECONDS)
    before = finished(course)
    again = start_grading(course, "--scheduler", made.address)
    told = again.communicate(timeout=SECONDS)[0].decode()
    if again.returncode:
        raise SystemExit(f"autograder grade failed:\n{told[-2000:]}\n{made.log()[-5000:]}")
    if {student: finished(course)[student] for student in before} != before:
        raise SystemExit("what was on record was judged again")


def count_faults(course: Course, undisturbed: Course, sums: dict[str, int]) -> None:
    """Add what is not as in the undisturbed run."""
    expected, got = state(undisturbed), state(course)
    students, after = finished(undisturbed), finished(course)
    tables = [name for name in expected["gradebook"] if " " not in name]
    sums["lost"] += sum(
        student not in after or f"{student} {ASSIGNMENT}" not in got["gradebook"] for student in students
    )
    sums["doubled"] += sum(max(0, got["gradebook"][name] - expected["gradebook"][name]) for name in tables)
    sums["differing"] += sum(parts(got, student) != parts(expected, student) for student in students)
    sums["left"] += len(leftovers(course))


if __name__ == "__main__":
    main()
