"""How long a student waits for `check(...)` in a notebook: the first one, and those after it.

A fresh Jupyter kernel a round runs the solution's cells, torch imported by them; then every task is
checked twice. Medians over the rounds, as the notebook's user waits for them.

    python benchmarks/latency.py [--assignments 03_lstm_cell …] [--rounds 3] [--demonstrations]

The first optimizer step in a process imports torch._dynamo, a second or more that is torch's own. In 06 and
07 a check takes it only where no demonstration has.
"""

from __future__ import annotations

import argparse
import statistics
import time

import nbformat
from _shared import ROOT
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel
from rich.console import Console
from rich.table import Table

from autograder.grading.assignment.cells import check_task, tags


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = sorted(path.name for path in (ROOT / "source").iterdir() if path.is_dir())
    parser.add_argument("--assignments", nargs="+", default=every)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--demonstrations", action="store_true", help="run the notebooks' own, too")
    options = parser.parse_args()
    table = Table(title=f"seconds that check(...) takes, medians of {options.rounds} fresh kernels")
    table.add_column("assignment")
    for column in ("first check", "slowest later check", "its task", "median later check"):
        table.add_column(column, justify="right")
    for assignment in options.assignments:
        rounds = [waits(assignment, options.demonstrations) for _ in range(options.rounds)]
        first = statistics.median(first for first, _ in rounds)
        later = {task: statistics.median(times[task] for _, times in rounds) for task in rounds[0][1]}
        slowest = max(later, key=lambda task: later[task])
        median = statistics.median(later.values())
        table.add_row(assignment, f"{first:.2f}", f"{later[slowest]:.2f}", slowest, f"{median:.2f}")
    Console(width=110).print(table)


def waits(assignment: str, demonstrations: bool) -> tuple[float, dict[str, float]]:
    """Seconds of the first check in a fresh kernel, and of each task's check after that."""
    (path,) = (ROOT / "release" / assignment).glob("*.ipynb")
    (source,) = (ROOT / "source" / assignment).glob("*.ipynb")
    cells = [cell for cell in nbformat.read(source, as_version=4).cells if cell.cell_type == "code"]
    tasks = [task for cell in cells if (task := check_task(cell))]
    manager, client = start_new_kernel(
        kernel_name="python3", cwd=str(path.parent), extra_arguments=["--log-level=ERROR"]
    )
    try:
        for cell in cells:
            if not check_task(cell) and (demonstrations or "demonstration" not in tags(cell)):
                _seconds(client, cell.source)
        first = _seconds(client, f'check("{tasks[0]}")')
        return first, {task: _seconds(client, f'check("{task}")') for task in tasks}
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _seconds(client: BlockingKernelClient, source: str) -> float:
    started = time.perf_counter()
    reply = client.execute_interactive(source, output_hook=lambda message: None, timeout=120)
    if reply["content"]["status"] != "ok":
        raise SystemExit(f"A cell failed:\n{source}\n{reply['content']}")
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
