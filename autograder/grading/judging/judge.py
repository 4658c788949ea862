"""The way from a submission's bytes to its verdict and graded notebook: rebuild, run, judge.

`judge` knows no path of the course and changes nothing outside: the same function can run in a
batch, in nbgrader's own process, or on another machine.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import nbformat
from msgspec.structs import replace
from nbformat import NotebookNode

from autograder.cards.card import unjudged_outputs
from autograder.checking.explain.habits import Habit
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.cells import check_task, grade_id, is_grade, is_solution
from autograder.grading.assignment.rebuild import CorruptNotebook, give_id, rebuild
from autograder.grading.handed_in.folder import HandedIn
from autograder.grading.handed_in.helpers import replaced, unread, used
from autograder.grading.handed_in.helpers import sources as sources_of
from autograder.grading.handed_in.resolve import resolve
from autograder.grading.handed_in.technical import technical_losses
from autograder.grading.judging.attempt import (
    Attempt,
    MistakesOf,
    all_passed,
    graded_notebook,
    lost_in_checks,
    own_tests,
    surroundings,
)
from autograder.grading.judging.blank import blank_verdict
from autograder.grading.judging.faults_met import faulty
from autograder.grading.judging.jobs import limits_of
from autograder.grading.judging.suspicious import unusual_code
from autograder.grading.workers.forkserver import ForkServer
from autograder.verdict import Finding, TaskVerdict, Verdict

if TYPE_CHECKING:
    from autograder.checking.runner.checks import Checks


@dataclass(frozen=True)
class Graded:
    """The result of judging one submission: the verdict, and the notebook with its feedback, as text."""

    verdict: Verdict
    notebook: str
    content: str = ""
    """The digest of what counts in the submitted file; `""` if it could not be read."""
    parts: tuple[Graded, ...] = ()
    """The same for each notebook of an assignment that has several; `notebook` is empty then."""

    @property
    def notebooks(self) -> tuple[Graded, ...]:
        """Return what was judged now, a notebook each."""
        return tuple(part for part in self.parts if part.notebook) if self.parts else (self,)


@dataclass(frozen=True)
class Before:
    """An earlier verdict on a submission, whose notebooks need not be judged again as they are."""

    verdict: Verdict
    content: str
    """The digest of what counted in it."""


def judge(
    submitted: HandedIn | bytes | None,
    bundle: Bundle,
    *,
    student: str,
    seed: int,
    checks: Checks,
    workers: ForkServer,
    known: MistakesOf = lambda task: (),
    explain: bool = True,
    before: Before | None = None,
) -> Graded:
    """Judge one submission: a folder as it was read, or a notebook's bytes, or `None` for none at all.

    Of several notebooks each is judged by itself, but for those that are as they were `before`.
    """
    one = partial(
        _judge, student=student, seed=seed, checks=checks, workers=workers, known=known, explain=explain
    )
    parts: list[Graded] = []
    contents = _contents(before.content) if before else {}
    for part, files in zip(bundle.parts, HandedIn.of(submitted).parts, strict=True):
        content = contents.get(part.notebook)
        if before and bundle.others and content and content == content_of(files, part):
            parts.append(Graded(before.verdict.part(part.notebook), "", content))
        else:
            parts.append(one(files, part))
    if not bundle.others:
        return parts[0]
    verdict = Verdict.of_several([part.verdict for part in parts])
    content = json.dumps({part.verdict.notebook: part.content for part in parts})
    return Graded(verdict, "", content, tuple(parts))


def _contents(content: str) -> dict[str, str]:
    """Return the digests of several notebooks by their names, as `judge` puts them together."""
    try:
        return dict(json.loads(content))
    except (ValueError, TypeError):
        return {}


def _judge(
    submitted: HandedIn,
    bundle: Bundle,
    *,
    student: str,
    seed: int,
    checks: Checks,
    workers: ForkServer,
    known: MistakesOf,
    explain: bool,
) -> Graded:
    """Judge one notebook of a submission.

    A task that fails is compared with the mistakes that are `known`. Without `explain` messages are shorter:
    nothing is found out about wrong values by running their check again. Where a check has a fault, the
    verdict's status is `infra_error` and everything else is judged. Raises `WorkerLost` with the reason
    `infra_error` when the grading machine failed, not the student.
    """
    started = time.monotonic()
    blank = blank_verdict(student, bundle, seed)
    resolved = resolve(submitted, bundle)
    if resolved.raw is None:
        return _unread(replace(blank, status="missing", findings=resolved.findings), bundle)
    first = next(iter(surroundings(bundle.tasks, checks).values()), None)
    workers.prepare(first)
    try:
        rebuilt = rebuild(resolved.raw, bundle)
    except CorruptNotebook as error:
        workers.dismiss()
        found = Finding("corrupt", f"The submitted file could not be read: {error}.")
        return _unread(replace(blank, status="corrupt", findings=(*resolved.findings, found)), bundle)
    content = resolved.content(rebuilt)
    files = {**resolved.files, **bundle.files}  # of equal names the instructor's wins, as with nbgrader
    own = {path: raw for path, raw in files.items() if path not in bundle.files}
    with Attempt(rebuilt, workers, files, limits_of(bundle, workers.limits)) as attempt:
        attempt.begin(first)
        judged = attempt.judge_tasks(bundle.tasks, checks, seed, explain=explain, known=known)
        tasks = attempt.without_follow_on_errors(judged, bundle, checks, seed)
        ran = attempt.ran
        tests, unprotected = own_tests(rebuilt, ran, bundle)
        tasks = tuple(
            task if all_passed(task) else task.diagnosed(known(task.task)) for task in tasks + tests
        )
        for task in set(rebuilt.taken_names) & set(attempt.habits):
            said = f"A cell below takes the name `{task}`; the version in the task's own cell was judged."
            attempt.habits[task].append(Habit("later_cell", said))
        tasks = tuple(with_remarks(task, attempt.habits.get(task.task, ())) for task in tasks)
        faults = _check_faults(tasks)
        findings = [
            *resolved.findings,
            *rebuilt.findings,
            *used(own, rebuilt.sources.values()),
            *replaced(resolved.files, bundle.files),
            *unread(own),
            *unusual_code({**rebuilt.sources, **sources_of(own)}),
            *ran.findings,
            *lost_in_checks(judged),
            *unprotected,
            *(Finding(habit.kind, habit.message) for each in attempt.habits.values() for habit in each),
            *technical_losses(rebuilt, bundle, tasks, ran.errors, files),
        ]
        verdict = replace(
            blank,
            status="infra_error" if faults else ran.status,
            findings=(*faults, *dict.fromkeys(findings)),
            tasks=tasks,
            seconds=round(time.monotonic() - started, 3),
        )
        return Graded(verdict, _file_text(graded_notebook(rebuilt, ran, verdict), verdict), content)


def with_remarks(task: TaskVerdict, habits: Sequence[Habit]) -> TaskVerdict:
    """Return a task with remarks on its habits in its note."""
    return replace(task, note=" ".join(filter(None, [task.note, *(habit.message for habit in habits)])))


def content_of(submitted: HandedIn, bundle: Bundle) -> str:
    """The digest of what counts in a submission; `""` where the notebook is missing or cannot be read."""
    if bundle.others:
        each = zip(bundle.parts, submitted.parts, strict=True)
        return json.dumps({part.notebook: content_of(files, part) for part, files in each})
    resolved = resolve(submitted, bundle)
    try:
        return resolved.content(rebuild(resolved.raw, bundle)) if resolved.raw is not None else ""
    except CorruptNotebook:
        return ""


def unfit_checks(
    bundle: Bundle, *, seed: int, checks: Checks, workers: ForkServer, tasks: Sequence[str] | None = None
) -> dict[str, list[str]]:
    """The checks of values that fail the solution at the smallest sizes, by task: of `tasks`, or of all."""
    rebuilt = rebuild(bundle.with_answers(bundle.solution), bundle)
    with Attempt(rebuilt, workers, bundle.files) as attempt:
        found = {}
        for task, without in surroundings(bundle.tasks if tasks is None else tasks, checks).items():
            attempt.enter(without)
            found[task] = checks.unfit_for_small_sizes(task, attempt.submission(), seed)
        return found


def judge_answers(
    bundle: Bundle,
    task: str,
    sources: Mapping[str, str],
    *,
    seed: int,
    checks: Checks,
    workers: ForkServer,
    explain: bool = True,
) -> dict[str, TaskVerdict]:
    """Judge several answers to one task, by name, each in the otherwise solved notebook.

    They are run one after the other in one worker, which is many times faster than a worker each. Without
    `explain` messages are shorter: nothing is found out about wrong values by running their check again.
    """
    if not sources:
        return {}  # as for all test cells of a plain assignment
    rebuilt = rebuild(bundle.with_answers(bundle.solution), bundle)
    verdicts = {}
    with Attempt(rebuilt, workers, bundle.files) as attempt:
        attempt.enter(checks.without(task))
        for name, source in sources.items():
            attempt.deadline = time.monotonic() + workers.limits.total_seconds
            verdicts[name] = attempt.judge_other(
                task, source, bundle.tasks[task], checks, seed, explain=explain
            )
    return verdicts


def _check_faults(tasks: Sequence[TaskVerdict]) -> list[Finding]:
    """Return a finding for each faulty check: nothing is recorded until they are mended."""
    return [
        Finding(
            "check_fault",
            f"The check `{check.check}` of `{task.task}` has a fault: {check.fault}. Nothing was recorded "
            "for this submission: mend the check and grade again.",
        )
        for task in tasks
        for check in faulty(task)
    ]


def _unread(verdict: Verdict, bundle: Bundle) -> Graded:
    """The released notebook with the reason in front and no points: the file is not there or not readable."""
    notebook = bundle.skeleton()
    for cell in notebook.cells:
        if cell["cell_type"] == "code":
            graded = is_grade(cell) and not is_solution(cell)
            shown = unjudged_outputs(check_task(cell) or grade_id(cell)) if graded else []
            cell["outputs"] = [nbformat.from_dict(output) for output in shown]
    return Graded(verdict, _file_text(notebook, verdict))


def _file_text(notebook: NotebookNode, verdict: Verdict) -> str:
    """The graded notebook as text; one that was not graded as usual says so in front."""
    notes = [
        finding.student or finding.message
        for finding in verdict.findings
        if finding.student or (verdict.status != "graded" and finding.kind != "cell_error")
    ]
    if notes or verdict.status != "graded":
        text = "**About your submission.** " + " ".join(
            notes or [f"It ended with the status {verdict.status}."]
        )
        note = nbformat.v4.new_markdown_cell(text, metadata={"tags": ["autograder"]})
        give_id(notebook, note, "autograder-note")
        notebook.cells.insert(0, note)
    return str(nbformat.writes(notebook, version=4))
