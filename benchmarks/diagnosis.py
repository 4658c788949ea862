"""What naming the mistake costs: a class in which a third is wrong, graded with and without the catalogue.

The same submissions are graded in the same run, alternating; medians over the rounds. A third of them hold
one of the catalogue's own mistakes each. What the mistakes answer is tried once for a course (`autograder
build` does it) and is a line of its own.

    python benchmarks/diagnosis.py [--assignment 03_lstm_cell] [--submissions 60] [--rounds 3]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path

from _shared import AUTOGRADER, ROOT, CpuMeter, Rounds, alternate, make_course, run
from rich.console import Console
from rich.table import Table

from autograder.grading.course.course import Course


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assignment", default="03_lstm_cell")
    parser.add_argument("--submissions", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    meter = CpuMeter()
    meter.enter()
    try:
        with tempfile.TemporaryDirectory(prefix="autograder-bench-") as made:
            report(measure(Path(made), options, meter), options)
    finally:
        meter.close()


def a_third_wrong(assignment: str, count: int) -> list[dict[str, str]]:
    """The cells of a class's submissions that are not as in the solution."""
    bundle = Course.at(ROOT).bundle(assignment)
    every = list(bundle.mistakes)
    spread = [every[number * len(every) // max(1, count // 3) % len(every)] for number in range(count // 3)]
    wrong = [{mistake.task: mistake.answer(bundle.solution)} for mistake in spread]
    return [
        wrong[number // 3] if number % 3 == 0 and number // 3 < len(wrong) else {} for number in range(count)
    ]


def measure(home: Path, options: argparse.Namespace, meter: CpuMeter) -> dict[str, Rounds]:
    """Seconds and CPU-seconds of whole batches, for each way and round."""
    name, submissions = options.assignment, a_third_wrong(options.assignment, options.submissions)
    known = make_course(home / "with", name, submissions)
    plain = make_course(home / "without", name, submissions, mistakes=False)
    grade = [*AUTOGRADER, "grade", name, "--force", "--jobs", "2"]

    def first() -> None:
        shutil.rmtree(known / ".autograder" / "known", ignore_errors=True)
        run(grade, known)

    ways = {
        "without the catalogue": lambda: run(grade, plain),
        "with it, the mistakes yet to be tried": first,
        "with it": lambda: run(grade, known),
    }
    return alternate(ways, options.rounds, meter)


def report(found: dict[str, Rounds], options: argparse.Namespace) -> None:
    table = Table(
        title=f"{options.assignment}, {options.submissions} submissions, a third of them wrong, "
        f"medians of {options.rounds} rounds"
    )
    for column in ("batch", "seconds", "CPU-seconds", "more CPU than without"):
        table.add_column(column, justify="left" if column == "batch" else "right")
    cpu = {
        way: statistics.median([each for _, each in rounds if each is not None] or [float("nan")])
        for way, rounds in found.items()
    }
    base = cpu["without the catalogue"]
    for way, rounds in found.items():
        seconds = statistics.median(each for each, _ in rounds)
        table.add_row(way, f"{seconds:.1f}", f"{cpu[way]:.1f}", f"{100 * (cpu[way] / base - 1):+.1f} %")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
