"""The grading path inside plain `nbgrader autograde` and formgrader's button.

nbgrader converts a submission twice: from `submitted/` to `autograded/`, sanitized, and then again
in place, executed. Here the first conversion rebuilds, runs and judges, and the second only saves
the scores. `SubmissionExporter` reads files as bytes, because a file that is no notebook must get
its verdict, too, and must not end the batch.
"""

from __future__ import annotations

import atexit
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.checking.session import with_checks
from autograder.grading.course import Course
from autograder.grading.judge import Graded, judge
from autograder.grading.store import assignment_seed, fingerprint, save_verdict
from autograder.grading.workers import WarmParent

_RAW = "autograder_raw"
_parents: list[WarmParent] = []


class SubmissionExporter(NotebookExporter):
    """Reads a submission as bytes; what they mean is decided by `GradeOutside`."""

    def from_filename(self, filename: str, resources: Any = None, **kwargs: Any) -> Any:
        if not any(isinstance(each, GradeOutside) for each in self._preprocessors):
            return super().from_filename(filename, resources=resources, **kwargs)
        resources = self._init_resources(resources)
        resources[_RAW] = Path(filename).read_bytes() if Path(filename).is_file() else None
        return self.from_notebook_node(nbformat.v4.new_notebook(), resources=resources, **kwargs)


class GradeOutside(NbGraderPreprocessor):
    """Replaces the notebook by the rebuilt and judged one, and keeps the verdict."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        course = Course.at(Path(self._course_root()))
        marks = resources["nbgrader"]
        bundle = course.bundle(marks["assignment"])
        seed = assignment_seed(course, bundle.assignment)
        raw = resources.pop(_RAW)

        def run(checks: Any) -> Graded:
            return judge(raw, bundle, student=marks["student"], seed=seed, checks=checks, workers=_warm_parent())

        graded = with_checks(bundle.exercise, run)
        save_verdict(course, graded.verdict, fingerprint(raw, bundle, seed))
        return nbformat.reads(graded.notebook, as_version=4), resources

    def _course_root(self) -> str:
        converter = getattr(self.parent, "parent", None)
        directory = getattr(converter, "coursedir", None)
        return directory.root if directory is not None else "."


def _warm_parent() -> WarmParent:
    """One warm parent for all submissions that this process converts."""
    if not _parents:
        _parents.append(WarmParent())
        atexit.register(_parents[0].close)
    return _parents[0]
