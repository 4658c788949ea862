"""The functions that a course notebook imports.

`check` judges a task where the student works, `after` lets the notebook go on below a demonstration that
a task makes stop.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import sys
import textwrap
import traceback
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from msgspec.structs import replace

from autograder.cell_source import parse_cell
from autograder.jupyter.runs import version, watch

if TYPE_CHECKING:
    from autograder.cards.progress import TaskSoFar
    from autograder.checking.diagnosis.match import Known
    from autograder.checking.remote.submission import Submission
    from autograder.checking.runner.check import CheckResult
    from autograder.checking.runner.checks import Checks
    from autograder.protocol.messages import OfObjects
    from autograder.verdict import CheckVerdict

_MEMORY = "_autograder_checked"
"""The name under which a notebook's namespace holds what was checked."""
_PRINTED_ELSEWHERE = (
    "What your code prints is shown here where a check fails; to see it otherwise, call your code in a cell."
)
_COUNTING = "Positions in these messages are counted from 0, as in Python."
"""A note on the first card of a session that finds a mistake."""
_VALIDATING_WIDTH = 83
"""The longest line that `nbgrader validate` does not cut; its dialog in JupyterLab does not wrap."""


@dataclass(frozen=True)
class Checked:
    """The last check of a task: the points that it showed, and the cell it was for."""

    score: float
    source: str
    holds: bool
    """True if every check passed."""
    call: tuple[OfObjects, ...] = ()
    """The call that failed, behind the messages that make its objects; empty if none did."""
    was_wrong: bool = False
    """True once any check of the task in this session has found a mistake."""


class Interrupted(KeyboardInterrupt):
    """An interruption of a check by the student. A notebook shows the message and no traceback."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return [str(self)]


@contextmanager
def after(*tasks: str) -> Iterator[None]:
    """Run the block; if it stops, say which of the tasks that it needs is not right yet, and go on below it.

    So *Run All* reaches the end of a notebook with any answer. Whatever is raised is shown in one line.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        print(_why_stopped(tasks, error))


def _why_stopped(tasks: Sequence[str], error: BaseException) -> str:
    """Return which task to look at when a demonstration of some tasks stopped, and what was raised where."""
    frames = list(traceback.walk_tb(error.__traceback__))[1:]  # the first is that of `after`
    namespace = frames[0][0].f_globals
    written = [each for each in frames if each[0].f_globals is namespace]
    cards = {
        task: card
        for (_, task), card in namespace.get(_MEMORY, {}).items()
        if card.source == _source(namespace.get(task))
    }
    open_tasks = [task for task in tasks if task not in cards or not cards[task].holds]
    # torch raises `NotImplementedError`, too, but the stub stands in the notebook.
    is_stub = isinstance(error, NotImplementedError) and written[-1] == frames[-1]
    if is_stub or not all(task in namespace for task in tasks):
        return f"Finish {_names(open_tasks or tasks, 'and')} first, then run this cell again."
    wrong = [task for task in open_tasks if task in cards]
    several = len(wrong or open_tasks or tasks) > 1
    if not open_tasks:
        whose = f"the {'cards' if several else 'card'} of {_names(tasks, 'and')}"
        said = f"This cell stopped, although {whose} {'show' if several else 'shows'} no mistake."
    else:
        named = _names(wrong, "and") if wrong else _names(open_tasks, "or")
        verb = "are" if len(wrong) > 1 else "is"
        said = f"{named} {verb} not right yet: see {'their cards' if several else 'its card'}."
    frame, line = written[-1]
    function = frame.f_code.co_qualname.partition(".<locals>")[0]
    where = f"line {line}" if function.startswith("<") else f"`{function}`, line {line}"
    raised = textwrap.shorten("".join(traceback.format_exception_only(error)), 300, placeholder=" …")
    return f"{said}\n    In {where}: {raised}"


def _names(tasks: Sequence[str], last: str) -> str:
    """Return the names of some tasks as a phrase, with "and" or "or" before the last one."""
    names = [f"`{task}`" for task in tasks]
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


@overload
def check(task: str, assignment: str | None = None) -> float: ...
@overload
def check(task: None = None, assignment: str | None = None) -> None: ...
def check(task: str | None = None, assignment: str | None = None) -> float | None:
    """Judge one task of the notebook this is called in, show what was found, and return its points.

    Without a task, list all of the notebook's, each with its points so far. The inputs are public here
    and others when the notebook is graded; checks that run at grading only are left out, and their
    points are taken for granted when everything else holds.
    `assignment` (the notebook's name) is needed only outside a course notebook, where several have a
    task of this name. Below the card the value is not displayed, where a person runs the cell.
    Raises `ValueError` for a task that no notebook has; a notebook shows only its message.
    """
    from autograder.checking.runner.collection import collect
    from autograder.tasks import home_here, home_of, points_in, second_task

    namespace = _namespace()
    if task is None:
        folder = home_here(assignment, namespace)
        _list(folder, collect(folder, points=points_in(folder, namespace)), namespace)
        return None
    folder = home_of(task, assignment, namespace)
    also = second_task(folder, task, assignment, namespace)
    try:
        return _judge(task, folder, collect(folder, points=points_in(folder, namespace)), namespace, also)
    except KeyboardInterrupt:
        raise Interrupted(
            f"Interrupted while `{task}` was checked: run the cell again whenever you like."
        ) from None


