"""Watching a course while its author writes: every saved file is looked at, and what has changed is built.

All work is done in forks of this process, which has everything imported: they begin at once, and what a check
file was before it was edited stays with the fork that imported it. Texts are looked at while something is
being built; builds come one after the other.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

import watchfiles

# What the forks need, imported once for all of them.
import autograder.grading.build
from autograder.errors import UserError
from autograder.grading.assignment.bundle import packaged_checks
from autograder.grading.building.examine import examine, notebook_of
from autograder.grading.course.course import Course
from autograder.grading.course.problem import Unfit

_WAIT_MILLISECONDS = 200
"""The time between two looks at whether a build has ended; a saved file is noticed at once."""
_FAILED = 1
Build = Callable[[Course, list[str]], None]


def watch_course(course: Course, named: list[str], build: Build, tell: Callable[[str], None]) -> None:
    """Build the named assignments, or all, and each again when it is saved, until the user interrupts.

    `build` tells what came of it, and raises `UserError` for what must not be released.
    """
    assert autograder.grading.build
    watcher = _Watcher(course, named, build, tell)
    places = _places(course)
    shown = ", ".join(
        str(each.relative_to(course.root)) for each in places if each.is_relative_to(course.root)
    )
    tell(f"Watching {shown}; Ctrl-C ends it.")
    begun = False
    try:
        for changes in watchfiles.watch(
            *places,
            watch_filter=_matters,
            debounce=300,
            step=50,
            rust_timeout=_WAIT_MILLISECONDS,
            yield_on_timeout=True,
            raise_interrupt=True,
        ):
            changed = watcher.assignments_of(Path(path) for _, path in changes)
            if not begun:  # only now, when whatever is saved meanwhile is noticed
                changed, begun = watcher.assignments(), True
            if changed:
                watcher.look_at(changed)
            watcher.go_on()
    except KeyboardInterrupt:
        pass
    finally:
        watcher.stop()
    tell("Stopped watching.")


class _Watcher:
    """The assignments that wait to be built, and the fork that is building."""

    def __init__(self, course: Course, named: list[str], build: Build, tell: Callable[[str], None]) -> None:
        self._course, self._named, self._build, self._tell = course, named, build, tell
        self._waiting: list[str] = []
        self._building: int | None = None

    def assignments(self) -> list[str]:
        """Return the assignments that are watched, as they are now."""
        return [name for name in self._course.assignments() if not self._named or name in self._named]

    def assignments_of(self, paths: Iterable[Path]) -> list[str]:
        """Return the assignments whose files have changed: all of them, for a file beside their folders."""
        sources, catalogues = self._course.folder("source", ".", "."), self._course.catalogue_path("x").parent
        changed: set[str] = set()
        for path in paths:
            if path.is_relative_to(sources) and path.parent != sources:
                changed.add(path.relative_to(sources).parts[0])
            elif path.is_relative_to(sources):
                changed.update(self.assignments())
            elif path.parent == catalogues:
                changed.add(path.stem)
            else:
                changed.update(
                    name for name in self.assignments() if _has_checks_in(self._course, name, path)
                )
        return [name for name in self.assignments() if name in changed]

    def look_at(self, assignments: list[str]) -> None:
        """Say what is wrong in the texts of some assignments; those in which nothing is are built next."""
        for name in assignments:
            self._waiting = [other for other in self._waiting if other != name]
            if self._wait(self._fork(partial(_examine, self._course, name))) == 0:
                self._waiting.append(name)

    def go_on(self) -> None:
        """Begin with the next build when the one before has ended."""
        if self._building is not None and _exit_status(self._building) is not None:
            self._building = None
        if self._building is None and self._waiting:
            name = self._waiting.pop(0)
            self._tell(f"{time.strftime('%H:%M:%S')} {name}: nothing is wrong in its files; building")
            self._building = self._fork(partial(self._build, self._course, [name]))

    def stop(self) -> None:
        """End the build that is going on: its files are put in place whole or not at all."""
        if self._building is not None and _exit_status(self._building) is None:
            with suppress(ProcessLookupError):
                os.kill(self._building, signal.SIGINT)
            self._wait(self._building)

    def _fork(self, work: Callable[[], None]) -> int:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _work(work)
        return child

    def _wait(self, child: int) -> int:
        while (status := _exit_status(child)) is None:
            time.sleep(0.02)
        return status


def _work(work: Callable[[], None]) -> None:
    """Do a fork's work, print one sentence for a foreseeable error, and end the fork."""
    os.setsid()  # the terminal's Ctrl-C is for the watcher, who passes it on
    status = 0
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        work()
    except UserError as error:
        print(error, file=sys.stderr)
        status = _FAILED
    except (KeyboardInterrupt, SystemExit):
        status = _FAILED  # it has said so
    except BaseException:
        traceback.print_exc()
        status = _FAILED
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _examine(course: Course, assignment: str) -> None:
    problems = examine(course, [assignment])
    if problems:
        print(f"{time.strftime('%H:%M:%S')} {assignment}:", file=sys.stderr)
        raise Unfit(problems)


def _exit_status(child: int) -> int | None:
    """The exit status of a fork that has ended; `None` if it is at work."""
    with suppress(ChildProcessError):
        ended, status = os.waitpid(child, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if ended else None
    return _FAILED


def _places(course: Course) -> list[Path]:
    """Return the folders an author writes in: notebooks and their checks, catalogues, packaged checks."""
    written = [course.folder("source", ".", "."), course.catalogue_path("x").parent]
    packaged = [
        packaged_checks(path.stem) for name in course.assignments() if (path := notebook_of(course, name))
    ]
    return [folder for folder in dict.fromkeys([*written, *packaged]) if folder.is_dir()]


def _has_checks_in(course: Course, assignment: str, path: Path) -> bool:
    notebook = notebook_of(course, assignment)
    return notebook is not None and path.is_relative_to(packaged_checks(notebook.stem))


def _matters(change: watchfiles.Change, path: str) -> bool:
    """Return whether a changed file matters: those that an editor or Python leaves for a while do not."""
    parts = Path(path).parts
    hidden = any(part.startswith((".", "~")) or part == "__pycache__" for part in parts[-2:])
    return not hidden and not path.endswith(("~", ".swp", ".tmp", ".pyc"))
