"""Running a source notebook in a stock kernel, as a student would, by nbgrader."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import nbformat
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbgrader.apps import NbGraderAPI
from nbgrader.converters import GenerateSolution
from nbgrader.converters.base import BaseConverter
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from nbgrader.utils import determine_grade

from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.cells import check_task, is_grade, is_solution
from autograder.grading.building.generating import KeepsReason
from autograder.grading.building.source import MAY_FAIL, SourceCell
from autograder.grading.building.stopped import shown_by, stopped_at
from autograder.grading.course.course import Course
from autograder.grading.judging.own_tests import earned_points


def generate_solution(
    course: Course, bundle: Bundle, source: str, outputs_of: NotebookNode | None = None
) -> bytes:
    """Run a source notebook in a stock kernel, as a student would; refuse what does not run cleanly.

    `source` is how the source notebook is called in a refusal. With `outputs_of`, a notebook with the same
    code that was run before, its outputs are taken and nothing is run.
    """
    api = NbGraderAPI(course.directory, config=course.config)
    app = _WithoutGradebook(coursedir=course.directory, parent=api)
    assignment = bundle.assignment
    course.directory.assignment_id, course.directory.notebook_id = assignment, bundle.notebook
    app.force = True
    told, ended = course.root / "kernel.log", list[SourceCell]()
    running = _telling(told, ended, source) if outputs_of is None else _taking(outputs_of)
    app.preprocessors = [running if each is Execute else each for each in app.preprocessors]
    app.log.setLevel(logging.CRITICAL)
    try:
        app.start()
    except SystemExit as error:
        raise UserError(
            f"{source}: nbgrader could not generate the solution of {assignment}: the notebook does not run."
        ) from error
    except Exception as error:
        place = ended[0].where() if ended else source
        reason = "this cell ends the kernel" if ended else app.reason(error)
        last = told.read_text(errors="replace").strip().rpartition("\n")[2] if told.is_file() else ""
        reason += f" (its last words: {last})" if last else ""
        raise UserError(
            f"{place}: nbgrader could not generate the solution of {assignment}: {reason}"
        ) from error
    path = course.folder("solution", ".", assignment) / f"{bundle.notebook}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for number, cell in enumerate(notebook.cells, 1):
        if cell["cell_type"] != "code":
            continue
        here = SourceCell(number, cell, source)
        stopped = next((each for each in cell["outputs"] if each["output_type"] == "error"), None)
        if stopped is not None and MAY_FAIL not in here.tags:
            where, reason = stopped_at(here, stopped)
            raise UserError(f"{where}: {assignment} cannot be released: in a notebook, {reason}")
        if is_grade(cell) and not is_solution(cell):
            score, maximum = determine_grade(cell)
            if not check_task(cell):
                score = earned_points(cell)  # a warning takes nothing away
            if score != maximum:
                raise UserError(
                    f"{here.where()}: {assignment} cannot be released: in a notebook, it gives its solution "
                    f"{score} of {maximum} points, though grading gives all of them. It shows:\n"
                    f"{shown_by(cell)}"
                )
        cell["outputs"] = _with_streams_joined(cell["outputs"])
    made = (str(nbformat.writes(notebook)) + "\n").encode()
    path.write_bytes(made)
    return made


class _WithoutGradebook(KeepsReason, GenerateSolution):
    """nbgrader's command for a stage whose assignment no gradebook knows: making one takes seconds."""

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        BaseConverter.init_assignment(self, assignment_id, student_id)


def _telling(file: Path, ended: list[SourceCell], source: str) -> type[Execute]:
    """Return a step that runs a notebook as nbgrader does; `ended` gets the cell that ends the kernel.

    The kernel complains to a file: one that is stopped while it runs a cell prints a traceback of its own,
    where a sentence is promised.
    """

    class QuietExecute(Execute):
        kernel_name = "python3"  # this environment's: a notebook may name one of its author's machine
        shutdown_kernel = "immediate"  # half a second earlier: nothing is left for it to do

        def start_new_kernel(self, **options: Any) -> None:
            with file.open("wb") as log:
                super().start_new_kernel(stderr=log, **options)

        def preprocess(self, *notebook: Any, **options: Any) -> Any:
            try:
                return super().preprocess(*notebook, **options)
            finally:
                # nbclient leaves a kernel alone whose start was interrupted, and it would go on making files.
                kernel = getattr(getattr(self.km, "provisioner", None), "process", None)
                if kernel is not None:
                    kernel.kill()
                    kernel.wait()

        def preprocess_cell(self, cell: NotebookNode, resources: Any, index: int) -> Any:
            try:
                return super().preprocess_cell(cell, resources, index)
            except DeadKernelError:
                ended.append(SourceCell(index + 1, cell, source))
                raise

    return QuietExecute


def _taking(ran: NotebookNode) -> type[NbGraderPreprocessor]:
    """Return a step that takes the outputs of a notebook with the same code, in place of running it."""

    class TakeOutputs(NbGraderPreprocessor):
        def preprocess(self, nb: NotebookNode, resources: Any) -> Any:
            code = [[cell for cell in each.cells if cell["cell_type"] == "code"] for each in (nb, ran)]
            for cell, before in zip(*code, strict=True):
                cell["outputs"], cell["execution_count"] = before["outputs"], before["execution_count"]
            nb["metadata"] = ran["metadata"]
            return nb, resources

    return TakeOutputs


def _with_streams_joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Return what a cell printed in one piece: the kernel sends it in pieces that depend on the moment."""
    joined: list[NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if (
            last is not None
            and output["output_type"] == last["output_type"] == "stream"
            and output["name"] == last["name"]
        ):
            last["text"] += output["text"]
        else:
            joined.append(output)
    return joined
