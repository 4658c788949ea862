"""The grading of a class: judges wherever they are, and one writer to the gradebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.course.course import Course
from autograder.grading.judging.jobs import Failure, Job, Judges
from autograder.grading.judging.judge import Before, Graded
from autograder.grading.judging.submitted import Submitted, Unchanged
from autograder.grading.records.beside import is_beside
from autograder.grading.records.known import KnownMistakes, kept_mistakes, known_mistakes
from autograder.grading.records.ready import make_graded_folder, make_ready
from autograder.grading.records.record import (
    check_gradebook,
    on_record,
    record,
    record_failure,
    refile,
    zeros_for_nothing,
)
from autograder.grading.records.store import (
    Kept,
    Key,
    assignment_seed,
    clear_leftovers,
    load_verdict,
)
from autograder.verdict import UNREAD, Finding, Verdict

TOGETHER, RECORD_SECONDS = 64, 0.25
"""The submissions that are recorded together, and the seconds that a verdict may wait for others.

Recorded one by one they cost four times as much. What waits when a grader is killed is judged again.
"""


@dataclass(frozen=True)
class Done:
    """One submission of a batch: its verdict, and whether it was judged now or earlier."""

    verdict: Verdict
    fresh: bool
    before: Verdict | None = None
    """The verdict that it replaces, if any."""
    because: str = ""
    """The reason why that one counts no more."""


_Result = Graded | Unchanged | Failure
"""The result of one submission."""


def grade(
    course: Course,
    assignment: str,
    *,
    judges: Judges,
    students: list[str] | None = None,
    force: bool = False,
    started: Callable[[int], None] = lambda count: None,
) -> Iterator[Done]:
    """Grade a class's submissions of an assignment, and yield each as soon as it is on record.

    `started` is told how many there are. A submission whose verdict is on record is judged again
    only if what counts in it, the checks, the seed or the versions changed, if the known mistakes
    explain now what they did not, or with `force`; one that was only handed in again at another time
    is filed under that time. Raises `UserError` before anything is run where nothing can be graded.
    """
    bundle = course.bundle(assignment)
    chosen = _choose(course, bundle, students)
    make_ready(course, assignment)
    check_gradebook(course, bundle)
    clear_leftovers(course, bundle)
    seed = assignment_seed(course, assignment)
    recorded, zeros = on_record(course, bundle), zeros_for_nothing(course, bundle)
    digest = bundle.digest() + judges.conditions(bundle)
    make_graded_folder(course)
    todo: dict[str, Before | None] = {}
    keys: dict[str, Key] = {}
    verdicts: dict[str, Kept] = {}
    reasons: dict[str, tuple[Verdict, str]] = {}
    known: list[Done] = []
    mistakes = kept_mistakes(course, bundle, seed)
    if mistakes is None:
        mistakes = known_mistakes(course, bundle, seed, judges)
    for student in chosen:
        key = Key.of(course.handed_in(student, bundle), digest, seed)
        kept = load_verdict(course, student, assignment)
        if kept is None or student not in recorded or kept.verdict.status == "infra_error":
            todo[student] = None
        elif because := _because(kept, key, mistakes, force):
            todo[student], reasons[student] = None, (kept.verdict, because)
        elif kept.file != key.file:
            verdicts[student], reasons[student] = kept, (kept.verdict, "handed in again")
            todo[student] = Before(kept.verdict, kept.content)
        else:
            timely = recorded[student] == course.submitted_at(student, assignment)
            silent = kept.verdict.status in UNREAD and student in zeros
            if silent or not timely or not is_beside(course, student, assignment):
                refile(course, bundle, kept, key)
            known.append(Done(kept.verdict, fresh=False))
    started(len(chosen))
    yield from known

    def jobs() -> Iterator[Submitted]:
        """Read each submission only when a judge is free: a large class does not fit into memory."""
        for student, before in todo.items():
            files = course.handed_in(student, bundle)
            keys[student] = Key.of(files, digest, seed)
            yield Submitted(student, files, before)

    if todo:
        results = judges.work_off(jobs(), bundle, seed, mistakes, seconds=RECORD_SECONDS, most=TOGETHER)
        with closing(results):
            for some in results:
                for done in _record_results(course, bundle, seed, some, keys, verdicts):
                    before, because = reasons.get(done.verdict.student, (None, ""))
                    yield replace(done, before=before, because=because) if done.fresh else done


def _because(kept: Kept, key: Key, mistakes: KnownMistakes, force: bool) -> str:
    """Return why a submission is judged again whatever is in its file; `""` if it is not."""
    if kept.conditions != key.conditions:
        return "the release, its checks, the seed or a version has changed"
    if _diagnosis_changed(kept.verdict, mistakes):
        return "the known mistakes have changed"
    return "judged again by --force" if force else ""


def _diagnosis_changed(verdict: Verdict, mistakes: KnownMistakes) -> bool:
    """Return whether the known mistakes explain anything in a kept verdict otherwise than it says."""
    parts = [verdict.part(each.notebook) for each in verdict.notebooks] or [verdict]
    return any(task.diagnosed(mistakes.get(task.task, ())) != task for part in parts for task in part.tasks)


def _record_results(
    course: Course,
    bundle: Bundle,
    seed: int,
    results: Sequence[tuple[Job[_Result], _Result]],
    keys: Mapping[str, Key],
    verdicts: Mapping[str, Kept],
) -> Iterator[Done]:
    """Record what came of some submissions, and yield each."""
    graded = [
        (told, keys[told.verdict.student])
        for _, told in results
        if isinstance(told, Graded) and told.verdict.status != "infra_error"
    ]
    failed = _record_together(course, bundle, graded)
    for job, told in results:
        assert isinstance(job, Submitted)
        if isinstance(told, Unchanged):
            refile(course, bundle, verdicts[job.student], keys[job.student])
            yield Done(verdicts[job.student].verdict, fresh=False)
            continue
        told = failed.get(job.student, told)
        verdict = told.verdict if isinstance(told, Graded) else _infra_error(job.student, bundle, seed, told)
        if verdict.status == "infra_error":
            record_failure(course, bundle, verdict, keys[job.student])
        yield Done(verdict, fresh=True)


def _record_together(
    course: Course, bundle: Bundle, batch: Sequence[tuple[Graded, Key]]
) -> dict[str, Failure]:
    """Record submissions; return why not for those that alone are to blame. `UserError` ends the batch."""
    if not batch:
        return {}
    try:
        record(course, bundle, batch)
    except (UserError, OSError):
        raise
    except Exception as error:  # what nobody thought of in one submission must not stop the others
        if len(batch) > 1:
            alone = [_record_together(course, bundle, [one]) for one in batch]
            return {student: failure for each in alone for student, failure in each.items()}
        failure = Failure(f"recording it failed with {type(error).__name__}: {error}.")
        return {batch[0][0].verdict.student: failure}
    return {}


def _choose(course: Course, bundle: Bundle, students: list[str] | None) -> list[str]:
    submitted = course.students(bundle.assignment)
    if students:
        unknown = [student for student in students if student not in submitted]
        if unknown:
            raise UserError(
                f"The student {unknown[0]!r} has not submitted {bundle.assignment}: "
                "there is no folder for it."
            )
        return [student for student in submitted if student in students]
    if not submitted:
        folder = course.folder("submitted", "STUDENT", bundle.assignment)
        raise UserError(f"Nobody has submitted {bundle.assignment}: submissions are expected in {folder}.")
    return submitted


def _infra_error(student: str, bundle: Bundle, seed: int, told: Failure) -> Verdict:
    found = Finding(
        "infra_error",
        f"The grading machine failed, not the student: {told.reason} No score was changed.",
    )
    name = "" if bundle.others else bundle.notebook
    return Verdict(student, bundle.assignment, name, "infra_error", 0.0, seed, (found,), ())
