"""Seconds and CPU-seconds a submission: `autograder grade` beside stock `nbgrader autograde` and `otter run`.

All grade copies of the same solved notebooks in the same run, taking turns. Ours leaves demonstrations out
and adds the hidden checks; stock nbgrader runs every cell in a kernel, `check(...)` with its visible checks
among them. "same cells" is stock on notebooks without the demonstrations, for a part of the class only, since
a submission takes it as long in any class. "As handed in" and otter, if it is installed, are on whole
notebooks, once and for a handful. What `build` leaves behind is there before: the known mistakes' answers,
which a copied course lacks. Medians over the rounds, start-up included; CPU-seconds count all processes,
through a cgroup where one can be made.

    python benchmarks/throughput.py [--assignments 03_lstm_cell 05_stacking] [--submissions 200] [--stock 20]
                                    [--rounds 3]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import otter_side
from _shared import AUTOGRADER, CpuMeter, Rounds, alternate, make_course, run
from rich.console import Console
from rich.table import Table

FEW = 5
"""Submissions for the ways that take ten seconds each."""
SAME_CELLS = "nbgrader autograde, same cells"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assignments", nargs="+", default=["03_lstm_cell", "05_stacking"])
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("--stock", type=int, default=20, help="how many of them stock nbgrader grades")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    meter = CpuMeter()
    meter.enter()
    try:
        for assignment in options.assignments:
            with tempfile.TemporaryDirectory(prefix="autograder-bench-") as made:
                found = measure(Path(made), assignment, options, meter)
            report(found, f"{assignment}, {options.submissions} solved submissions, {options.rounds} rounds")
    finally:
        meter.close()


def measure(home: Path, name: str, options: argparse.Namespace, meter: CpuMeter) -> dict[str, Rounds]:
    """(seconds, CPU-seconds) a submission, for each way of grading and round."""
    solved: list[dict[str, str]] = [{}] * options.submissions
    part, few = min(options.stock, len(solved)), min(FEW, len(solved))
    ours = make_course(home / "ours", name, solved)
    cells = make_course(home / "cells", name, solved[:part], stock=True, demonstrations=False)
    stock = make_course(home / "stock", name, solved[:few], stock=True)
    grade = [*AUTOGRADER, "grade", name, "--force", "--jobs"]
    autograde = [sys.executable, "-m", "nbgrader", "autograde", name, "--force"]
    first = sorted(path.name for path in (ours / "submitted").iterdir())[0]
    run([*grade, "1", "--student", first], ours)  # tries the known mistakes, which `build` does for a course
    found = alternate(
        {
            "autograder grade --jobs 1": lambda: run([*grade, "1"], ours),
            "autograder grade --jobs 2": lambda: run([*grade, "2"], ours),
            SAME_CELLS: lambda: run(autograde, cells),
        },
        options.rounds,
        meter,
    )
    whole: dict[str, Callable[[], None]] = {
        f"nbgrader autograde, as handed in ({few})": lambda: run(autograde, stock)
    }
    if shutil.which("otter"):
        tests = otter_side.autograder(home / "otter", name)
        notebooks = sorted(stock.glob("submitted/*/*/*.ipynb"))
        whole[f"otter run, as handed in ({few})"] = lambda: otter_side.grade(tests, notebooks)
    counts = {way: part if way == SAME_CELLS else len(solved) for way in found}
    each = {way: [_each(*times, counts[way]) for times in all_rounds] for way, all_rounds in found.items()}
    once = alternate(whole, 1, meter)
    return each | {way: [_each(*times, few) for times in all_rounds] for way, all_rounds in once.items()}


def _each(seconds: float, cpu: float | None, count: int) -> tuple[float, float | None]:
    return seconds / count, None if cpu is None else cpu / count


def report(found: dict[str, Rounds], title: str) -> None:
    table = Table(title=title)
    table.add_column("way of grading")
    for column in ("seconds each", "CPU-seconds each", "times as fast as stock, same cells"):
        table.add_column(column, justify="right")
    stock = statistics.median(seconds for seconds, _ in found[SAME_CELLS])
    for way, rounds in found.items():
        seconds = statistics.median(each for each, _ in rounds)
        cpus = [cpu for _, cpu in rounds if cpu is not None]
        table.add_row(
            way, f"{seconds:.3f}", f"{statistics.median(cpus):.3f}" if cpus else "–", f"{stock / seconds:.1f}"
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
