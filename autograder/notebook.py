"""What a course notebook imports: `check` to judge a task where the student works, `after` to
hold back a demonstration until the task it needs is written.
"""

from __future__ import annotations

import inspect
import linecache
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def after(*tasks: str) -> Iterator[None]:
    """Run the block, or say which task to write first while one of them still is the released stub.

    Only `NotImplementedError`, which the stub raises, is kept from the reader; every other error shows.
    """
    try:
        yield
    except NotImplementedError:
        names = " and ".join(f"`{task}`" for task in tasks)
        print(f"This needs {names}: write what is still to do, then run this cell again.")


def check(task: str, assignment: str | None = None) -> float:
    """Judge one task of the notebook this is called in, show what was found, and return its points.

    The inputs are public here and others when the notebook is graded; checks that run at grading
    only are left out, and their points are taken for granted when everything else holds.
    `assignment` (the notebook's name) is needed only outside a course notebook, where several have a
    task of this name. Raises `ValueError` for a task that no notebook has.
    """
    from autograder.checking.hints import opened
    from autograder.checking.session import PUBLIC_SEED, Checks, with_checks
    from autograder.checking.submission import Submission
    from autograder.grading.verdict import CheckVerdict, TaskVerdict
    from autograder.reporting.card import card_html, card_text, points
    from autograder.worker.objects import Objects

    namespace = _namespace()
    folder = _exercise(task, assignment, namespace)
    submission = Submission(Objects(namespace).perform, {task: _source(namespace.get(task))})

    def judge(checks: Checks) -> tuple[TaskVerdict, float]:
        results = checks.run(task, submission, seed=PUBLIC_SEED, include_hidden=False)
        unseen = sum(c.points for c in checks.of(task) if c.instead is not None)
        seen = sum(result.check.points for result in results)
        verdict = TaskVerdict(task, seen, tuple(CheckVerdict.from_result(result) for result in results))
        answers = {result.check.name: result.answers for result in results if result.answers is not None}
        return verdict.diagnosed(opened(_hints(folder), task, answers) if answers else []), unseen

    verdict, unseen = with_checks(folder, judge)
    note = f"Grading adds checks worth {points(unseen)} points that are not shown here." if unseen else ""
    _show(card_html(verdict, note), card_text(verdict, note))
    everything = all(check.outcome == "passed" for check in verdict.checks)
    if not everything and "NBGRADER_VALIDATING" in os.environ:
        # `nbgrader validate` shows only this of a cell with partial credit.
        print(card_text(verdict, note), file=sys.stderr)
    return verdict.score + (unseen if everything else 0.0)


def _namespace() -> dict[str, Any]:
    """The notebook's namespace, or the caller's module outside one."""
    shell = _shell()
    if shell is not None:
        return shell.user_ns
    return sys._getframe(2).f_globals


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def _exercise(task: str, assignment: str | None, namespace: Mapping[str, Any]) -> Path:
    """The folder of checks that has the task; of several, the one most of whose tasks the notebook has."""
    import autograder.exercises

    beside = Path("checks")
    if (beside / f"test_{task}.py").is_file():
        return beside.resolve()  # a course's own checks lie beside its notebook
    home = Path(autograder.exercises.__file__).parent
    folders = [file.parent for file in sorted(home.glob(f"*/test_{task}.py")) if file.stem == f"test_{task}"]
    if assignment is not None:
        folders = [folder for folder in folders if folder.name == assignment]
    if not folders:
        known = sorted(
            file.stem.removeprefix("test_")
            for file in home.glob("*/test_*.py")
            if assignment in (None, file.parent.name)
        )
        raise ValueError(f"There is no task {task!r}. Tasks: {', '.join(known)}.")
    return max(
        folders,
        key=lambda folder: sum(
            file.stem.removeprefix("test_") in namespace for file in folder.glob("test_*.py")
        ),
    )


def _hints(folder: Path) -> Path:
    """The file of hints for an exercise: beside the notebook, as released, else in the package."""
    from autograder.checking.hints import FILE

    beside = Path(FILE)
    return beside if beside.is_file() else folder / FILE


def _source(made: Any) -> str:
    """The whole cell that defines the task: what it uses may stand beside it."""
    try:
        return "".join(linecache.getlines(inspect.getsourcefile(made) or ""))
    except (OSError, TypeError):
        return ""


def _show(page: str, text: str) -> None:
    if _shell() is None:
        print(text)
        return
    from IPython.display import display

    display({"text/html": page, "text/plain": text}, raw=True)
