"""The known mistakes as edits of the solution that was built last, for judging a source that has been edited.

Edits of a solution that is wrong itself would say nothing: each answers as it does where it changes nothing.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import nbformat
from nbformat import NotebookNode

from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.cells import grade_id, is_solution
from autograder.grading.assignment.instead import without_instead
from autograder.grading.course.course import Course
from autograder.grading.judging.judge import MistakesOf
from autograder.grading.records.known import tried_when_needed
from autograder.grading.workers.forkserver import ForkServer

if TYPE_CHECKING:
    from autograder.checking.runner.checks import Checks


def tried_as_built(
    course: Course, bundle: Bundle, seed: int, checks: Checks, workers: ForkServer
) -> MistakesOf:
    """The mistakes of a task, tried when they are first asked for; none where nothing fit was built."""
    solution = _built_solution(course, bundle)
    with suppress(UserError):  # a catalogue that fits the source as it is now, and not as it was
        mistakes = course.mistakes(bundle.assignment, solution)
        return tried_when_needed(replace(bundle, solution=solution, mistakes=mistakes), seed, checks, workers)
    return lambda task: ()


def solved_notebook(course: Course, bundle: Bundle) -> NotebookNode:
    """The solved notebook of the last build; an error of whatever kind where there is none."""
    folder = course.folder("solution", ".", bundle.assignment)
    return nbformat.read(folder / f"{bundle.notebook}.ipynb", as_version=4)


def _built_solution(course: Course, bundle: Bundle) -> dict[str, str]:
    """The cells of the solved notebook by task; none if there is no such notebook, or a task is not in it."""
    try:
        cells = solved_notebook(course, bundle).cells
    except Exception:  # whatever may have become of a file that is made anew by every build
        return {}
    found = {grade_id(cell): without_instead(cell["source"]) for cell in cells if is_solution(cell)}
    return found if found.keys() >= bundle.tasks.keys() else {}
