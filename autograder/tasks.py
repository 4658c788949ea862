"""The tasks of the notebook one is in: where their checks lie, their order, and what each is about."""

from __future__ import annotations

import ast
import difflib
import json
import re
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from autograder.beside import folders, remember, told

OWN = Path("checks")
"""The folder of a course's own checks, beside its notebook."""

_HEADING = re.compile(r"^##? .*$", re.MULTILINE)
_EFFORT = re.compile(r"(★+)\D*(\d+ minutes?)")
"""A task's stars and minutes in a heading."""


class Unknown(ValueError):
    """An unknown or ambiguous task or notebook. A notebook shows the message and no traceback."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return [str(self)]


def home_of(task: str, assignment: str | None, namespace: MutableMapping[str, Any]) -> Path:
    """The folder of checks that has the task; of several, the one most of whose tasks the notebook has.

    Raises `Unknown` for a task that no notebook has.
    """
    if not isinstance(task, str):
        example = f': check("{task.__name__}")' if hasattr(task, "__name__") else ""
        raise Unknown(f"`check` takes the name of a task, in quotes{example}.")
    own = _own_checks(namespace, task)
    if own is not None:
        return own
    if not _packaged(assignment) and any({task, assignment} <= set(_tasks(each)) for each in _packaged(None)):
        raise Unknown(_one_at_a_time(f'check("{task}"), then check("{assignment}")'))
    having = [folder for folder in _packaged_known(assignment) if task in _tasks(folder)]
    if not having:
        raise Unknown(_no_task_message(task, assignment, namespace))
    return max(having, key=lambda folder: sum(name in namespace for name in _tasks(folder)))


def home_here(assignment: str | None, namespace: MutableMapping[str, Any]) -> Path:
    """The folder of checks of the notebook one is in, told by what lies beside it, its name, its tasks.

    Raises `Unknown` where nothing tells.
    """
    own = _own_checks(namespace)
    if own is not None and assignment is None:
        return own
    known = _packaged_known(assignment)
    open_one = {file.stem for file in told(namespace)}
    beside = [{file.stem for file in folder.glob("*.ipynb")} for folder in folders(namespace)]
    for names in ({assignment or ""}, open_one, *beside):
        named = [folder for folder in known if folder.name in names]
        if len(named) == 1:
            return named[0]
    found = [sum(name in namespace for name in _tasks(folder)) for folder in known]
    if not found or not max(found) or found.count(max(found)) > 1:
        names_of_all = _listed([folder.name for folder in _packaged(None)])
        raise Unknown(
            "`check` cannot tell which notebook this is. Name it, as in "
            f'check(assignment="{known[0].name}"); the notebooks are {names_of_all}. '
            f"{_not_beside(namespace)}"
        )
    return known[found.index(max(found))]


def _own_checks(namespace: MutableMapping[str, Any], task: str | None = None) -> Path | None:
    """The folder of checks beside the notebook, if there is one; with a task, if it has checks for it."""
    for folder in folders(namespace):
        tasks = _tasks(folder / OWN)
        if task in tasks or (tasks and task is None):
            remember(namespace, folder)
            return folder / OWN
    return None


def second_task(folder: Path, task: str, assignment: str | None, namespace: MutableMapping[str, Any]) -> str:
    """Return the advice for a call such as `check("a", "b")` whose assignment is a task and was not needed.

    Return `""` if it is no task, or if it was needed to tell which of several notebooks was meant.
    """
    if assignment in (None, task) or assignment not in _tasks(folder):
        return ""
    needless = home_of(task, None, namespace) == folder
    return _one_at_a_time(f'for `{assignment}`, check("{assignment}")') if needless else ""


def _one_at_a_time(call: str) -> str:
    return f"`check` takes one task at a time: {call}."


def name_of(folder: Path) -> str:
    """The name of the notebook whose checks lie in a folder."""
    if _is_packaged(folder):
        return folder.name
    notebooks = sorted(file.stem for file in folder.parent.glob("*.ipynb"))
    return notebooks[0] if len(notebooks) == 1 else "This notebook"


def in_order(
    folder: Path, tasks: Iterable[str], namespace: MutableMapping[str, Any] | None = None
) -> list[str]:
    """The tasks in the order of the notebook beside the checks, or else of the file of hints."""
    names = list(dict.fromkeys(tasks))
    beside = [_checked_in(place, names) for place in _places(folder, namespace)]
    known = max(*beside, _hinted(folder, namespace), key=len)
    return sorted(names, key=lambda task: known.index(task) if task in known else len(known))


def _checked_in(folder: Path, tasks: Sequence[str]) -> list[str]:
    """The tasks as a notebook in a folder checks them, in order; of several, the one with most."""
    best: list[str] = []
    for file in sorted(folder.glob("*.ipynb")):
        text = file.read_text(encoding="utf-8", errors="replace")
        places = {task: text.find(f'"check(\\"{task}\\")') for task in tasks}
        found = sorted((task for task in tasks if places[task] >= 0), key=lambda task: places[task])
        best = max(best, found, key=len)
    return best


def points_in(folder: Path, namespace: MutableMapping[str, Any] | None = None) -> dict[str, float]:
    """The points that the notebook beside packaged checks gives to its tasks, as far as it can be read.

    A course's own checks have the points that their author wrote.
    """
    found: list[dict[str, float]] = [{}]
    for cells in _notebooks(folder, namespace) if _is_packaged(folder) else ():
        with suppress(KeyError, TypeError, AttributeError, ValueError):
            texts = [("".join(cell["source"]).strip(), cell.get("metadata", {})) for cell in cells]
            marks = {text: marked.get("nbgrader", {}) for text, marked in texts}
            points = {task: marks.get(f'check("{task}")', {}).get("points") for task in _tasks(folder)}
            found.append({task: float(each) for task, each in points.items() if each is not None})
    return max(found, key=len)


def efforts_in(folder: Path, namespace: MutableMapping[str, Any] | None = None) -> dict[str, str]:
    """The stars and minutes of the tasks, as the headings above them in the notebook have them."""
    found: list[dict[str, str]] = [{}]
    calls = {f'check("{task}")': task for task in _tasks(folder)}
    for cells in _notebooks(folder, namespace):
        efforts, last = dict[str, str](), ""
        with suppress(KeyError, TypeError, AttributeError):
            for cell in cells:
                text = "".join(cell["source"]).strip()
                if cell["cell_type"] == "markdown" and (headings := _HEADING.findall(text)):
                    effort = _EFFORT.search(headings[-1])
                    last = f"{effort[1]}, {effort[2]}" if effort else ""
                elif last and text in calls:
                    efforts[calls[text]], last = last, ""
        found.append(efforts)
    return max(found, key=len)


def _notebooks(folder: Path, namespace: MutableMapping[str, Any] | None) -> Iterator[list[Any]]:
    """Yield the cells of each notebook that may be the one of these checks."""
    for file in (file for place in _places(folder, namespace) for file in place.glob("*.ipynb")):
        with suppress(OSError, ValueError, KeyError, TypeError):
            cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
            yield cells if isinstance(cells, list) else []


def _hinted(folder: Path, namespace: MutableMapping[str, Any] | None) -> list[str]:
    """The tasks that the file of hints has, which are in the notebook's order."""
    try:
        return list(json.loads(hints_of(folder, namespace).read_text(encoding="utf-8"))["tasks"])
    except (OSError, ValueError, KeyError, TypeError):
        return []