def failing(task: str, assignment: str | None = None) -> tuple[Any, ...]:
    """Return the inputs of the call that failed when a task was last checked: never the right answer.

    They are in a tuple, in order: `step(*failing("step"))` makes the call again. For a class an instance
    comes first, made by the class as it is now and filled as in the check: `layer, x = failing("Layer")`.
    `assignment` as for `check`. Raises `ValueError` where no call certainly failed, or no instance can be
    made; a notebook shows only its message.
    """
    from autograder.jupyter.failing import inputs_of
    from autograder.tasks import home_of

    namespace = _namespace()
    checked = _last_checks(namespace).get((home_of(task, assignment, namespace), task))
    return inputs_of(task, checked.call if checked else (), namespace)


def checks_inside(text: str) -> None:
    """Have `check` use the checks in the notebook itself: a cell of a single-file release calls it."""
    from autograder.beside import INSIDE
    from autograder.jupyter.inside import unpacked

    _namespace()[INSIDE] = unpacked(text)


def _judge(task: str, folder: Path, checks: Checks, namespace: dict[str, Any], also: str = "") -> float:
    """Judge a task, show its card, remember its points, and return them as grading may count them.

    `also` is said below the card.
    """
    from autograder.cards.card import card_brief, card_html, card_text, not_judged
    from autograder.cards.progress import progress_line
    from autograder.checking.diagnosis.sealed_hints import opened
    from autograder.checking.explain.habits import habits
    from autograder.checking.runner.check import PUBLIC_SEED
    from autograder.jupyter.elsewhere import remarks
    from autograder.jupyter.failing import how_to_get
    from autograder.jupyter.score import Score, person_asks
    from autograder.tasks import hints_of
    from autograder.verdict import CheckVerdict, TaskVerdict

    source = _source(namespace.get(task))
    here, known = version(task, source, _shell()), _last_checks(namespace)
    if here.stale:
        known.pop((folder, task), None)
        _show(not_judged(task, here.stale), f"{task}: not judged\n    {here.stale}")
        return Score.of(0.0)
    submission = _submission(task, source, checks, namespace)

    def hints(answers: Mapping[str, str]) -> list[Known]:
        return opened(hints_of(folder, namespace), task, answers) if answers else []

    results = checks.run(task, submission, seed=PUBLIC_SEED, include_hidden=False, known=hints)
    unseen = sum(check.points for check in checks.of(task) if check.instead is not None)
    # What a fault of the checks keeps from being judged costs nothing.
    seen = sum(result.check.points for result in results if result.fault is None)
    told = tuple(CheckVerdict.from_result(result) for result in results)
    everything = _all_hold(told)
    verdict = TaskVerdict(task, seen, told, only_graded=unseen)
    used = (
        [] if everything or verdict.unwritten else _used(task, source, checks, submission.connection.called)
    )
    waits_for = _not_holding(used, folder, checks, namespace)
    verdict = replace(verdict, waits_for=waits_for)
    if not waits_for:
        verdict = verdict.diagnosed(hints({each.check: each.answers for each in told if each.answers}))
    told_before = any(each.was_wrong for each in known.values())
    wrong = verdict.first_to_read is not None and not verdict.unwritten and not waits_for
    was_wrong = wrong or ((folder, task) in known and known[folder, task].was_wrong)
    first = verdict.first_to_read
    call = next((each.call for each in results if first and each.check.name == first.check), ())
    known[folder, task] = Checked(verdict.score, source, everything, call, was_wrong)
    printed = submission.connection.printed
    quiet = printed and not any(check.printed for check in verdict.checks)
    counting = _COUNTING if wrong and not told_before else ""
    remark = here.remark if person_asks() else ""
    inputs = how_to_get(task, source, call)
    notes = [note for note in (also, remark, inputs, counting, _PRINTED_ELSEWHERE if quiet else "") if note]
    notes += [habit.message for habit in habits(task, source, printed)] + remarks(source, namespace)
    if len({check.task for check in checks.all}) > 1:
        notes.append(progress_line(_tasks_so_far(folder, checks, namespace)))
    _show(card_html(verdict, *notes), card_text(verdict, *notes))
    if not everything and "NBGRADER_VALIDATING" in os.environ:
        # Of a cell with partial credit `nbgrader validate` and its button show only this.
        print(card_brief(verdict, _VALIDATING_WIDTH), file=sys.stderr)
    return Score.of(verdict.score + (unseen if everything else 0.0))


