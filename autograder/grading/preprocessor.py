"""The grading path inside plain `nbgrader autograde` and formgrader's button.

nbgrader converts a submission twice: from `submitted/` to `autograded/`, sanitized, and then again
in place, executed. Here the first conversion rebuilds, runs, judges and records, and nothing is
left for the second. `SubmissionExporter` reads files as bytes, because a file that is no notebook
must get its verdict, too, and must not end the batch.
"""

from __future__ import annotations

import atexit
import os
import re
from fnmatch import fnmatch
from glob import glob
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.checking.remote.errors import WorkerLost
from autograder.errors import UserError
from autograder.grading.assignment.bundle import OPTIMIZERS, Bundle
from autograder.grading.course.course import Course
from autograder.grading.course.gradebook import patient_url
from autograder.grading.handed_in.resolve import unreadable
from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.judge import Graded, judge
from autograder.grading.records.known import kept_mistakes, tried_when_needed
from autograder.grading.records.ready import make_graded_folder, make_ready
from autograder.grading.records.record import check_gradebook, record_failure, record_scores
from autograder.grading.records.store import Key, assignment_seed
from autograder.grading.workers.forkserver import ForkServer

_parents: dict[tuple[str, ...], ForkServer] = {}
"""The fork server of this process, by what it has imported."""
_find_notebooks = Autograde.init_notebooks


def _find_folders(converter: Autograde) -> None:
    """Find what is to be graded, as nbgrader does; folders without a notebook are no error.

    nbgrader ends here, before the course has a say, where no folder holds any notebook: one student who
    handed in an archive, for example. `SubmissionExporter` sees to these folders.
    """
    where = converter.coursedir
    folders = glob(converter._format_source(where.assignment_id, where.student_id))
    ours = issubclass(converter.exporter_class, SubmissionExporter)
    if ours and folders and not any(glob(f"{each}/{where.notebook_id}.ipynb") for each in folders):
        converter.assignments, converter.notebooks = {}, []
    else:
        _find_notebooks(converter)


# No setting of nbgrader's comes before its search.
Autograde.init_notebooks = _find_folders


class SubmissionExporter(NotebookExporter):
    """An exporter that hands submissions to `GradeOutside` as they are: it decides what their bytes mean.

    nbgrader makes one for each run, before it touches anything, so what would stop every submission
    is found here.
    """

    def __init__(self, config: Any = None, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        self.bundles: dict[str, Bundle] = {}
        converter = self.parent
        if isinstance(converter, Autograde):
            self.course = Course(Path(converter.coursedir.root), converter.config, converter.coursedir)
            try:
                self._prepare(converter)
            except UserError as error:
                converter.log.error(str(error))
                raise NbGraderException(str(error)) from None

    def from_filename(self, filename: str, resources: Any = None, **kwargs: Any) -> Any:
        if any(isinstance(each, GradeOutside) for each in self._preprocessors):
            return self.from_notebook_node(nbformat.v4.new_notebook(), resources=resources, **kwargs)
        return super().from_filename(filename, resources=resources, **kwargs)

    def _prepare(self, converter: Autograde) -> None:
        """Check the course, and see to it that a submission without the notebook is graded as such.

        nbgrader passes over a folder without a notebook, and stops at one with a notebook of another name.
        """
        pattern = converter._format_source("(?P<assignment>.*)", "(?P<student>.*)", escape=True)
        for folder in glob(
            converter._format_source(converter.coursedir.assignment_id, converter.coursedir.student_id)
        ):
            found = re.match(pattern, folder)
            if found is None or not Path(folder).is_dir():
                continue
            if not os.access(folder, os.X_OK):
                # nbgrader would take the notebook for missing and give it a 0.
                converter.log.error(
                    f"Not graded: {folder} may not be read. Make it readable, and grade again."
                )
                converter.assignments.pop(folder, None)
                continue
            assignment = found["assignment"]
            if assignment not in self.bundles:
                self.bundles[assignment] = bundle = self.course.bundle(assignment)
                make_ready(self.course, assignment)
                check_gradebook(self.course, bundle)
                make_graded_folder(self.course)
            names = [part.notebook for part in self.bundles[assignment].parts]
            chosen = [name for name in names if fnmatch(name, converter.coursedir.notebook_id)]
            if chosen:
                converter.assignments[folder] = [f"{folder}/{name}.ipynb" for name in chosen]
        # nbgrader itself writes to the gradebook, too, and would give up after five seconds of waiting.
        url = patient_url(str(converter.coursedir.db_url))
        converter.coursedir.db_url = url.render_as_string(hide_password=False)
        # nbgrader stops at a time that it cannot read, and takes 01.03.2026 for the third of January.
        converter.coursedir.get_existing_timestamp = lambda path: self.course.read_timestamp(Path(path))[0]
        for bundle in self.bundles.values():
            _fork_server(bundle)  # where no confinement holds, nothing is run


class GradeOutside(NbGraderPreprocessor):
    """A preprocessor that puts the judged notebook in place of the submitted one, and records its verdict.

    nbgrader converts one notebook after the other: with the first of a submission, all of them are judged.
    """

    _last: tuple[str, str, Graded] | None = None
    """The student and the assignment that were judged last, and the result."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        about = resources["nbgrader"]
        student, assignment, notebook = about["student"], about["assignment"], about["notebook"]
        if self._last is None or self._last[:2] != (student, assignment) or not self._last[2].parts:
            self._last = student, assignment, self._judge_and_record(student, assignment)
        graded = self._last[2]
        if graded.parts:
            graded = next(each for each in graded.notebooks if each.verdict.notebook == notebook)
        return nbformat.reads(graded.notebook, as_version=4), resources

    def _judge_and_record(self, student: str, assignment: str) -> Graded:
        course, bundle = self.parent.course, self.parent.bundles[assignment]
        seed = assignment_seed(course, assignment)
        files = course.handed_in(student, bundle)
        if files.refused:
            raise NbGraderException(f"Not graded: {unreadable(files, bundle, student)}")

        kept = kept_mistakes(course, bundle, seed)
        try:
            with checks_of(bundle) as checks:
                workers = _fork_server(bundle)
                known = tried_when_needed(bundle, seed, checks, workers) if kept is None else kept.get
                graded = judge(
                    files,
                    bundle,
                    student=student,
                    seed=seed,
                    checks=checks,
                    workers=workers,
                    known=lambda task: known(task) or (),
                )
        except WorkerLost:
            _close_parents()  # it may be what failed; the next submission starts another
            raise
        key = Key.of(files, bundle.digest(), seed)
        if graded.verdict.status == "infra_error":
            record_failure(course, bundle, graded.verdict, key)
            raise NbGraderException(graded.verdict.findings[0].message)
        record_scores(course, bundle, graded, key)
        return graded


def _fork_server(bundle: Bundle) -> ForkServer:
    """One fork server for all submissions that this process converts, as long as they need the same."""
    modules = OPTIMIZERS if "torch" in bundle.preload else bundle.preload
    if modules not in _parents:
        _close_parents()
        _parents[modules] = ForkServer(preload=modules)
        atexit.register(_close_parents)
    return _parents[modules]


def _close_parents() -> None:
    while _parents:
        _parents.popitem()[1].close()
