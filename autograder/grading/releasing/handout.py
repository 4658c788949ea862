"""The files that make a release complete, beside the notebook that nbgrader generates.

Hints of the known mistakes, and where a course has checks of its own, these as students get them. To make
them, each known mistake is tried on the public inputs, which takes seconds; so they are kept, and used again
while all that they depend on is the same.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder import __version__
from autograder.checking.diagnosis.sealed_hints import FILE as HINTS
from autograder.checking.runner.handed_out_file import KEPT_FOR_GRADING
from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.course.course import Course
from autograder.grading.course.places import Places
from autograder.grading.course.template import checkout
from autograder.grading.judging.judge_pool import LocalJudges, cores
from autograder.grading.records.store import one_writer, write_whole
from autograder.grading.workers.forkserver import ForkServer
from autograder.tasks import OWN


@dataclass(frozen=True)
class Handout:
    """The material that goes out with an assignment's notebook."""

    files: Mapping[str, str]
    """Texts by their path in the release."""
    recorded: str = ""
    """The part of the packaged checks that is handed out besides their text; `""` for a course's own."""

    def write(self, release: Path) -> None:
        """Put the files into a release that nbgrader has generated, and take out what is not to be there."""
        for name, text in self.files.items():
            write_whole(release / name, text)
        if HINTS not in self.files:
            (release / HINTS).unlink(missing_ok=True)
        shutil.rmtree(release / OWN / "__pycache__", ignore_errors=True)  # compiled from the whole checks
        if left := sorted(path for pattern in KEPT_FOR_GRADING for path in release.rglob(pattern)):
            raise UserError(
                f"{left[0]} is kept for grading, and would go out with the release: take it away."
            )


def handout(
    course: Course, bundle: Bundle, judges: LocalJudges | None = None, *, anew: bool = False
) -> Handout:
    """Return the material that goes out with an assignment, made now, or kept from before unless `anew`.

    Raises `UserError` where it cannot be made: a known mistake that cannot be tried, a check that cannot be
    kept back.
    """
    key, path = _key(bundle), course.root / ".autograder" / "handouts" / f"{bundle.assignment}.json"
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["key"] == key and not anew:
            return Handout(kept["files"], kept["recorded"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    if not any(part.has_checks for part in bundle.parts):
        return Handout({})
    from autograder.grading.releasing.trying import made_by_trying

    # Of packaged checks, only a checkout keeps what their references give.
    noted = bool(bundle.own_checks) or course.root == checkout()
    parent = judges or LocalJudges(ForkServer(preload=bundle.preload), cores())
    try:
        made = Handout(
            *made_by_trying(bundle, parent, Places(course, bundle.assignment, bundle.notebook), noted)
        )
    finally:
        if judges is None:
            parent.workers.close()
    with one_writer(course):
        text = json.dumps({"key": key, "files": made.files, "recorded": made.recorded}) + "\n"
        write_whole(path, text, course.access)
    return made


def _key(bundle: Bundle) -> str:
    mistakes = tuple(mistake for part in bundle.parts for mistake in part.mistakes)
    parts = (__version__, bundle.judging_digest(), repr(mistakes))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
