"""One submission while it is judged: its worker, its outputs, what was found on the way."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import nbformat
import torch
from nbformat import NotebookNode

from autograder.cards.card import task_outputs
from autograder.checking.remote.errors import StudentError, WorkerLost
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.check import CheckResult
from autograder.checking.runner.checks import Checks
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.rebuild import Rebuilt, Step
from autograder.grading.judging.carried_errors import merged
from autograder.grading.judging.outputs import MAX_OUTPUT, clean_outputs, length
from autograder.grading.judging.own_tests import own_test
from autograder.grading.workers.client import Worker, plain_text
from autograder.grading.workers.forkserver import ForkServer
from autograder.protocol.without import Without
from autograder.verdict import CheckVerdict, Finding, TaskVerdict, Verdict

MAX_LOST_IN_CELLS = 4
"""How many cells may take the worker with them before the student's own additions are not run any more."""
MAX_MESSAGE = 2000
"""Characters of a check's message, which may quote names that the student made up."""


Surroundings = Mapping[str, Without | None]
"""For each task, what does not work where it is judged; `None` where everything does."""


def surroundings(tasks: Iterable[str], checks: Checks) -> Surroundings:
    """Return what each task is judged without, in the order in which tasks are best judged.

    First those that need all to work: that worker's outputs are shown. Last those that are judged anywhere.
    """
    lacking = {task: checks.without(task) for task in tasks}
    return dict(sorted(lacking.items(), key=lambda each: (checks.anywhere(each[0]), each[1] is not None)))


