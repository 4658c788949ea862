"""Follow-on errors: a mistake costs its own task only, also where later answers use the wrong one.

A task that failed is judged once more with right answers in place of the earlier tasks that failed. What
is then right counts. An answer that is written down, as true or false, cannot follow from another's
mistake: to judge it twice would be to let it be guessed twice. No text of the second judging reaches the
student: code that ran beside a solution could have put it there.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec.structs import replace

from autograder.cell_source import parse_cell
from autograder.grading.judging.faults_met import faulty
from autograder.verdict import CheckVerdict, TaskVerdict


def may_follow(task: str, broken: Sequence[str], solution: str) -> bool:
    """Return whether an answer to the task may be wrong because those to the `broken` tasks are.

    The task is a function or class, or its solution mentions one of them.
    """
    tree = parse_cell(solution)
    if tree is None:
        return True
    makers = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    if any(isinstance(node, makers) and node.name == task for node in tree.body):
        return True
    others = set(broken) - {task}
    return any(isinstance(node, ast.Name) and node.id in others for node in ast.walk(tree))


def merged(first: TaskVerdict, second: TaskVerdict, replaced: Sequence[str]) -> TaskVerdict:
    """The judging of a task that brings more points; for the second, the tasks in `replaced` were put right.

    One of the two counts as a whole, with the texts of the first: were the better outcome of each check to
    count, an answer that asks which judging it is in could add up two wrong behaviours. The second's faults
    of checks are taken over in either case.
    """
    names = " and ".join(f"`{name}`" for name in replaced)
    pairs = list(zip(first.checks, second.checks, strict=True))
    if second.score > first.score:
        checks = tuple(_counted(old, new, names) for old, new in pairs)
        note = f"Judged with a correct {names} instead of yours, so that a mistake there costs nothing here."
        return replace(first, checks=checks, note=note)
    if faulty(second):
        return replace(first, checks=tuple(_with_fault(old, new) for old, new in pairs))
    return first


def _with_fault(old: CheckVerdict, new: CheckVerdict) -> CheckVerdict:
    return new if new.outcome == "fault" and old.outcome != "passed" else old


def _counted(old: CheckVerdict, new: CheckVerdict, names: str) -> CheckVerdict:
    """The outcome of the second judging, with what the student may read of it."""
    if "fault" in (old.outcome, new.outcome):
        return _with_fault(old, new)
    if new.outcome == "passed":
        return new.saying("")
    if old.outcome == "passed":
        return new.saying(f"This passes with your {names}, and fails with a correct one.")
    if old.outcome == "skipped" and new.outcome != "skipped":
        return new.saying(f"This fails even with a correct {names}.")
    texts = ("message", "seen", "expected", "difference", "printed")
    return replace(new, **{name: getattr(old, name) for name in texts})
