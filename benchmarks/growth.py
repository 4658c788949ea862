"""How time and memory of `autograder grade` grow with the class.

One class of each size is graded from nothing with `--jobs` judges; the memory of the process that
hands out submissions and keeps the gradebook is read from /proc while it works, after `--from`
submissions and at the end.

    python benchmarks/growth.py [--assignment 03_lstm_cell] [--sizes 100 1000] [--from 50] [--jobs 2]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from _shared import AUTOGRADER, make_course
from rich.console import Console
from rich.table import Table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assignment", default="03_lstm_cell")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--from", type=int, default=50, dest="early")
    parser.add_argument("--jobs", default="2")
    options = parser.parse_args()
    table = Table(title=f"{options.assignment}, solved submissions, --jobs {options.jobs}")
    for column in ("submissions", "seconds", "times the first", f"MB after {options.early}", "MB at the end"):
        table.add_column(column, justify="right")
    first = None
    for size in options.sizes:
        with tempfile.TemporaryDirectory(prefix="autograder-bench-") as made:
            course = make_course(Path(made) / "course", options.assignment, [{}] * size)
            seconds, early, late = graded(course, options.assignment, options.jobs, options.early)
        first = first or seconds
        table.add_row(str(size), f"{seconds:.1f}", f"{seconds / first:.2f}", f"{early:.1f}", f"{late:.1f}")
    Console(width=110).print(table)


def graded(course: Path, assignment: str, jobs: str, early: int) -> tuple[float, float, float]:
    """Seconds, and the trusted process's own megabytes after `early` submissions and at the end."""
    started = time.perf_counter()
    command = [*AUTOGRADER, "grade", assignment, "--jobs", jobs]
    with subprocess.Popen(command, cwd=course, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        sizes = dict(_sizes(process, course / "verdicts" / assignment))
        told = process.stderr.read().decode() if process.stderr else ""
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{told[-2000:]}")
    seconds = time.perf_counter() - started
    return seconds, next(size for done, size in sizes.items() if done >= early), list(sizes.values())[-1]


def _sizes(process: subprocess.Popen[bytes], verdicts: Path) -> Iterator[tuple[int, float]]:
    """Submissions on record, and the megabytes that the process has to itself (RssAnon), while it runs."""
    while process.poll() is None:
        done = len(os.listdir(verdicts)) if verdicts.is_dir() else 0
        status = Path(f"/proc/{process.pid}/status").read_text()
        if "RssAnon" in status:
            yield done, int(status.split("RssAnon:")[1].split()[0]) / 1024
        time.sleep(0.1)


if __name__ == "__main__":
    main()
