"""Results on the command line: a class as a table, one verdict as text, a machine's examination."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from autograder.cards.card import points
from autograder.grading.course.times import duration
from autograder.reporting.attention import first_to_see
from autograder.verdict import UNREAD

if TYPE_CHECKING:
    from autograder.grading.batch import Done
    from autograder.grading.records.results import Result
    from autograder.grading.records.scores import TaskPoints
    from autograder.verdict import Verdict

_SIGNS = {"passed": "✓", "skipped": "–", "fault": "!"}
_GIVEN, _WAITING = "*", "?"
ROWS_TOGETHER = 1000
"""The rows of a table that are laid out at a time."""
_STYLES = {"graded": "", "infra_error": "bold red"}


_COLUMNS = ("student", "status", "score", "tasks", "seconds")
"""The columns that are as wide as what is in them; what there is to see first gets the rest."""


def print_results(console: Console, results: Sequence[Result]) -> None:
    """Print the table of a class, a large one piece by piece: rich would hold all of its lines at once."""
    if len(results) <= ROWS_TOGETHER:
        console.print(results_table(results))
        return
    tasks = _tasks(results)
    widths = [len(title) for title in _COLUMNS]
    for result in results:
        widths = [
            max(width, cell_len(str(cell)))
            for width, cell in zip(widths, _row(result, tasks)[:-1], strict=True)
        ]
    for first in range(0, len(results), ROWS_TOGETHER):
        table = _table(widths, first == 0)
        for result in results[first : first + ROWS_TOGETHER]:
            table.add_row(*_row(result, tasks))
        console.print(table)


def results_table(results: Sequence[Result]) -> Table:
    """Return a line for each student: status, score, the tasks' points in order, and what to look at first.

    Points are those that count, as `legend` says; of a verdict without a mark, those of its checks.
    """
    tasks = _tasks(results)
    table = _table([None] * len(_COLUMNS), True)
    for result in results:
        table.add_row(*_row(result, tasks))
    return table


def _table(widths: Sequence[int | None], head: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True, show_header=head)
    for title, width in zip(_COLUMNS, widths, strict=True):
        justify: JustifyMethod = "right" if title in ("score", "seconds") else "left"
        table.add_column(title, justify=justify, no_wrap=True, width=width)
    table.add_column("first thing to see", overflow="ellipsis", no_wrap=True, ratio=1)
    return table


def _tasks(results: Iterable[Result]) -> list[str]:
    return list(dict.fromkeys(task for result in results for task in _points_by_task(result)))


def _row(result: Result, tasks: Sequence[str]) -> list[str | Text]:
    shown = _points_by_task(result)
    return [
        Text(result.verdict.student),
        Text(status(result) + _late(result), style=_STYLES.get(status(result), "yellow")),
        _score(result),
        " ".join(shown.get(task, "–").ljust(4) for task in tasks),
        f"{result.verdict.seconds:.1f}",
        Text(first_to_see(result.verdict)),
    ]


def legend(results: list[Result]) -> str:
    """Return the meaning of the signs beside points, if there are any."""
    tasks = [task for result in results if result.mark and not _unread(result) for task in result.mark.tasks]
    given = any(task.by_hand and task.points is not None for task in tasks)
    waiting = any(task.points is None for task in tasks)
    signs = [f"{_GIVEN} points that a person gave"] if given else []
    return "   ".join([*signs, f"{_WAITING} waits for a person's points"] if waiting else signs)


def changed_scores(judged: Iterable[Done]) -> Iterator[str]:
    """Yield a line for each submission whose checks gave other points than the last time, with the reason."""
    for done in judged:
        before, now = done.before, done.verdict
        if before is not None and (told := _of_checks(before)) != _of_checks(now):
            yield f"{now.student}: {told} before, {_of_checks(now)} now: {done.because}."


def _of_checks(verdict: Verdict) -> str:
    """Return the points that the checks gave, or the status of what could not be read."""
    return verdict.status if verdict.status in UNREAD else f"{points(verdict.score)} points"


def status(result: Result) -> str:
    """Return the verdict's status, or that a graded submission has no score before a person gives points."""
    waits = result.mark is not None and result.mark.state == "needs_manual_grade"
    return "waits for points" if waits and result.verdict.status == "graded" else result.verdict.status


def _late(result: Result) -> str:
    late = result.mark.late_seconds if result.mark is not None else None
    return f", {duration(late)} late" if late else ""


def summary(results: list[Result]) -> str:
    """Return the number of submissions of each status, and the mean of the scores that there are."""
    counts = Counter(status(result) for result in results)
    said = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    scored = [result.mark.score for result in results if result.mark and result.mark.score is not None]
    mean = f"; mean of {len(scored)} scores {sum(scored) / len(scored):.2f}" if scored else ""
    return f"{len(results)} submission{'' if len(results) == 1 else 's'}: {said}{mean}"


def _score(result: Result) -> str:
    """Return the score that counts of what there is to earn; the points so far where some are missing."""
    verdict, mark = result.verdict, result.mark
    if verdict.status == "infra_error" and (mark is None or mark.score is None):
        return "–"
    if mark is None:
        return f"{points(verdict.score)}/{points(verdict.max_score)}"
    given = [task.points for task in mark.tasks if task.points is not None]
    so_far = max(0.0, sum(given) - mark.penalty) if given else None
    score = mark.score if mark.score is not None else so_far
    return f"{'–' if score is None else points(score)}/{points(mark.max_score)}"


