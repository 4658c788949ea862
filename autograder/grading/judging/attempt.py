"""One submission while it is judged: the worker that has it, and what its cells and its checks gave."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import nbformat
from msgspec.structs import replace
from nbformat import NotebookNode

from autograder.cards.card import task_outputs
from autograder.checking.diagnosis.match import Known
from autograder.checking.explain.habits import Habit, habits
from autograder.checking.remote.errors import StudentError, WorkerLost
from autograder.checking.runner.check import CheckResult
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.cells import grade_id
from autograder.grading.assignment.rebuild import Rebuilt, Step
from autograder.grading.judging.carried_errors import may_follow, merged
from autograder.grading.judging.own_tests import cause_of, own_test
from autograder.grading.judging.ran import MAX_LOST_IN_CELLS, Ran
from autograder.grading.workers.client import NO_ANSWER, Worker
from autograder.grading.workers.forkserver import ForkServer, RunLimits
from autograder.protocol.answers import AnyAnswer, CellRan, Raised
from autograder.protocol.messages import OfObjects, RunCell, WriteFile
from autograder.protocol.text import plain_text
from autograder.protocol.without import Without
from autograder.verdict import CheckVerdict, Finding, TaskVerdict, Verdict

if TYPE_CHECKING:
    from autograder.checking.remote.submission import Submission
    from autograder.checking.runner.checks import Checks

_PART = 3 << 20
"""Bytes of a file that are sent at once: a frame's header takes twice as many."""
MAX_MESSAGE = 2000
"""Characters of a check's message, which may quote names that the student made up."""


MistakesOf = Callable[[str], Sequence[Known]]
"""A function from a task to the answers of its known mistakes, under the seed of the judging."""
Surroundings = Mapping[str, Without | None]
"""The parts of torch that do not work where a task is judged, by task; `None` where everything works."""


def surroundings(tasks: Iterable[str], checks: Checks) -> Surroundings:
    """Return what each task is judged without, in the order in which tasks are best judged.

    First those that need all to work: that worker's outputs are shown. Last those that are judged anywhere.
    """
    lacking = {task: checks.without(task) for task in tasks}
    return dict(sorted(lacking.items(), key=lambda each: (checks.anywhere(each[0]), each[1] is not None)))


