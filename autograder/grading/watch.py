"""Watching a course while its author writes: every saved file is looked at, and what has changed is built."""

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from multiprocessing.context import ForkProcess
from pathlib import Path

import watchfiles

import autograder.exercises
import autograder.grading.build  # what the forks need, imported once
from autograder.grading.building.examine import examine, notebooks_of
from autograder.grading.course.course import Course
from autograder.grading.course.problem import Unfit

Act = Callable[[str], None]
_LEFT_FOR_A_WHILE = (*watchfiles.DefaultFilter.ignore_entity_patterns, r"^[.~]")
"""The names of files that editors and Python write beside a saved one."""


def watch_course(course: Course, named: list[str], build: Act, tell: Act) -> None:
    """Build the named assignments, or all, and each again when it is saved, until the user interrupts.

    `build` tells what came of one assignment. A save ends the builds under way, and they begin again.
    """
    written = course.folder("source", ".", "."), course.catalogue_path("x").parent, autograder.exercises.HOME
    places = [folder for folder in written if folder.is_dir()]
    shown = [str(each.relative_to(course.root)) for each in places if each.is_relative_to(course.root)]
    tell(f"Watching {', '.join(shown)}; Ctrl-C ends it.")
    matters = watchfiles.DefaultFilter(ignore_entity_patterns=_LEFT_FOR_A_WHILE)
    fork = multiprocessing.get_context("fork")  # has everything imported, and no check file of before an edit
    work, names = fork.Process(), list[str]()
    with suppress(KeyboardInterrupt):
        for saves in chain([()], watchfiles.watch(*places, watch_filter=matters)):
            paths = [Path(path) for _, path in saves]
            if changed := [name for name in _assignments_of(course, paths) if not named or name in named]:
                unfinished = names if _interrupted(work) else []
                names = list(dict.fromkeys(changed + unfinished))
                work = fork.Process(target=_look_at_and_build, args=(course, names, build, tell))
                work.start()
    _interrupted(work)
    tell("Stopped watching.")


def _assignments_of(course: Course, paths: list[Path]) -> list[str]:
    """Return the assignments that paths name, by themselves or by their notebooks; all, if that is none."""
    words, every = {word for path in paths for word in (*path.parts, path.stem)}, course.assignments()
    return [
        name for name in every if words & {name, *(each.stem for each in notebooks_of(course, name))}
    ] or every


def _interrupted(work: ForkProcess) -> bool:
    """Interrupt a fork, and return whether it was at work."""
    at_work = work.is_alive()
    if at_work:
        work.terminate()
        work.join()
    return at_work


def _look_at_and_build(course: Course, names: list[str], build: Act, tell: Act) -> None:
    os.setsid()  # the terminal's Ctrl-C is for the watcher, who passes it on
    with suppress(KeyboardInterrupt):
        found = {name: examine(course, [name]) for name in names}
        for name, problems in sorted(found.items(), key=lambda each: not each[1]):  # first what is wrong
            said = f"{time.strftime('%H:%M:%S')} {name}:"
            if problems:
                print(said, Unfit(problems), sep="\n", file=sys.stderr)
            else:
                tell(f"{said} nothing is wrong in its files; building")
                build(name)
