"""A program that tells how a notebook's checks judge some answers, run with each of two packages.

It reads a JSON object from standard input: the notebook, the file of hints and, for each task, its answers by
name, each a list of cell sources. It writes what the checks found, which must be the same with both packages.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

import autograder.exercises
from autograder.checking.diagnosis.sealed_hints import opened
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.check import PUBLIC_SEED
from autograder.checking.runner.checks import Checks
from autograder.checking.runner.collection import collect
from autograder.worker.session.executor import Executor


def observe(checks: Checks, task: str, answers: dict[str, list[str]], hints) -> dict[str, list[object]]:
    found = {}
    for name, cells in answers.items():
        namespace: dict[str, object] = {"__name__": "__main__"}
        for number, cell in enumerate(cells):
            torch.manual_seed(0)
            try:
                exec(compile(cell, f"<cell {number}>", "exec"), namespace)
            except Exception as error:
                print(f"{task} {name}: {type(error).__name__}: {error}", file=sys.stderr)
        without = checks.without(task)
        perform = Executor(namespace, without=without).perform
        submission = Submission(perform, {task: cells[-1]}, without=without)
        results = checks.run(task, submission, seed=PUBLIC_SEED, include_hidden=False)
        told = {each.check.name: each.answers for each in results if each.answers is not None}
        found[name] = [
            [[each.check.name, each.outcome, each.points, each.message, each.answers] for each in results],
            sorted(known.mistake for known in opened(hints, task, told)),
        ]
    return found


def main() -> None:
    asked = json.load(sys.stdin)
    folder = autograder.exercises.HOME / asked["notebook"]
    hints = Path(asked["hints"])

    def body(checks: Checks) -> dict[str, object]:
        told = {task: observe(checks, task, answers, hints) for task, answers in asked["answers"].items()}
        kept = {
            task: sum(c.points for c in checks.of(task) if c.instead is not None) for task in asked["answers"]
        }
        return {"home": str(autograder.exercises.HOME), "answers": told, "kept_back": kept}

    print(json.dumps(body(collect(folder))))


if __name__ == "__main__":
    main()