class Run:
    """A rebuilt notebook in a worker. Use as a context manager."""

    def __init__(
        self, rebuilt: Rebuilt, workers: ForkServer, files: Mapping[str, bytes] | None = None
    ) -> None:
        """`files` are those beside the notebook, by path."""
        self.files = files or {}
        self.rebuilt, self.workers, self.limits = rebuilt, workers, workers.limits
        self.numbers = _numbers(rebuilt)
        self.deadline = time.monotonic() + self.limits.total_seconds
        self.status = "graded"
        self.findings: list[Finding] = []
        self.outputs: dict[int, list[dict[str, Any]]] = {}
        self.errors: dict[str, StudentError] = {}
        self.given_up: set[int] = set()
        self.worker: Worker | None = None
        self.without: Without | None = None
        """What the worker lacks."""
        self._missed = False
        """True if a cell has called something that its worker lacked."""
        self.output_left = MAX_OUTPUT

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()

    def begin(self, without: Without | None) -> None:
        """Run the notebook for the tasks that are judged without this.

        Where its cells call what is lacking, as to compare an answer with torch's, their outputs are those of
        a worker that lacks nothing, which is then the one that is there.
        """
        self.enter(without)
        if self._missed:
            for step in self.rebuilt.steps:
                if step.index not in self.given_up:
                    self.outputs.pop(step.index, None)
                    self.errors.pop(step.name, None)
            self.output_left = MAX_OUTPUT
            self.enter(None)

    def enter(self, without: Without | None) -> None:
        """Have a worker that lacks just this, the notebook run in it: the one there is, or a fresh one."""
        if self.worker is not None and without == self.without:
            return
        self._leave()
        self.without = without
        self.cells()

    def _leave(self) -> None:
        if self.worker is not None:
            self.workers.leave(self.worker)
            self.worker = None

    def cells(self) -> None:
        """Run the notebook in a fresh worker, without the cells that took an earlier worker with them."""
        while True:
            if self.worker is not None:
                self.worker.end()
            self.worker = self._spawn()
            lost = next((step for step in self.rebuilt.steps if not self._run_cell(step)), None)
            if lost is None:
                return
            if self._left() <= 0:
                self.given_up = {step.index for step in self.rebuilt.steps}
                self._note(
                    "not_run", "The time for this submission was used up before all of its cells had run."
                )
            elif len(self.given_up) >= MAX_LOST_IN_CELLS:
                # Not the released cells and the answers: those are few, and points depend on them.
                self.given_up |= {step.index for step in self.rebuilt.steps if step.role == "added"}
                self._note(
                    "not_run", "So many cells ended badly that the cells the student added were left out."
                )

    def submission(self) -> Submission:
        """The student's objects, as checks reach them."""
        return self._submission(self.rebuilt.sources, self.errors)

    def _submission(
        self, sources: Mapping[str, str], errors: Mapping[str, StudentError] | None = None
    ) -> Submission:
        on_gpu = self.limits.gpu_bytes > 0
        return Submission(self._ask, sources, errors, on_gpu=on_gpu, without=self.without)

    def judge_tasks(self, points: Mapping[str, float], checks: Checks, seed: int) -> tuple[TaskVerdict, ...]:
        """Judge tasks, those together that lack the same; the results are in the order of `points`.

        The worker that is there comes first. A task that may be judged anywhere gets a worker that lacks
        nothing only if it fails in the one before.
        """
        lacking = surroundings(points, checks)
        found = {}
        for task in sorted(lacking, key=lambda task: lacking[task] != self.without):
            tried = self._tried_here(task, points[task], checks, seed) if checks.anywhere(task) else None
            if tried is None:
                self.enter(lacking[task])
            found[task] = tried or self.judge_task(task, points[task], checks, seed)
        return tuple(found[task] for task in points)

    def _tried_here(self, task: str, points: float, checks: Checks, seed: int) -> TaskVerdict | None:
        """Judge a task in the worker that is there, if that lacks something; `None` unless all passes."""
        if self.without is None:
            return None
        findings = list(self.findings)
        tried = self.judge_task(task, points, checks, seed)
        if all_passed(tried):
            return tried
        self.findings = findings
        return None

    def judge_task(self, task: str, points: float, checks: Checks, seed: int) -> TaskVerdict:
        """Run the task's checks here; they reach the student's objects across the wall."""
        results = checks.run(task, self.submission(), seed=seed, include_hidden=True, renew=self.cells)
        for result in results:
            if result.outcome in ("timeout", "crashed"):
                self._note(
                    result.outcome, f'In the check "{result.check.title}" of `{task}`: {result.message}'
                )
        return _task(task, points, results)

    def judge_other(self, task: str, source: str, points: float, checks: Checks, seed: int) -> TaskVerdict:
        """The task's checks with another source in its cell."""
        sources = {**self.rebuilt.sources, task: source}
        try:
            told = self._send_cell(source)
        except WorkerLost as lost:
            if lost.reason == "infra_error":
                raise
            self.cells()
            told = {"error": {"type": "Stopped", "message": str(lost)}}
        errors = {task: StudentError(told["error"])} if told.get("error") else {}
        submission = self._submission(sources, errors)

        def again() -> None:
            self.cells()
            self._send_cell(source)

        return _task(task, points, checks.run(task, submission, seed=seed, include_hidden=True, renew=again))

    def without_follow_on_errors(
        self, tasks: tuple[TaskVerdict, ...], bundle: Bundle, checks: Checks, seed: int
    ) -> tuple[TaskVerdict, ...]:
        """The tasks, those judged again that failed and may do so because an earlier one is wrong.

        They are judged in a worker of their own, in which the solution takes the place of each task that
        failed. Of what that worker says only outcomes are used: it has seen solutions.
        """
        broken = [task.task for task in tasks if not all_passed(task)]
        again = [task for task in broken[1:] if self._attempted(task, bundle)]
        if not again or not set(broken) <= set(bundle.solution):
            return tasks
        seen = {task.task: task for task in tasks}
        lacking = surroundings(again, checks)
        for without in dict.fromkeys(lacking.values()):
            self._leave()
            self.without = without
            self.worker = self._spawn()
            judged = [task for task in again if lacking[task] == without]
            with suppress(WorkerLost):  # then what was found before stands
                self._judge_beside_solutions(judged, broken, seen, bundle.solution, checks, seed)
        return tuple(seen.values())

    def _judge_beside_solutions(
        self,
        judged: Sequence[str],
        broken: Sequence[str],
        seen: dict[str, TaskVerdict],
        solution: Mapping[str, str],
        checks: Checks,
        seed: int,
    ) -> None:
        """Judge tasks beside the solutions of those that are `broken`; put the results into `seen`."""
        sources = dict(self.rebuilt.sources)
        for step in self.rebuilt.steps:
            if step.role == "check":
                continue
            if step.index not in self.given_up:
                self._send_cell(step.source)
            if step.role != "solution" or step.name not in broken:
                continue
            if step.name in judged:
                results = checks.run(step.name, self._submission(sources), seed=seed, include_hidden=True)
                second = _task(step.name, seen[step.name].max_score, results)
                seen[step.name] = merged(seen[step.name], second, broken[: broken.index(step.name)])
                if any(result.outcome in ("timeout", "crashed") for result in results):
                    return
            sources[step.name] = solution[step.name]
            self._send_cell(solution[step.name])

    def unprotected(self) -> tuple[TaskVerdict, ...]:
        """An instructor's own tests, scored by nbgrader's rules from outputs of the student's process."""
        tasks = []
        for step in self.rebuilt.steps:
            if step.role != "unprotected":
                continue
            self._note(
                "unprotected_cell",
                f"The test cell `{step.name}` ran beside the student's code; its result can be forged.",
            )
            tasks.append(own_test(step.name, self._cell_with_outputs(step)))
        return tuple(tasks)

    def graded_notebook(self, verdict: Verdict) -> NotebookNode:
        """The rebuilt notebook with the cells' outputs, and each task's feedback where `check` stands."""
        notebook = self.rebuilt.notebook
        tasks = {task.task: task for task in verdict.tasks}
        for step in self.rebuilt.steps:
            cell = notebook.cells[step.index]
            if step.role == "check":
                cell["outputs"] = [nbformat.from_dict(output) for output in task_outputs(tasks[step.name])]
            else:
                cell["outputs"] = self._cell_with_outputs(step)["outputs"]
        return notebook

    def _spawn(self) -> Worker:
        """A fresh worker with the files that lie beside the notebook."""
        worker = self.workers.spawn(self.without)
        for path, raw in self.files.items():
            content = torch.frombuffer(bytearray(raw), dtype=torch.uint8) if raw else torch.zeros(0).byte()
            worker.ask({"op": "file", "path": path, "content": content}, self.limits.cell_seconds)
        return worker

    def _run_cell(self, step: Step) -> bool:
        """Run one cell; False when the worker did not live through it."""
        if step.index in self.given_up:
            self.outputs.setdefault(step.index, [])
            return True
        if step.role == "check":
            return True
        try:
            told = self._send_cell(step.source, self.numbers.get(step.index))
        except WorkerLost as lost:
            self._cell_lost(step, lost)
            return False
        self._missed |= told.get("missed") is True
        if step.index in self.outputs:  # another worker's: a notebook is shown as it ran first
            return True
        self.outputs[step.index] = outputs = clean_outputs(told.get("outputs"), self.output_left)
        self.output_left -= sum(map(length, outputs))
        if told.get("error"):
            self.errors[step.name] = StudentError(told["error"])
            if self.errors[step.name].out_of_memory and step.role != "added":
                self.status = "out_of_memory"
                self._note("out_of_memory", f"The cell `{step.name}` asked for more memory than it may use.")
            if step.role == "added":
                self._note("cell_error", f"A cell that the student added stopped: {self.errors[step.name]}.")
        return True

    def _send_cell(self, source: str, number: int | None = None) -> dict[str, Any]:
        assert self.worker is not None
        seconds = min(self.limits.cell_seconds, max(0.1, self._left()))
        return self.worker.ask({"op": "run", "source": source, "count": number}, seconds)

    def _attempted(self, task: str, bundle: Bundle) -> bool:
        """Whether the student has changed the task's released cell, and it has run."""
        return self.rebuilt.sources.get(task) != bundle.stubs.get(task) and task not in self.errors

    def _cell_lost(self, step: Step, lost: WorkerLost) -> None:
        if lost.reason == "infra_error":
            raise lost
        self.given_up.add(step.index)
        where = (
            f"The cell `{step.name}`"
            if step.role == "solution"
            else "A cell that the student added"
            if step.role == "added"
            else f"The released cell `{step.name}`"
        )
        says = {"timeout": "did not end in time", "out_of_memory": "used too much memory"}.get(
            lost.reason, "ended its process"
        )
        self._note(lost.reason, f"{where} {says} and was left out; everything else was graded.")
        if step.role != "added":
            self.status = lost.reason
            self.errors[step.name] = StudentError(
                {"type": "Stopped", "message": f"the cell {says} when it was run."}
            )
        error = {"output_type": "error", "ename": "Stopped", "evalue": str(lost), "traceback": [str(lost)]}
        self.outputs[step.index] = [error]

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._left() <= 0:
            raise WorkerLost("timeout", "The time for this submission was used up before this check.")
        assert self.worker is not None
        return self.worker.ask(request, min(self.limits.call_seconds, self._left()))

    def _left(self) -> float:
        return self.deadline - time.monotonic()

    def _note(self, kind: str, message: str) -> None:
        finding = Finding(kind, message)
        if finding not in self.findings:
            self.findings.append(finding)

    def _cell_with_outputs(self, step: Step) -> NotebookNode:
        cell = self.rebuilt.notebook.cells[step.index]
        cell["outputs"] = [nbformat.from_dict(output) for output in self.outputs.get(step.index, [])]
        return cell


def _numbers(rebuilt: Rebuilt) -> dict[int, int]:
    """By a cell's index the number that "Restart and run all" gives it, as in `Out[3]`."""
    cells = enumerate(rebuilt.notebook.cells)
    code = [index for index, cell in cells if cell["cell_type"] == "code" and cell["source"].strip()]
    return {index: number for number, index in enumerate(code, 1)}


def _task(task: str, points: float, results: list[CheckResult]) -> TaskVerdict:
    verdicts = (CheckVerdict.from_result(result) for result in results)
    checks = (replace(verdict, message=plain_text(verdict.message, MAX_MESSAGE)) for verdict in verdicts)
    return TaskVerdict(task, points, tuple(checks))


def all_passed(task: TaskVerdict) -> bool:
    return all(check.outcome == "passed" for check in task.checks)