class Attempt:
    """A rebuilt notebook in a worker. Use as a context manager."""

    def __init__(
        self,
        rebuilt: Rebuilt,
        workers: ForkServer,
        files: Mapping[str, bytes] | None = None,
        limits: RunLimits | None = None,
    ) -> None:
        """Take a notebook to run; `files` are those beside it, by path, `limits` the workers' or others."""
        self.files = files or {}
        self.rebuilt, self.workers, self.limits = rebuilt, workers, limits or workers.limits
        self.numbers = _execution_counts(rebuilt)
        self._test_cells = {step.index for step in rebuilt.steps if step.role == "unprotected"}
        self.deadline = time.monotonic() + self.limits.total_seconds
        self.ran = Ran()
        """The results of the cells so far."""
        self.worker: Worker | None = None
        self.without: Without | None = None
        """The parts of torch that do not work in the worker."""
        self.habits: dict[str, list[Habit]] = {}
        """The habits seen in each task that was judged."""

    def __enter__(self) -> Attempt:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()

    def begin(self, without: Without | None) -> None:
        """Run the notebook for the tasks that are judged without this.

        Where its cells call what is lacking, as to compare an answer with torch's, their outputs are those of
        a worker that lacks nothing, which is then the one that is there.
        """
        self.enter(without)
        if self.ran.missed:
            self.ran = self.ran.to_be_shown_again(self.rebuilt.steps)
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
            if all(self._run_cell(step) for step in self.rebuilt.steps):
                return
            if self._left() <= 0:
                self.ran = self.ran.out_of_time(self.rebuilt.steps)
            elif len(self.ran.given_up - self._test_cells) >= MAX_LOST_IN_CELLS:
                self.ran = self.ran.without_added(self.rebuilt.steps)

    def submission(self) -> Submission:
        """The student's objects, as checks reach them."""
        return self._submission(self.rebuilt.sources, self.ran.errors)

    def _submission(
        self, sources: Mapping[str, str], errors: Mapping[str, StudentError] | None = None
    ) -> Submission:
        from autograder.checking.remote.submission import Submission  # torch with it, where there are checks

        on_gpu = self.limits.gpu_bytes > 0
        return Submission(self._perform, sources, errors, on_gpu=on_gpu, without=self.without)

    def judge_tasks(
        self,
        points: Mapping[str, float],
        checks: Checks,
        seed: int,
        *,
        explain: bool = True,
        known: MistakesOf = lambda task: (),
    ) -> tuple[TaskVerdict, ...]:
        """Judge tasks, those together that lack the same; the results are in the order of `points`.

        The worker that is there comes first. A task that may be judged anywhere gets a worker that lacks
        nothing only if it fails in the one before.
        """
        lacking = surroundings(points, checks)
        found = {}
        for task in sorted(lacking, key=lambda task: lacking[task] != self.without):
            tried = None
            if checks.anywhere(task) and self.without is not None:
                tried = self.judge_task(task, points[task], checks, seed, explain=False)
            if tried is None or not all_passed(tried):
                self.enter(lacking[task])
                tried = self.judge_task(task, points[task], checks, seed, explain=explain, known=known)
            found[task] = tried
        return tuple(found[task] for task in points)

    def judge_task(
        self,
        task: str,
        points: float,
        checks: Checks,
        seed: int,
        *,
        explain: bool = True,
        known: MistakesOf = lambda task: (),
    ) -> TaskVerdict:
        """Run the task's checks here; they reach the student's objects across the wall."""
        submission = self.submission()
        results = checks.run(
            task,
            submission,
            seed=seed,
            include_hidden=True,
            renew=self.cells,
            explain=explain,
            known=lambda _: known(task),
        )
        self.habits[task] = habits(task, self.rebuilt.sources.get(task, ""), submission.connection.printed)
        return _task(task, points, results)

    def judge_other(
        self, task: str, source: str, points: float, checks: Checks, seed: int, *, explain: bool = True
    ) -> TaskVerdict:
        """Judge a task with another source in its cell; if it makes nothing, nothing is there."""
        sources = {**self.rebuilt.sources, task: source}

        def run() -> Raised | None:
            self._send_cell(f"globals().pop({task!r}, None)", task=task)
            return self._send_cell(source, task=task).error

        try:
            error = run()
        except WorkerLost as lost:
            if lost.reason == "infra_error":
                raise
            self.cells()
            error = Raised(type="Stopped", message=str(lost))
        errors = {task: StudentError(error)} if error is not None else {}
        submission = self._submission(sources, errors)

        def again() -> None:
            self.cells()
            run()

        results = checks.run(task, submission, seed=seed, include_hidden=True, renew=again, explain=explain)
        return _task(task, points, results)

    def without_follow_on_errors(
        self, tasks: tuple[TaskVerdict, ...], bundle: Bundle, checks: Checks, seed: int
    ) -> tuple[TaskVerdict, ...]:
        """The tasks, those judged again that failed and may do so because an earlier one is wrong.

        They are judged in a worker of their own, in which the solution takes the place of each task that
        failed. Of what that worker says only outcomes are used: it has seen solutions.
        """
        broken = [task.task for task in tasks if not all_passed(task)]
        if not set(broken) <= set(bundle.solution):
            return tasks
        again = [
            task
            for task in broken[1:]
            if self._attempted(task, bundle) and may_follow(task, broken, bundle.solution[task])
        ]
        if not again:
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
            if step.index not in self.ran.given_up:
                self._send_cell(step.source, task=step.task, added=step.role == "added")
            if step.role != "solution" or step.name not in broken:
                continue
            if step.name in judged:
                results = checks.run(
                    step.name, self._submission(sources), seed=seed, include_hidden=True, explain=False
                )
                second = _task(step.name, seen[step.name].max_score, results)
                seen[step.name] = merged(seen[step.name], second, broken[: broken.index(step.name)])
                if any(result.outcome in ("timeout", "crashed") for result in results):
                    return
            sources[step.name] = solution[step.name]
            self._send_cell(solution[step.name], task=step.name)

    def _spawn(self) -> Worker:
        """A fresh worker with the files that lie beside the notebook."""
        worker = self.workers.spawn(self.without)
        for path, raw in self.files.items():
            for at in range(0, max(1, len(raw)), _PART):
                part = base64.b64encode(raw[at : at + _PART]).decode()
                file = WriteFile(path=path, content=part, continues=at > 0)
                worker.perform([file], self.limits.cell_seconds)
        return worker

    def _run_cell(self, step: Step) -> bool:
        """Run one cell; False when the worker did not live through it."""
        if step.index in self.ran.given_up:
            self.ran = self.ran.skipped(step)
            return True
        if step.role == "check":
            return True
        try:
            number, added = self.numbers.get(step.index), step.role == "added"
            ran = self._send_cell(step.source, number, task=step.task, added=added)
            self.ran = self.ran.with_cell(step, ran)
        except WorkerLost as lost:
            if lost.reason == "infra_error":
                raise
            self.ran = self.ran.without_cell(step, lost)
            return False
        return True

    def _send_cell(
        self, source: str, number: int | None = None, *, task: str = "", added: bool = False
    ) -> CellRan:
        assert self.worker is not None
        seconds = min(self.limits.cell_seconds, max(0.1, self._left()))
        (answer,) = self.worker.perform(
            [RunCell(source=source, count=number, task=task, added=added)], seconds
        )
        if not isinstance(answer, CellRan):
            self.worker.end()
            raise WorkerLost("crashed", NO_ANSWER)
        return answer

    def _attempted(self, task: str, bundle: Bundle) -> bool:
        """Return whether the student has changed the task's released cell, and it has run."""
        return self.rebuilt.sources.get(task) != bundle.stubs.get(task) and task not in self.ran.errors

    def _perform(self, messages: Sequence[OfObjects]) -> list[AnyAnswer]:
        left, used_up = self._left(), "The time for this submission was used up before this check was done."
        if left <= 0:
            raise WorkerLost("timeout", used_up)
        assert self.worker is not None
        try:
            return self.worker.perform(messages, min(self.limits.call_seconds, left))
        except WorkerLost as lost:
            if lost.reason == "timeout" and left < self.limits.call_seconds:
                raise WorkerLost("timeout", used_up) from None  # the call itself may end
            raise

    def _left(self) -> float:
        return self.deadline - time.monotonic()


