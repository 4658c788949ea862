"""Collects check files: pytest imports them and finds their checks, and is done before any is run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import invalidate_caches
from pathlib import Path
from typing import Any

import pytest

from autograder.checking.runner.check import (
    Broken,
    ChecksBroken,
    Collected,
    asked_by,
    broken_check,
    line_of_check,
    read_check,
    task_of,
)
from autograder.checking.runner.checks import Checks
from autograder.checking.runner.handed_out_file import goes_out
from autograder.checking.runner.isolation import apart_from_other_sessions

_OPTIONS = [
    *("-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "no:logging"),
    *("-p", "no:warnings", "-p", "no:unraisableexception", "-p", "no:threadexception", "-s"),
    *("--noconftest", "--import-mode=importlib", "-c", os.devnull),
    *("-o", "python_files=test_*.py hidden_*.py"),
]


def collect(folder: Path, *, shown_as: str = "", points: Mapping[str, float] | None = None) -> Checks:
    """Collect the check files of a folder, which costs tens of milliseconds; a run of them costs a few.

    `shown_as` is where their author has them, if the folder is a copy: for what is told of their faults.
    `points` are those that the notebook gives to its tasks, to be dealt out to their checks. Raises
    `ChecksBroken` when they cannot be collected.
    """
    plugin = _Collector()
    # The root is above the folder, so that two folders' files of one name are two modules.
    with apart_from_other_sessions(), _files_beside(folder):
        pytest.main([*_OPTIONS, f"--rootdir={folder.parent}", str(folder)], plugins=[plugin])
    if plugin.broken:
        first = plugin.broken[0]
        raise ChecksBroken(f"{first.file.name} stops with {first.told}", plugin.broken)
    if plugin.interrupted:
        raise KeyboardInterrupt
    if plugin.items is None:
        raise ChecksBroken(f"no checks could be collected in {shown_as or folder}")
    items = [item for item in plugin.items if isinstance(item, pytest.Function)]
    items.sort(key=lambda item: not goes_out(item.path.name))  # the hidden ones build on the others
    names: dict[str, dict[int, str]] = {}
    for item in items:
        _refuse_second(item, names.setdefault(task_of(item.path), {}))
        names[task_of(item.path)][id(item.function)] = item.originalname
    found = [_read(item, names[task_of(item.path)]) for item in items]
    for item, each in zip(items, found, strict=True):
        _refuse_needs(item, each, names[each.check.task])
    return Checks(_after_needed(found), folder, shown_as, points)


@contextmanager
def _files_beside(folder: Path) -> Iterator[None]:
    """Let check files import the files beside them by name, each folder its own: `from given import …`.

    A module of such a name that a student's notebook, or another folder, has imported is put back.
    """
    names = {path.stem for path in folder.glob("*.py")} - sys.stdlib_module_names
    others = {name: sys.modules.pop(name) for name in names & sys.modules.keys()}
    sys.path.insert(0, str(folder))
    invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(others)


def _read(item: pytest.Function, names: Mapping[int, str]) -> Collected:
    """Return a collected test as a check; `ChecksBroken` where it is none."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    check = read_check(item.function, item.path, names, parameters)
    marks = [mark.name for mark in item.iter_markers() if mark.name != "parametrize"]
    if marks:
        told = f"`{item.name}` in {item.path.name} has pytest's mark `{marks[0]}`, which means nothing here"
        raise broken_check(item.function, item.path, told)
    return Collected(check, item.name, item.obj, asked_by(item.obj), dict(parameters), item.path)


def _refuse_second(item: pytest.Function, names: Mapping[int, str]) -> None:
    """Raise `ChecksBroken` for a check whose name another one of the task has in its other file."""
    if item.originalname in names.values() and id(item.function) not in names:
        told = f"`{item.originalname}` is a check of `{task_of(item.path)}` already: give it another name"
        if not goes_out(item.path.name):
            told += ", or if it was imported, name it by a text where it is needed"
        raise broken_check(item.function, item.path, told)


def _refuse_needs(item: pytest.Function, each: Collected, names: Mapping[int, str]) -> None:
    """Raise `ChecksBroken` for a needed check that the task does not have."""
    known = list(names.values())
    for needed in (f"test_{name}" for name in each.check.needs):
        if needed not in known:
            near = get_close_matches(needed, known, n=1)
            meant = f" (did you mean `{near[0]}`?)" if near else ""
            told = f"needs `{needed}`, which is no check of `{each.check.task}`{meant}"
            raise broken_check(item.function, item.path, f"`{item.originalname}` {told}")


def _after_needed(found: Sequence[Collected]) -> list[Collected]:
    """Return checks in the order of their files, but each behind those that it needs."""
    waiting, order = list(found), list[Collected]()
    while waiting:
        still = {(each.check.task, each.check.name) for each in waiting}
        needed = ({(each.check.task, name) for name in each.check.needs} for each in waiting)
        first = next((each for each, names in zip(waiting, needed, strict=True) if not still & names), None)
        if first is None:
            each = waiting[0]
            told = f"`test_{each.check.name}` needs a check that, in the end, needs it, too"
            raise broken_check(each.function, each.path, told)
        waiting.remove(first)
        order.append(first)
    return order


class _Collector:
    """A plugin that keeps what pytest collects, and has none of it run."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] | None = None
        self.interrupted = False
        self.broken: list[Broken] = []
        """The check files that could not be collected, and why."""
        self._read: tuple[object, Path] | None = None
        """The function whose parameters pytest has read last, in this import, and its file."""

    def pytest_keyboard_interrupt(self) -> None:
        self.interrupted = True

    def pytest_exception_interact(
        self, node: pytest.Item | pytest.Collector, call: pytest.CallInfo[Any]
    ) -> None:
        if call.when == "collect" and call.excinfo is not None:
            raised = call.excinfo.value
            # Pytest wraps some errors in a text of its own.
            cause = raised.__cause__ if isinstance(raised, pytest.Collector.CollectError) else None
            self._keep(node.path, cause or raised)

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        """Keep what is no `Exception`, as the `SystemExit` of a file that is meant to be run."""
        files = (Path(entry.path) for entry in excinfo.traceback)
        file = next((file for file in files if file.name.startswith(("test_", "hidden_"))), Path())
        self._keep(file, excinfo.value)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        self._read = metafunc.function, metafunc.definition.path

    def _keep(self, file: Path, error: BaseException) -> None:
        function, its_file = self._read or (None, None)
        line = line_of_check(function, file) if function is not None and its_file == file else 0
        self.broken.append(Broken(file, f"{type(error).__name__}: {error}", line, error))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = list(session.items)
        return True
