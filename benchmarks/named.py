"""Wrong answers that get the name of a known mistake: of a folder of single cells, by assignment.

FOLDER has a folder for each assignment, and in it files `TASK__WHAT.py`, one solution cell each. Each is
judged in the otherwise solved notebook, with the catalogue as it is.

    python benchmarks/named.py FOLDER [ASSIGNMENT…] [--unnamed]
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported, as `autograder` does

from _shared import ROOT
from rich.console import Console
from rich.table import Table

from autograder.checking.runner.checks import Checks
from autograder.grading.assignment.bundle import OPTIMIZERS
from autograder.grading.course.course import Course
from autograder.grading.judging.judge import judge_answers
from autograder.grading.judging.judge_pool import Failure, LocalJudges, Setting, cores, work_off
from autograder.grading.records.known import try_mistakes
from autograder.grading.workers.forkserver import ForkServer
from autograder.verdict import TaskVerdict

SEED = 20_261_123
TOGETHER = 10
"""Answers that share a worker."""


@dataclass(frozen=True)
class Answers:
    """Several answers to one task."""

    task: str
    sources: Mapping[str, str]

    def run(self, setting: Setting, checks: Checks) -> dict[str, TaskVerdict]:
        told = judge_answers(
            setting.bundle, self.task, self.sources, seed=setting.seed, checks=checks, workers=setting.workers
        )
        return {name: task.diagnosed(setting.known.get(self.task, ())) for name, task in told.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("assignments", nargs="*")
    parser.add_argument(
        "--unnamed", action="store_true", help="print the first message of those without a name"
    )
    options = parser.parse_args()
    found = {}
    with ForkServer(preload=OPTIMIZERS) as workers:
        for name in options.assignments or sorted(each.name for each in options.folder.glob("*/")):
            found[name] = judged(name, options.folder / name, workers)
    report(found)
    for name, verdicts in found.items() if options.unnamed else ():
        for who, verdict in verdicts.items():
            if not named(verdict) and (first := verdict.first_to_read) is not None:
                print(f"{name}/{who}: {first.message}")


def judged(name: str, folder: Path, workers: ForkServer) -> dict[str, TaskVerdict]:
    bundle = Course.at(ROOT).bundle(name)
    setting = Setting(bundle, SEED, workers, try_mistakes(bundle, SEED, LocalJudges(workers, cores())).known)
    by_task: dict[str, list[Path]] = defaultdict(list)
    for file in sorted(folder.glob("*__*.py")):
        by_task[file.name.partition("__")[0]].append(file)
    jobs = [
        Answers(task, {file.stem: file.read_text(encoding="utf-8") for file in files[at : at + TOGETHER]})
        for task, files in by_task.items()
        for at in range(0, len(files), TOGETHER)
    ]
    verdicts: dict[str, TaskVerdict] = {}
    for _, told in work_off(jobs, cores(), setting):
        if isinstance(told, Failure):
            raise SystemExit(f"{name}: {told.reason}")
        verdicts |= told
    return verdicts


def fails(verdict: TaskVerdict) -> bool:
    return verdict.first_to_read is not None


def named(verdict: TaskVerdict) -> bool:
    return any(check.diagnosis for check in verdict.checks)


def report(found: Mapping[str, Mapping[str, TaskVerdict]]) -> None:
    table = Table(title="Wrong answers that get the name of a known mistake")
    for column in ("assignment", "fail", "named", "share"):
        table.add_column(column, justify="left" if column == "assignment" else "right")

    def row(name: str, verdicts: Sequence[TaskVerdict]) -> None:
        wrong = [verdict for verdict in verdicts if fails(verdict)]
        share = 100 * sum(map(named, wrong)) / max(1, len(wrong))
        table.add_row(name, str(len(wrong)), str(sum(map(named, wrong))), f"{share:.0f} %")

    for name, verdicts in found.items():
        row(name, list(verdicts.values()))
    row("all", [verdict for verdicts in found.values() for verdict in verdicts.values()])
    Console().print(table)


if __name__ == "__main__":
    main()