def lost_in_checks(tasks: Iterable[TaskVerdict]) -> list[Finding]:
    """Return a finding for each check in which the student's process was lost."""
    return [
        Finding(check.outcome, f'In the check "{check.title}" of `{task.task}`: {check.message}')
        for task in tasks
        for check in task.checks
        if check.outcome in ("timeout", "crashed")
    ]


def own_tests(rebuilt: Rebuilt, ran: Ran, bundle: Bundle) -> tuple[tuple[TaskVerdict, ...], list[Finding]]:
    """Score an instructor's own tests, from what the student's process says of their cells."""
    released = {grade_id(cell): cell["source"] for cell in bundle.handed_out().cells}
    steps = [step for step in rebuilt.steps if step.role == "unprotected"]
    answers = {step.name: step.source for step in rebuilt.steps if step.role == "solution"}
    tasks = tuple(
        own_test(
            step.name,
            cell_with_outputs(rebuilt, ran, step),
            released.get(step.name, ""),
            ran.errors.get(step.name),
            cause_of(ran.errors.get(step.name), answers, ran.errors),
        )
        for step in steps
    )
    said = "The test cell `{}` ran beside the student's code; its result can be forged."
    return tasks, [Finding("unprotected_cell", said.format(step.name)) for step in steps]


def graded_notebook(rebuilt: Rebuilt, ran: Ran, verdict: Verdict) -> NotebookNode:
    """Return the rebuilt notebook with the cells' outputs, and each task's feedback where `check` stands."""
    tasks = {task.task: task for task in verdict.tasks}
    for step in rebuilt.steps:
        cell = cell_with_outputs(rebuilt, ran, step)
        if step.role == "check":
            cell["outputs"] = [nbformat.from_dict(output) for output in task_outputs(tasks[step.name])]
        elif step.role == "unprotected":  # the card first: nbgrader, too, scores the cell by it
            cell["outputs"][:0] = map(nbformat.from_dict, task_outputs(tasks[step.name]))
    return rebuilt.notebook


def cell_with_outputs(rebuilt: Rebuilt, ran: Ran, step: Step) -> NotebookNode:
    """Return a cell of the notebook, with what it showed."""
    cell = rebuilt.notebook.cells[step.index]
    cell["outputs"] = [nbformat.from_dict(output) for output in ran.outputs.get(step.index, [])]
    return cell


def _execution_counts(rebuilt: Rebuilt) -> dict[int, int]:
    """The number that "Restart and run all" gives each code cell, as in `Out[3]`, by the cell's index."""
    cells = enumerate(rebuilt.notebook.cells)
    code = [index for index, cell in cells if cell["cell_type"] == "code" and cell["source"].strip()]
    return {index: number for number, index in enumerate(code, 1)}


def _task(task: str, points: float, results: list[CheckResult]) -> TaskVerdict:
    verdicts = (CheckVerdict.from_result(result) for result in results)
    checks = (replace(verdict, message=plain_text(verdict.message, MAX_MESSAGE)) for verdict in verdicts)
    return TaskVerdict(task, points, tuple(checks))


def all_passed(task: TaskVerdict) -> bool:
    return all(check.outcome == "passed" for check in task.checks)
