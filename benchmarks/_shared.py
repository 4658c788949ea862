"""Helpers that the benchmarks share: courses with submissions, commands, a meter for CPU-seconds, rounds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
STOCK_CONFIG = "c = get_config()\nc.CourseDirectory.course_id = 'stock'\n"
AUTOGRADER = [sys.executable, "-m", "autograder"]

Rounds = list[tuple[float, float | None]]
"""Seconds and CPU-seconds (`None` where nothing counts them) of the same thing done several times."""


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


def alternate(ways: Mapping[str, Callable[[], None]], rounds: int, meter: CpuMeter) -> dict[str, Rounds]:
    """Do the same in several ways, one after the other in each round, so that all meet the same weather."""
    found: dict[str, Rounds] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, go in ways.items():
            before, started = meter.seconds(), time.perf_counter()
            go()
            seconds, after = time.perf_counter() - started, meter.seconds()
            found[way].append((seconds, None if before is None or after is None else after - before))
    return found


def make_course(
    root: Path,
    assignment: str,
    submissions: Sequence[Mapping[str, str]],
    *,
    stock: bool = False,
    demonstrations: bool = True,
    mistakes: bool = True,
    config: str = "",
) -> Path:
    """A course whose gradebook knows the assignment, with solved submissions; `config` adds to its settings.

    Each of `submissions` names the cells that are not as in the solution, with their sources.
    """
    root.mkdir()
    for part in ("source", "release"):
        shutil.copytree(ROOT / part / assignment, root / part / assignment)
    if stock:
        (root / "nbgrader_config.py").write_text(STOCK_CONFIG)
    else:
        settings = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
        (root / "nbgrader_config.py").write_text(f"{settings}\n{config}", encoding="utf-8")
        if mistakes:
            shutil.copytree(ROOT / "solutions" / "mistakes", root / "solutions" / "mistakes")
    run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", "--force", "--assignment", assignment], root
    )
    (path,) = (ROOT / "source" / assignment).glob("*.ipynb")
    for number, answers in enumerate(submissions):
        notebook = nbformat.read(path, as_version=4)
        if not demonstrations:
            notebook.cells = [
                cell for cell in notebook.cells if "demonstration" not in cell.metadata.get("tags", [])
            ]
        for cell in notebook.cells:
            cell.source = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
        notebook.cells[-1].source += (
            f"\n<!-- {number} -->" if notebook.cells[-1].cell_type == "markdown" else f"\n# {number}"
        )
        folder = root / "submitted" / f"student{number:04}" / assignment
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / path.name)
    return root


def run(command: list[str], cwd: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    told = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    if told.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{told.stderr[-2000:]}")
