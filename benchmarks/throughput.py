"""Seconds and CPU-seconds a submission: `autograder grade` beside stock `nbgrader autograde`.

Both grade copies of the same solved notebooks in the same run, alternating. Stock nbgrader runs every
cell in a kernel, the demonstrations and `check(...)` with its visible checks among them; ours leaves
demonstrations out and adds the hidden checks. "cells alone" is stock on notebooks without the
demonstrations, so that the same cells run on both sides. Medians over the rounds; CPU-seconds count
all processes, through a cgroup of their own where one can be made, and are left out elsewhere.

    python benchmarks/throughput.py [--assignment 03_lstm_cell] [--submissions 8] [--rounds 3]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from _shared import AUTOGRADER, CpuMeter, make_course, run
from rich.console import Console
from rich.table import Table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assignment", default="03_lstm_cell")
    parser.add_argument("--submissions", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    meter = CpuMeter()
    meter.enter()
    try:
        with tempfile.TemporaryDirectory(prefix="autograder-bench-") as made:
            report(measure(Path(made), options, meter), options)
    finally:
        meter.close()


def measure(
    home: Path, options: argparse.Namespace, meter: CpuMeter
) -> dict[str, list[tuple[float, float | None]]]:
    """(seconds, CPU-seconds) a submission, for each way of grading and round."""
    name, count = options.assignment, options.submissions
    solved: list[dict[str, str]] = [{}] * count
    ours = make_course(home / "ours", name, solved)
    stock = make_course(home / "stock", name, solved, stock=True)
    cells = make_course(home / "cells", name, solved, stock=True, demonstrations=False)
    grade = [*AUTOGRADER, "grade", name, "--force", "--jobs"]
    autograde = [sys.executable, "-m", "nbgrader", "autograde", name, "--force"]
    ways: dict[str, Callable[[], None]] = {
        "autograder grade --jobs 1": lambda: run([*grade, "1"], ours),
        "autograder grade --jobs 2": lambda: run([*grade, "2"], ours),
        "nbgrader autograde, cells alone": lambda: run(autograde, cells),
        "nbgrader autograde, as handed in": lambda: run(autograde, stock),
    }
    found: dict[str, list[tuple[float, float | None]]] = {way: [] for way in ways}
    for _ in range(options.rounds):
        for way, go in ways.items():
            before, started = meter.seconds(), time.perf_counter()
            go()
            after = meter.seconds()
            cpu = None if before is None or after is None else (after - before) / count
            found[way].append(((time.perf_counter() - started) / count, cpu))
    return found


def report(found: dict[str, list[tuple[float, float | None]]], options: argparse.Namespace) -> None:
    title = (
        f"{options.assignment}, {options.submissions} solved submissions, medians of {options.rounds} rounds"
    )
    table = Table(title=title)
    for column in (
        "way of grading",
        "seconds each",
        "CPU-seconds each",
        "times as fast as stock, cells alone",
    ):
        table.add_column(column, justify="left" if column.startswith("way") else "right")
    stock = statistics.median(seconds for seconds, _ in found["nbgrader autograde, cells alone"])
    for way, rounds in found.items():
        seconds = statistics.median(each for each, _ in rounds)
        cpus = [cpu for _, cpu in rounds if cpu is not None]
        table.add_row(
            way, f"{seconds:.2f}", f"{statistics.median(cpus):.2f}" if cpus else "–", f"{stock / seconds:.1f}"
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
