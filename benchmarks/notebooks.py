"""Run the solved notebooks in a kernel, and print the seconds of each and of its three slowest cells.

python benchmarks/notebooks.py [ASSIGNMENT ...]
"""

from __future__ import annotations

import sys
import tempfile
import time
from datetime import datetime

import nbformat
from _shared import ROOT
from nbclient import NotebookClient


def main() -> None:
    """Print a line for each notebook: cells, total, and the seconds of the three slowest cells."""
    named = set(sys.argv[1:])
    print(f"{'notebook':20} cells  seconds  the three slowest cells")
    for path in sorted((ROOT / "solutions").glob("[0-9]*/*.ipynb")):
        if named and path.parent.name not in named:
            continue
        notebook = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as folder:
            client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}})
            began = time.monotonic()
            client.execute()
            total = time.monotonic() - began
        slowest = sorted(map(seconds, notebook.cells), reverse=True)[:3]
        told = "  ".join(f"{each:5.1f}" for each in slowest)
        print(f"{path.parent.name:20} {len(notebook.cells):5}  {total:7.1f}  {told}", flush=True)


def seconds(cell: nbformat.NotebookNode) -> float:
    """Return how long a cell ran, 0 for one that did not."""
    times = cell.get("metadata", {}).get("execution", {})
    begin, end = times.get("iopub.execute_input"), times.get("shell.execute_reply")
    if not begin or not end:
        return 0.0
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()


if __name__ == "__main__":
    main()
