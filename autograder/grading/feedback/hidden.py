"""Hidden tests of an instructor's own, kept off the page: their text, and what their cell showed of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import ClearHiddenTests
from traitlets import List

from autograder.grading.assignment.cells import is_grade, is_solution
from autograder.grading.judging.own_tests import lines_met

FAILED = "A hidden test of this cell failed."


class WithoutHiddenTests(ClearHiddenTests):
    """nbgrader's `ClearHiddenTests`, for a test cell's outputs, too, and for test cells alone.

    An error is shown if its traceback leads through the cell's visible lines only. What else such a cell
    shows is left out: a student's print there tells what the hidden tests call.
    """

    # nbconvert's own page exporter sets it for all preprocessors; nbgrader's class warns of that.
    display_data_priority: List = List().tag(config=True)

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if not is_grade(cell) or is_solution(cell):
            return cell, resources  # a student may write the delimiters, and nbgrader would stop at them
        lines = cell.source.split("\n")
        hidden = self._hidden(lines)
        if hidden and cell.cell_type == "code":
            cell.outputs = [shown for output in cell.outputs if (shown := _shown(output, lines, hidden))]
        return super().preprocess_cell(cell, resources, cell_index)

    def _hidden(self, lines: Sequence[str]) -> set[int]:
        """The numbers of the lines that nbgrader takes out, from 1."""
        hidden: set[int] = set()
        inside = False
        for number, line in enumerate(lines, 1):
            begins, ends = (each in line for each in (self.begin_test_delimeter, self.end_test_delimeter))
            if inside or begins or ends:
                hidden.add(number)
            inside = begins or (inside and not ends)
        return hidden


def _shown(output: NotebookNode, lines: Sequence[str], hidden: set[int]) -> NotebookNode | None:
    """Return what is shown of an output of a cell with hidden lines; `None` for nothing."""
    if output.output_type == "error":
        places = set(lines_met(output.traceback, lines, hidden))
        if places and not places & hidden:
            return output
        return new_output("error", ename="", evalue=FAILED, traceback=[FAILED])
    # Ours alone is HTML: of what students show, only text and images are kept.
    return output if "text/html" in output.get("data", {}) else None
