"""A release as nbgrader generates it, and its own reason where it does not."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import BaseCell, Comment, Grade, MissingEntry, Notebook, SourceCell
from nbgrader.apps import NbGraderAPI
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import BaseConverter
from nbgrader.preprocessors import SaveCells
from nbgrader.utils import temp_attrs
from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from autograder.errors import UserError
from autograder.grading.course.course import Course

_KINDS = ("grade", "solution", "task", "source")
"""nbgrader's kinds of cells, as its attributes and methods name them."""


def generate_release(course: Course, assignment: str) -> None:
    """Have nbgrader generate the release. Raises `UserError` with nbgrader's reason."""
    config = deepcopy(course.config)
    tests = config.InstantiateTests.get("autotest_filename", "autotests.yml")
    if not (course.folder("source", ".", assignment) / tests).is_file():
        # nbgrader would look in the working folder, and this command may be called in any.
        config.InstantiateTests.autotest_filename = str(course.root / tests)
    api = NbGraderAPI(course.directory, config=config)
    api.log.setLevel(logging.CRITICAL)
    with temp_attrs(course.directory, assignment_id=assignment):
        app = _Generate(coursedir=course.directory, parent=api)
        app.force = True
        app.preprocessors = [_SaveCells if each is SaveCells else each for each in app.preprocessors]
        try:
            app.start()
        except (Exception, SystemExit) as error:
            reason = app.reason(error)
            source = course.folder("source", ".", assignment)
            place = next((path for path in source.glob("*.ipynb") if path.stem == app.converting), source)
            raise UserError(
                f"{course.told(place)}: nbgrader could not generate the release of {assignment}: {reason}"
            ) from error


class KeepsReason(BaseConverter):
    """An nbgrader command that remembers what stops it: nbgrader itself only says "see the log"."""

    stopped: Exception | None = None
    converting = ""
    """The name of the notebook that is converted, or was last."""

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        with self._keeping():
            super().init_assignment(assignment_id, student_id)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        self.converting = Path(notebook_filename).stem
        with self._keeping():
            super().convert_single_notebook(notebook_filename)

    def reason(self, raised: BaseException) -> str:
        """Return in one line what stopped the command."""
        return " ".join(str(self.stopped or raised).split())

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.stopped = error
            raise


class _Generate(KeepsReason, GenerateAssignment):
    """nbgrader's `generate_assignment`."""


class _SaveCells(SaveCells):
    """nbgrader's recording of a release, which refuses new and removed cells once there are submissions.

    Here these cells change in the submissions, too: what is new gets its points by grading again.
    """

    def _create_notebook(self, nb: NotebookNode) -> None:
        try:
            there = self.gradebook.find_notebook(self.notebook_id, self.assignment_id)
        except MissingEntry:
            there = None
        if there is not None and there.submissions:
            self._change_cells(there)
        super()._create_notebook(nb)

    def _change_cells(self, there: Notebook) -> None:
        db = self.gradebook.db
        gone: list[BaseCell | SourceCell] = []
        new: list[tuple[str, str, dict[str, Any]]] = []
        for kind in _KINDS:
            wanted = getattr(self, f"new_{kind}_cells")
            cells = {cell.name: cell for cell in getattr(there, f"{kind}_cells")}
            gone += [cell for name, cell in cells.items() if name not in wanted]
            new += [(kind, name, wanted[name]) for name in wanted if name not in cells]
        for cell in gone:
            if _by_a_person(db, cell.id):
                raise UserError(
                    f"the cell `{cell.name}` is gone, and a person has given points or a comment for it. Put "
                    "the cell back under its name, or take these away in formgrader first."
                )
        for cell in gone:
            for table in (Grade, Comment):
                db.execute(delete(table).where(table.cell_id == cell.id))
            db.delete(cell)
        db.commit()
        for kind, name, info in new:
            getattr(self.gradebook, f"add_{kind}_cell")(name, self.notebook_id, self.assignment_id, **info)


def _by_a_person(db: Session, cell: str) -> bool:
    """Return whether a person has given points or a comment for a cell in any submission."""
    points = select(Grade.id).where(
        Grade.cell_id == cell, or_(Grade.manual_score.is_not(None), Grade.extra_credit != 0)
    )
    words = select(Comment.id).where(Comment.cell_id == cell, Comment.manual_comment != "")
    return any(db.scalar(asked.limit(1)) is not None for asked in (points, words))
