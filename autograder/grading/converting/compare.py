"""A class judged by the test cells that there are and by the check that is to take their place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from autograder.checking.remote.errors import WorkerLost
from autograder.checking.runner.checks import Checks
from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.building.examine import examine
from autograder.grading.building.generating import generate_release
from autograder.grading.building.staging import staged
from autograder.grading.converting.cells import Converted
from autograder.grading.converting.convert import Conversion, plan
from autograder.grading.course.course import Course
from autograder.grading.course.problem import Unfit
from autograder.grading.handed_in.folder import HandedIn
from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.judge import judge
from autograder.grading.workers.forkserver import ForkServer
from autograder.verdict import CheckVerdict, Verdict

_SEED = 20_260_102
"""The seed of both judgings: what is drawn at random is the same in the two."""
_LONGEST = 160
"""Characters of a reason."""


@dataclass(frozen=True)
class Pair:
    """One submission judged both ways: the points by the cells and by the check, and a reason."""

    who: str
    before: float
    after: float
    reason: str
    """The reason why the one that gives less does so."""
    is_fault: bool = False
    """True if the check has a fault that this submission shows."""
    checks: tuple[CheckVerdict, ...] = ()

    def __str__(self) -> str:
        return f"{self.who} {self.before:g} → {self.after:g}" + (f" ({self.reason})" if self.reason else "")


@dataclass(frozen=True)
class Compared:
    """The solution, the release and the class, judged both ways."""

    solution: Pair
    release: Pair
    students: tuple[Pair, ...]

    @property
    def unlike(self) -> list[Pair]:
        return [each for each in self.students if each.before != each.after or each.is_fault]

    def told(self) -> list[str]:
        """Return what is to be said of the class, in lines."""
        count = len(self.students)
        if not count:
            return ["Nobody has handed it in: only the solution and the release were judged."]
        alike = f"{count - len(self.unlike)} of {count} submissions alike"
        if not self.unlike:
            return [f"{alike}."]
        return [f"{alike}; look at {len(self.unlike)}:", *(f"  {each}" for each in self.unlike)]


class Unproved(Exception):
    """Some cells' checks are unfair to the solution or generous to the release. `cells` has the reasons."""

    def __init__(self, cells: dict[str, str]) -> None:
        self.cells = cells
        super().__init__(*cells.values())


def prove(
    course: Course, assignment: str, named: str, advance: Callable[[int, int], None]
) -> tuple[Conversion, Compared]:
    """Return the conversion of all cells of a task whose checks are fair, compared with the cells.

    Raises `UserError` where none of them is.
    """
    unfair = dict[str, str]()
    while True:  # once, and once more without what was found to be unfair
        conversion = plan(course, assignment, named, unfair)
        try:
            return conversion, compare(course, assignment, conversion, advance)
        except Unproved as found:
            unfair |= found.cells


def compare(
    course: Course,
    assignment: str,
    conversion: Conversion,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> Compared:
    """Judge solution, release and submissions by the cells and by the check; nothing is recorded.

    Raises `UserError` if the assignment could not be built with the check, and `Unproved` if the solution
    does not earn all of its points, or the release any.
    """
    with staged(course, assignment) as stage:
        whole = stage.bundle(assignment)
        at = [part.notebook for part in whole.parts].index(conversion.path.stem)
        before = whole.parts[at]
        source = stage.folder("source", ".", assignment)
        (source / "checks").mkdir(exist_ok=True)
        for path, text in conversion.texts.items():
            (source / path.relative_to(conversion.path.parent)).write_text(text, encoding="utf-8")
        problems = examine(stage, [assignment], catalogue=False)
        if problems:
            raise Unfit(problems)
        generate_release(stage, assignment)
        after = stage.bundle(assignment).parts[at]
    students = course.students(assignment)
    with ForkServer(preload=after.preload) as workers, checks_of(before) as cells, checks_of(after) as checks:
        judging = _Both((before, cells), (after, checks), conversion, workers)
        solution = judging.pair(
            "the solution", before.with_answers(before.solution), after.with_answers(after.solution)
        )
        release = judging.pair("the release", before.released.encode(), after.released.encode())
        if unproved := _unproved(solution, release, conversion):
            raise Unproved(unproved)
        pairs = []
        for done, student in enumerate(students):
            advance(done, len(students))
            files = course.handed_in(student, whole).parts[at]
            pairs.append(judging.pair(student, files, files))
    return Compared(solution, release, tuple(pairs))


@dataclass(frozen=True)
class _Both:
    """Both ways of judging."""

    before: tuple[Bundle, Checks]
    after: tuple[Bundle, Checks]
    conversion: Conversion
    workers: ForkServer

    def pair(self, who: str, one: HandedIn | bytes, other: HandedIn | bytes) -> Pair:
        old = [each.cell.grade_id for each in self.conversion.converted]
        by_cells, by_check = self._judged(*self.before, one), self._judged(*self.after, other)
        before = sum(task.score for task in by_cells.tasks if task.task in old)
        mine = [task for task in by_check.tasks if task.task == self.conversion.task]
        after = sum(task.score for task in mine)
        checks = tuple(check for task in mine for check in task.checks)
        if by_check.status == "infra_error":
            return Pair(who, before, after, by_check.findings[0].message, True, checks)
        lower = by_cells if before < after else by_check
        notes = [task.note for task in mine if before < after]
        reasons = filter(None, [*notes, *_reasons(lower, {*old, self.conversion.task})])
        return Pair(who, before, after, next(reasons, ""), checks=checks)

    def _judged(self, bundle: Bundle, checks: Checks, submitted: HandedIn | bytes) -> Verdict:
        try:
            graded = judge(
                submitted, bundle, student="", seed=_SEED, checks=checks, workers=self.workers, explain=False
            )
            return graded.verdict
        except WorkerLost as lost:
            raise UserError(f"The grading machine failed, not a notebook: {lost}") from lost


def _unproved(solution: Pair, release: Pair, conversion: Conversion) -> dict[str, str]:
    """Return the cells whose checks cost the solution points or give the release any, with the reason."""
    found = {}
    for each in conversion.converted:
        of_solution, of_release = (
            [check for check in pair.checks if _is_of(check, each)] for pair in (solution, release)
        )
        earned, given = (sum(check.points for check in some) for some in (of_solution, of_release))
        if earned < each.points:
            why = next(_messages(of_solution), "")
            said = f"its check gives the solution {earned:g} of {each.points:g} points ({why})"
            found[each.cell.grade_id] = said
        elif given:
            found[each.cell.grade_id] = f"its check gives the untouched release {given:g} points"
    return found


def _is_of(check: CheckVerdict, converted: Converted) -> bool:
    return check.check.removesuffix("_hidden") == converted.name.removeprefix("test_")


def _reasons(verdict: Verdict, tasks: set[str]) -> Iterator[str]:
    """Yield what is said against some tasks of a submission, in short."""
    yield from _messages(check for task in verdict.tasks if task.task in tasks for check in task.checks)


def _messages(checks: Iterable[CheckVerdict]) -> Iterator[str]:
    for check in checks:
        if check.outcome != "passed" and check.message:
            text = " ".join(check.message.split()).rstrip(":.")
            yield text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
