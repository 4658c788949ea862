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
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
STOCK_CONFIG = "c = get_config()\nc.CourseDirectory.course_id = 'stock'\n"


class CpuMeter:
    """CPU-seconds of all that runs, by a cgroup (v1 or v2); `None` where none can be made."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        for home, reads in (("/sys/fs/cgroup/cpuacct", "cpuacct.usage"), ("/sys/fs/cgroup", "cpu.stat")):
            folder = Path(home) / f"autograder-bench-{os.getpid()}"
            if (Path(home) / reads).exists():
                try:
                    folder.mkdir()
                except OSError:
                    continue
                self.folder, self.reads = folder, reads
                return

    def enter(self) -> None:
        if self.folder is not None:
            (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def seconds(self) -> float | None:
        if self.folder is None:
            return None
        text = (self.folder / self.reads).read_text()
        if self.reads == "cpuacct.usage":
            return int(text) / 1e9
        return int(text.split("usage_usec")[1].split()[0]) / 1e6

    def close(self) -> None:
        if self.folder is not None:
            (self.folder.parent / "cgroup.procs").write_text(str(os.getpid()))
            time.sleep(0.5)
            self.folder.rmdir()


def make_course(root: Path, assignment: str, count: int, *, stock: bool, demonstrations: bool) -> Path:
    """A course whose gradebook knows the assignment, with `count` solved submissions."""
    root.mkdir()
    for part in ("source", "release"):
        shutil.copytree(ROOT / part / assignment, root / part / assignment)
    if stock:
        (root / "nbgrader_config.py").write_text(STOCK_CONFIG)
    else:
        shutil.copyfile(ROOT / "nbgrader_config.py", root / "nbgrader_config.py")
    run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", "--force", "--assignment", assignment], root
    )
    (path,) = (ROOT / "source" / assignment).glob("*.ipynb")
    notebook = nbformat.read(path, as_version=4)
    if not demonstrations:
        notebook.cells = [
            cell for cell in notebook.cells if "demonstration" not in cell.metadata.get("tags", [])
        ]
    for number in range(count):
        folder = root / "submitted" / f"student{number:03}" / assignment
        folder.mkdir(parents=True)
        notebook.cells[-1].source += (
            f"\n<!-- {number} -->" if notebook.cells[-1].cell_type == "markdown" else f"\n# {number}"
        )
        nbformat.write(notebook, folder / path.name)
    return root


def run(command: list[str], cwd: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    told = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    if told.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{told.stderr[-2000:]}")


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
    ours = make_course(home / "ours", name, count, stock=False, demonstrations=True)
    stock = make_course(home / "stock", name, count, stock=True, demonstrations=True)
    cells = make_course(home / "cells", name, count, stock=True, demonstrations=False)
    grade = [sys.executable, "-m", "autograder", "grade", name, "--force", "--jobs"]
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