def _points_by_task(result: Result) -> dict[str, str]:
    if result.mark is None:
        return {task.task: points(task.score) for task in result.verdict.tasks}
    return {task.task: "–" if _unread(result) else _task_points(task) for task in result.mark.tasks}


def _unread(result: Result) -> bool:
    """Return whether the status says already that nobody has given any points."""
    given = result.mark is not None and any(task.points is not None for task in result.mark.tasks)
    return result.verdict.status != "graded" and not given


def _task_points(task: TaskPoints) -> str:
    if task.points is None:
        return _WAITING
    return points(task.points) + (_GIVEN if task.by_hand else "")


def print_verdict(console: Console, verdict: Verdict) -> None:
    """Print one verdict: findings first, then task by task, the failing checks with their messages."""
    say = console.print
    earned = f"{points(verdict.score)} of {points(verdict.max_score)} points"
    by_hand = sum(each.max_score for each in verdict.by_hand)
    earned += f", and {points(by_hand)} that a person gives" if by_hand else ""
    say(f"{verdict.assignment}: {verdict.status}, {earned}", style="bold", markup=False)
    for finding in verdict.findings:
        say(f"  ! {finding.message}", markup=False)
    for each in verdict.by_hand:
        say(f"{each.task}  {points(each.max_score)} by hand", style="bold", markup=False)
    for task in verdict.tasks:
        said = f"{task.task}  {points(task.score)} of {points(task.max_score)}"
        say(said, style="bold", markup=False)
        for check in task.checks:
            say(f"  {_SIGNS.get(check.outcome, '✗')} {check.title}", markup=False)
            if check.outcome == "fault" and check.fault is not None:
                for line in check.fault.traceback.splitlines():
                    say(f"      {line}", markup=False, soft_wrap=True)
            elif check.outcome not in ("passed", "skipped"):
                say(f"      {check.message}", markup=False)
                if check.diagnosis:
                    mistake, hint = check.diagnosis.mistake, check.diagnosis.hint
                    say(f"      Known mistake {mistake}: {hint}", markup=False)


def print_clusters(console: Console, clusters: list[dict[str, Any]]) -> None:
    """Print each group of like wrong answers: how many, what the checks say, and one student's cell."""
    if not clusters:
        console.print("Every wrong answer is explained by a known mistake, or is not written yet.")
    for cluster in clusters:
        count = cluster["count"]
        many = f"{count} submissions answer alike" if count > 1 else "1 submission alone"
        console.print(f"\n{cluster['task']}: {many}", style="bold", markup=False)
        for check in cluster["checks"]:
            console.print(f"  ✗ {check['title']}\n    {check['message']}", markup=False, soft_wrap=True)
        students = ", ".join(cluster["students"][:8]) + (", …" if count > 8 else "")
        console.print(f"  Students: {students}", markup=False, soft_wrap=True)
        console.print(f"  The cell of {cluster['example']['student']}:", markup=False)
        console.print(
            Padding(Syntax(cluster["example"]["cell"], "python", background_color="default"), (0, 4))
        )
    if clusters:
        console.print(
            "\nAn entry in solutions/mistakes/ that answers the same explains all of a group; "
            "docs/mistakes.md says how.",
            markup=False,
            soft_wrap=True,
        )


def print_examination(console: Console, found: dict[str, Any]) -> None:
    """Print the examination of a machine: what holds, and what to do about the rest."""
    say = console.print
    say(f"autograder {found['autograder']}, Python {found['python']}, {found['system']}", markup=False)
    say(
        "  ".join(f"{name} {version or '(not installed)'}" for name, version in found["versions"].items()),
        markup=False,
    )
    say(f"GPU: {found['gpu'] or 'none'}    Course: {found['course'] or 'none here'}", markup=False)
    if found["gpu"]:
        say(found["gpu_use"], markup=False)
    say(f"Confinement: {found['level']}", style="bold", markup=False)
    for layer in found["layers"]:
        sign = "✓" if layer["holds"] else "✗"
        say(f"  {sign} {layer['name']}: {layer['detail']}", markup=False)
    for problem in found["problems"]:
        say(f"! {problem}", markup=False)
    if found["open"]:
        say("Open to every account of this machine, which matters where students have one:", markup=False)
    for each in found["open"]:
        say(f"  {each['mode']} {each['path']}: {each['remedy']}", markup=False, soft_wrap=True)
    say(
        "This machine can grade." if found["can_grade"] else "This machine cannot grade.",
        style="bold",
        markup=False,
    )


def print_cluster(console: Console, found: dict[str, Any]) -> None:
    """Print the examination of a cluster: a paragraph for each worker."""
    say = partial(console.print, markup=False, soft_wrap=True)
    for worker in found["workers"]:
        judges, seconds = worker["judges"], worker.get("seconds")
        speed = f", {1000 * seconds:.0f} ms for a confined process with a small cell" if seconds else ""
        at = f"{worker['worker']} on {worker['host']}" if "host" in worker else worker["worker"]
        say(f"{at}: {judges} judge{'s' if judges > 1 else ''}{speed}", style="bold")
        if "level" in worker:
            say(f"  Confinement: {worker['level']}")
        for layer in worker.get("layers", ()):
            if not layer["holds"]:
                say(f"  ✗ {layer['name']}: {layer['remedy']}")
        if worker["problem"]:
            say(f"  ! It is left out: {worker['problem']}.")
    able = f"{found['judges']} judges can grade." if found["can_grade"] else "No worker can grade."
    say(able, style="bold")