def _submission(task: str, source: str, checks: Checks, namespace: dict[str, Any]) -> Submission:
    """Return the notebook's objects, as checks of a task reach them."""
    from autograder.checking.remote.submission import Submission
    from autograder.worker.session.calls.limit import Limit
    from autograder.worker.session.executor import Executor

    without = checks.without(task)
    executor = Executor(namespace, Limit(), without=without)
    return Submission(executor.perform, {task: source}, without=without)


def _all_hold(checks: Sequence[CheckVerdict] | Sequence[CheckResult]) -> bool:
    """Return whether every check passed; one with a fault of its own counts as passed."""
    return all(check.outcome == "passed" or check.fault is not None for check in checks)


def _used(task: str, source: str, checks: Checks, called: Collection[str]) -> list[str]:
    """The other tasks of the notebook that the cell of a task names, or that its checks call."""
    tree = parse_cell(source)
    nodes = ast.walk(tree) if tree is not None else ()
    named = {node.id for node in nodes if isinstance(node, ast.Name)}
    used = (named | set(called)) - {task}
    return [name for name in dict.fromkeys(check.task for check in checks.all) if name in used]


def _not_holding(
    tasks: Sequence[str], folder: Path, checks: Checks, namespace: dict[str, Any]
) -> tuple[str, ...]:
    """Return those of the tasks that do not hold: by their last check, or by one that nobody sees."""
    from autograder.checking.runner.check import PUBLIC_SEED

    found = []
    for task in tasks:
        source, known = _source(namespace.get(task)), _last_checks(namespace).get((folder, task))
        if known is None or known.source != source:
            submission = _submission(task, source, checks, namespace)
            results = checks.run(task, submission, seed=PUBLIC_SEED, include_hidden=False, explain=False)
            holds = _all_hold(results)
        else:
            holds = known.holds
        if not holds or version(task, source, _shell()).stale:
            found.append(task)
    return tuple(found)


def _list(folder: Path, checks: Checks, namespace: dict[str, Any]) -> None:
    """Show all tasks of a notebook."""
    from autograder.cards.progress import progress_html, progress_text
    from autograder.tasks import name_of

    tasks = _tasks_so_far(folder, checks, namespace)
    _show(progress_html(name_of(folder), tasks), progress_text(name_of(folder), tasks))


def _tasks_so_far(folder: Path, checks: Checks, namespace: dict[str, Any]) -> list[TaskSoFar]:
    """The tasks of a notebook, each with what is known of it in this session."""
    from autograder.cards.progress import TaskSoFar
    from autograder.tasks import about, efforts_in, in_order

    found, efforts = [], efforts_in(folder, namespace)
    for task in in_order(folder, (check.task for check in checks.all), namespace):
        mine = checks.of(task)
        known = _last_checks(namespace).get((folder, task))
        source = _source(namespace.get(task))
        found.append(
            TaskSoFar(
                task,
                about(folder, task),
                max_score=sum(check.points for check in mine),
                only_graded=sum(check.points for check in mine if check.instead is not None),
                earned=known.score if known else None,
                changed=known is not None
                and (known.source != source or bool(version(task, source, _shell()).stale)),
                effort=efforts.get(task, ""),
            )
        )
    return found


def _last_checks(namespace: dict[str, Any]) -> dict[tuple[Path, str], Checked]:
    """The last check of each task in this session, kept where `%reset` clears it with all else."""
    found: dict[tuple[Path, str], Checked] = namespace.setdefault(_MEMORY, {})
    return found


def _namespace() -> dict[str, Any]:
    """The notebook's namespace, or the caller's module outside one."""
    shell = _shell()
    if shell is not None:
        return shell.user_ns
    return sys._getframe(2).f_globals


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def _source(made: Any) -> str:
    """The source of the whole cell that defines the task: what the task uses may stand beside it."""
    # Python knows no file of a class in a notebook, but it does of its methods.
    every = list(vars(made).values()) if isinstance(made, type) else [made]
    files = [each.__code__.co_filename for each in map(_undecorated, every) if inspect.isfunction(each)]
    return next(filter(None, ("".join(linecache.getlines(file)) for file in files)), "")


def _undecorated(made: Any) -> Any:
    try:
        return inspect.unwrap(made)
    except ValueError:  # a loop of wrappers
        return made


def _show(page: str, text: str) -> None:
    if _shell() is None:
        print(text)
        return
    from IPython.display import display

    display({"text/html": page, "text/plain": text}, raw=True)


watch(_shell())
