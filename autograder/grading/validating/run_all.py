"""*Run All* with wrong answers: whatever its tasks do, a notebook is to reach its end."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import nbformat

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.rebuild import rebuild
from autograder.grading.building.source import MAY_FAIL, SourceCell
from autograder.grading.building.stopped import stopped_at, with_demonstrations
from autograder.grading.judging.attempt import Attempt
from autograder.grading.judging.jobs import Setting

if TYPE_CHECKING:
    from autograder.checking.runner.checks import Checks

WRONG = {
    "raises": 'raise RuntimeError("wrong")',
    "returns None": "return None",
    "returns another shape": "import torch; return torch.zeros(7, 11, 13)",
    "changes its arguments": """for each in [*locals().values()]:
  if hasattr(each, "new_zeros"): each.data = each.data.new_zeros(7, 11, 13)""",
}
"""Ways in which all tasks of a notebook are wrong, and what then is the body of each function."""


@dataclass(frozen=True)
class RunAll:
    """The job of running the notebook, demonstrations and all, with all tasks wrong in the same way.

    The result has the error of each cell that stopped and is no answer, by the cell's place.
    """

    way: str
    """One of `WRONG`; `""` for the notebook as it is released."""

    def run(self, setting: Setting, checks: Checks) -> dict[int, dict[str, str | list[str]]]:
        bundle = with_demonstrations(setting.bundle)
        answers = bundle.solution if self.way else {}
        wrong = {task: _wrong(task, source, self.way) for task, source in answers.items()}
        rebuilt = rebuild(bundle.with_answers(wrong), bundle)
        with Attempt(rebuilt, setting.workers, bundle.files) as attempt:
            attempt.enter(None)
            ran = attempt.ran
        return {
            step.index: output
            for step in rebuilt.steps
            if step.role == "run" and step.index not in ran.given_up
            for output in ran.outputs[step.index]
            if output["output_type"] == "error"
        }


def stops(
    bundle: Bundle, errors: Mapping[RunAll, Mapping[int, dict[str, str | list[str]]]], file: str
) -> Iterator[tuple[str, str]]:
    """Yield the place of each cell that wrong answers stop, and what is to be said of it.

    What stops in the released notebook as well is not due to them: `build` has looked at that.
    """
    told = set(errors[RunAll("")])
    cells = bundle.skeleton().cells
    for job, stopped in errors.items():
        for index in sorted(stopped.keys() - told):
            told.add(index)
            cell = SourceCell(index + 1, cells[index], file)
            if MAY_FAIL not in cell.tags:
                place, reason = stopped_at(cell, nbformat.from_dict(stopped[index]))
                yield place, f"Run All ends here where every task {job.way}: {reason}"


def _wrong(task: str, source: str, way: str) -> str:
    """Return the source of a solution cell in which every function does what `way` says, or else the task."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # prose, or a line for IPython
        return source
    body = ast.parse(f"def wrong():\n {WRONG[way]}").body[0]
    assert isinstance(body, ast.FunctionDef)
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name="__init__") if way != "raises":
                node.body = ast.parse("super().__init__()").body
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                node.body = body.body
            case ast.Assign([ast.Name(name)]) if name == task and way != "raises":
                node.value = ast.parse('__import__("torch").zeros(7, 11, 13)', mode="eval").body
    return ast.unparse(tree)
