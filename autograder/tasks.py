"""The tasks of the notebook one is in: where their checks lie, their order, and what each is about."""

from __future__ import annotations

import ast
import difflib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

OWN = Path("checks")
"""Where a course's own checks lie, beside its notebook."""


class Unknown(ValueError):
    """Which task or notebook is meant cannot be told. A notebook shows the message and no traceback."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback."""
        return [str(self)]


def home_of(task: str, assignment: str | None, namespace: Mapping[str, Any]) -> Path:
    """The folder of checks that has the task; of several, the one most of whose tasks the notebook has.

    Raises `Unknown` for a task that no notebook has.
    """
    if not isinstance(task, str):
        example = f': check("{task.__name__}")' if hasattr(task, "__name__") else ""
        raise Unknown(f"`check` takes the name of a task, in quotes{example}.")
    if task in _tasks(OWN):
        return OWN.resolve()
    folders = [folder for folder in _packaged_known(assignment) if task in _tasks(folder)]
    if not folders:
        raise Unknown(_no_task(task, assignment, namespace))
    return max(folders, key=lambda folder: sum(name in namespace for name in _tasks(folder)))


def home_here(assignment: str | None, namespace: Mapping[str, Any]) -> Path:
    """The folder of checks of the notebook one is in, told by what lies beside it, its name, its tasks.

    Raises `Unknown` where nothing tells.
    """
    if _tasks(OWN) and assignment is None:
        return OWN.resolve()
    folders = _packaged_known(assignment)
    for names in ({assignment}, _open_notebook(namespace), {file.stem for file in Path().glob("*.ipynb")}):
        named = [folder for folder in folders if folder.name in names]
        if len(named) == 1:
            return named[0]
    found = [sum(name in namespace for name in _tasks(folder)) for folder in folders]
    if not found or not max(found) or found.count(max(found)) > 1:
        known = _listed([folder.name for folder in _packaged(None)])
        raise Unknown(
            "It cannot be told which notebook this is. Say so, as in "
            f'check(assignment="{folders[0].name}"); the notebooks are {known}.'
        )
    return folders[found.index(max(found))]


def name_of(folder: Path) -> str:
    """What the notebook is called whose checks these are."""
    if folder != OWN.resolve():
        return folder.name
    notebooks = sorted(file.stem for file in folder.parent.glob("*.ipynb"))
    return notebooks[0] if len(notebooks) == 1 else "This notebook"


def in_order(folder: Path, tasks: Iterable[str]) -> list[str]:
    """The tasks in the notebook's order: as the one beside has them, else as the file of hints."""
    known = max(_checked_beside(names := list(dict.fromkeys(tasks))), _hinted(folder), key=len)
    return sorted(names, key=lambda task: known.index(task) if task in known else len(known))


def _checked_beside(tasks: Sequence[str]) -> list[str]:
    """The tasks as a notebook in this folder checks them, in order; of several, the one with most."""
    best: list[str] = []
    for file in sorted(Path().glob("*.ipynb")):
        text = file.read_text(encoding="utf-8", errors="replace")
        places = {task: text.find(f'"check(\\"{task}\\")') for task in tasks}
        found = sorted((task for task in tasks if places[task] >= 0), key=lambda task: places[task])
        best = max(best, found, key=len)
    return best


def _hinted(folder: Path) -> list[str]:
    """The tasks that the file of hints has, which are in the notebook's order."""
    try:
        return list(json.loads(hints_of(folder).read_text(encoding="utf-8"))["tasks"])
    except (OSError, ValueError, KeyError, TypeError):
        return []


def hints_of(folder: Path) -> Path:
    """The file of hints for an exercise: beside the notebook, as released, else with the checks."""
    from autograder.checking.hints import FILE

    beside = Path(FILE)
    return beside if beside.is_file() else folder / FILE


def about(folder: Path, task: str) -> str:
    """What a task is, as the first line of its file of checks says; `""` if it says nothing."""
    try:
        text = ast.get_docstring(ast.parse((folder / f"test_{task}.py").read_text(encoding="utf-8")))
    except (OSError, SyntaxError, ValueError):
        return ""
    return (text or "").partition("\n\n")[0].replace("\n", " ")


def _packaged(assignment: str | None) -> list[Path]:
    """The package's folders of checks; of one assignment, or of all."""
    import autograder.exercises

    folders = sorted({file.parent for file in autograder.exercises.HOME.glob("*/test_*.py")})
    return [folder for folder in folders if assignment in (None, folder.name)]


def _packaged_known(assignment: str | None) -> list[Path]:
    """The same. Raises `Unknown` for an assignment that there is none of."""
    folders = _packaged(assignment)
    if not folders:
        names = [folder.name for folder in _packaged(None)]
        raise Unknown(
            f'There is no notebook "{assignment}".{_meant(assignment, names)} Notebooks: {_listed(names)}.'
        )
    return folders


def _no_task(task: str, assignment: str | None, namespace: Mapping[str, Any]) -> str:
    """That a task is in no notebook, and which one may be meant: of this notebook, else of any."""
    said = f'There is no task "{task}".'
    try:
        here = home_here(assignment, namespace)
    except Unknown:
        folders = _packaged(assignment)
        meant = _meant(task, [name for folder in folders for name in _tasks(folder)])
        lines = [f"  {folder.name}: {_listed(in_order(folder, _tasks(folder)))}" for folder in folders]
        return "\n".join([f"{said}{meant} Tasks by notebook:", *lines])
    names = in_order(here, _tasks(here))
    return f"{said}{_meant(task, names)} Tasks of {name_of(here)}: {_listed(names)}."


def _meant(name: str | None, names: Sequence[str]) -> str:
    """The nearest of some names as a question, upper and lower case being one; `""` if none is near."""
    folded = {each.casefold(): each for each in names}
    near = difflib.get_close_matches((name or "").casefold(), folded, n=1)
    return f' Did you mean "{folded[near[0]]}"?' if near else ""


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _tasks(folder: Path) -> Sequence[str]:
    """The tasks that a folder has checks for, spelled as there, whatever the file system thinks of case."""
    return [file.stem.removeprefix("test_") for file in sorted(folder.glob("test_*.py"))]


def _open_notebook(namespace: Mapping[str, Any]) -> set[str]:
    """The name of the open notebook, where the front end tells: VS Code does, and Jupyter's server."""
    told = (namespace.get("__vsc_ipynb_file__"), os.environ.get("JPY_SESSION_NAME"))
    return {Path(path).stem for path in told if isinstance(path, str) and path.endswith(".ipynb")}