def hints_of(folder: Path, namespace: MutableMapping[str, Any] | None = None) -> Path:
    """The file of hints for an exercise: beside the notebook, as released, else with the checks."""
    from autograder.checking.diagnosis.sealed_hints import FILE

    beside = [place / FILE for place in _places(folder, namespace)]
    return next((file for file in beside if file.is_file()), folder / FILE)


def _places(folder: Path, namespace: MutableMapping[str, Any] | None) -> list[Path]:
    """Return the folders that may hold the notebook of these checks: a course's own checks lie beside it."""
    return folders(namespace) if _is_packaged(folder) else [folder.parent]


def _is_packaged(folder: Path) -> bool:
    import autograder.exercises

    return folder.parent == autograder.exercises.HOME


def about(folder: Path, task: str) -> str:
    """The description of a task: the first paragraph of its file of checks; `""` if there is none."""
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
    """The package's folders of checks. Raises `Unknown` if there is none for the assignment."""
    folders = _packaged(assignment)
    if not folders:
        names = [folder.name for folder in _packaged(None)]
        raise Unknown(
            f'There is no notebook "{assignment}".{_nearest(assignment, names)} Notebooks: {_listed(names)}.'
        )
    return folders


def _no_task_message(task: str, assignment: str | None, namespace: MutableMapping[str, Any]) -> str:
    """The message that no notebook has a task, and which may be meant: of this notebook, else of any."""
    said = f'There is no task "{task}".'
    try:
        here = home_here(assignment, namespace)
    except Unknown:
        known = _packaged(assignment)
        meant = _nearest(task, [name for folder in known for name in _tasks(folder)])
        if not meant or task in namespace:  # what is defined is no slip of the pen
            return f"{said} {_not_beside(namespace)}"
        lines = [f"  {folder.name}: {_listed(in_order(folder, _tasks(folder)))}" for folder in known]
        return "\n".join([f"{said}{meant} Tasks by notebook:", *lines])
    names = in_order(here, _tasks(here), namespace)
    return f"{said}{_nearest(task, names)} Tasks of {name_of(here)}: {_listed(names)}."


def _not_beside(namespace: MutableMapping[str, Any]) -> str:
    """Return the message that a notebook's own checks were not found, and where they were looked for."""
    looked = _listed([str(folder) for folder in folders(namespace)] or ["no folder: the working one is gone"])
    return (
        f"If a folder {OWN}/ came with the notebook, it is not next to the notebook (looked in {looked}): "
        "put it there, or run the cell with `checks_inside` if the notebook has one, then run this cell "
        "again."
    )


def _nearest(name: str | None, names: Sequence[str]) -> str:
    """A question that names the nearest of some names, in any case; `""` if none is near."""
    folded = {each.casefold(): each for each in names}
    near = difflib.get_close_matches((name or "").casefold(), folded, n=1)
    return f' Did you mean "{folded[near[0]]}"?' if near else ""


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _tasks(folder: Path) -> Sequence[str]:
    """The tasks that a folder has checks for, spelled as there, whatever the file system thinks of case."""
    return [file.stem.removeprefix("test_") for file in sorted(folder.glob("test_*.py"))]
