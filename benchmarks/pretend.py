"""The cost of one module on the simulated GPU: milliseconds a module, warm, over the tests' corpus.

Each module of `tests/devices` is made, moved, called and taken backward there; beside it stand the same call
on the CPU, and the two whole checks of a task, `expect_device_neutral` and `expect_dtypes`.

    python benchmarks/pretend.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

from _shared import ROOT
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(ROOT))

import torch

from autograder.checking import Submission
from autograder.worker.session.executor import Executor
from tests.devices import Case, failures, inputs_of, namespace_of
from tests.devices.everything import RIGHT, WRONG


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)  # as in a worker
    cases = {**RIGHT, **WRONG}
    ways: dict[str, Callable[[Case, Submission], object]] = {
        "one call on the CPU": lambda case, handle: probed(case, handle, "cpu"),
        "one call on the simulated GPU": lambda case, handle: probed(case, handle, "pretend"),
        "both checks of a task": failures,
    }
    table = Table(title=f"{len(cases)} modules, medians of {rounds} warm rounds, ms a module")
    for column in ("", "median", "nine in ten", "slowest", "which"):
        table.add_column(column, justify="left" if column in ("", "which") else "right")
    for way, work in ways.items():
        taken = {name: milliseconds(case, work, rounds) for name, case in cases.items()}
        ordered = sorted(taken.values())
        slowest = max(taken, key=lambda name: taken[name])
        numbers = (statistics.median(ordered), ordered[len(ordered) * 9 // 10], ordered[-1])
        table.add_row(way, *(f"{number:.1f}" for number in numbers), slowest)
    Console(width=110).print(table)


def probed(case: Case, handle: Submission, device: str) -> object:
    target = getattr(handle, case.name)
    return target.probed(inputs_of(case.inputs), device=device, made_with=case.made_with, gradients=True)


def milliseconds(case: Case, work: Callable[[Case, Submission], object], rounds: int) -> float:
    """The median over the rounds, after one that is not counted."""
    handle = Submission(Executor(namespace_of(case)).perform)
    seconds = []
    for _ in range(rounds + 1):
        started = time.perf_counter()
        work(case, handle)
        seconds.append(time.perf_counter() - started)
    return 1000 * statistics.median(seconds[1:])


if __name__ == "__main__":
    main()
