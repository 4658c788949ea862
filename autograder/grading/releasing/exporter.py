"""An exporter by which nbgrader's own Generate makes a whole release, hints and students' checks included.

nbgrader has a hook that runs after the conversion, but passes over what fails in it and reports success. An
exporter's failure is the assignment's: nothing is released then.
"""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import ClearSolutions

from autograder.checking.runner.handed_out_file import KEPT_FOR_GRADING
from autograder.errors import UserError
from autograder.grading.assignment.images import without_unused
from autograder.grading.assignment.instead import released_instead
from autograder.grading.course.course import Course
from autograder.grading.releasing.handout import handout
from autograder.grading.releasing.page import write_page

_PYTHON = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
"""The kernel of a release whose source names none, as one that jupytext made."""


class ClearOrReplaceSolutions(ClearSolutions):
    """nbgrader's step that replaces each solution: by what it says itself, else by the stub."""

    def _replace_solution_region(self, cell: Any, language: str) -> bool:
        written, marks = cell.source, (self.begin_solution_delimeter, self.end_solution_delimeter)
        cell.source = released_instead(written, *marks)
        replaced = bool(cell.source != written)
        return super()._replace_solution_region(cell, language) or replaced


class ReleasedNotebook(NotebookExporter):
    """An exporter of the released notebook alone, as a build proves it."""

    def register_preprocessor(self, preprocessor: Any, enabled: bool = False) -> Any:
        step = ClearOrReplaceSolutions if preprocessor is ClearSolutions else preprocessor
        return super().register_preprocessor(step, enabled)

    def from_notebook_node(self, nb: Any, resources: Any = None, **kwargs: Any) -> Any:
        # Without one, every student is asked to choose a kernel.
        nb.metadata.setdefault("kernelspec", _PYTHON)
        return super().from_notebook_node(nb, resources, **kwargs)

    def _preprocess(self, nb: Any, resources: Any) -> Any:
        cleared, resources = super()._preprocess(nb, resources)
        for cell in cleared.cells:
            without_unused(cell)
        return cleared, resources


class ReleaseExporter(ReleasedNotebook):
    """An exporter that puts beside a released notebook what goes out with it.

    nbgrader makes it first, then copies the assignment's other files, and lets it convert the notebook.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if isinstance(self.parent, GenerateAssignment):
            _course_of(self.parent).make_gradebook_file()  # it is opened later
            # Not copied at all: whatever ends the conversion, they are not in the release. Formgrader's other
            # converters have the same directory, and are to copy what students hand in.
            self.parent.coursedir = where = copy(self.parent.coursedir)
            where.ignore = [*where.ignore, *KEPT_FOR_GRADING]

    def from_filename(self, filename: str, resources: Any = None, **kwargs: Any) -> Any:
        output, resources = super().from_filename(filename, resources=resources, **kwargs)
        if isinstance(self.parent, GenerateAssignment):
            try:
                self._complete(self.parent, resources["nbgrader"], str(output))
            except UserError as error:
                self.parent.log.error(str(error))
                raise NbGraderException(str(error)) from None
        return output, resources

    def _complete(self, converter: Any, names: Any, released: str) -> None:
        course = _course_of(converter)
        notebooks = sorted(course.folder("source", ".", names["assignment"]).glob("*.ipynb"))
        if names["notebook"] != notebooks[-1].stem:
            return  # the others are not there yet
        bundle = course.bundle(names["assignment"], {names["notebook"]: released})
        made = handout(course, bundle)
        made.write(course.folder("release", ".", names["assignment"]))
        write_page(course, names["assignment"])


def _course_of(converter: Any) -> Course:
    return Course(Path(converter.coursedir.root), converter.config, converter.coursedir)
