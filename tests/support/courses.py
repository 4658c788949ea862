"""Real nbgrader commands on real courses, run as in an environment that nobody activated."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sys.executable).parent
LSTM = "03_lstm_cell"
NOTEBOOK = "lstm_cell.ipynb"
ASSIGNMENTS = ("02_rnn_cell", LSTM)
TASKS = ("lstm_gates", "lstm_cell", "LSTMCell", "copy_from_torch")
CORRUPT = b'{"cells": [{"cell_type": "code", "source": "x'


def run(where: Path, *command: object, seconds: float = 240) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; `nbgrader` and `autograder` are ours, and `PATH` does not lead to them."""
    program, *arguments = map(str, command)
    ours = [sys.executable, "-m", program] if program in ("nbgrader", "autograder", "jupyter") else [program]
    return subprocess.run(
        [*ours, *arguments],
        cwd=where,
        env=environment(where),
        capture_output=True,
        text=True,
        timeout=seconds,
    )


def environment(where: Path) -> dict[str, str]:
    """An almost empty environment: none that is activated, and no settings of whoever runs the tests."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(where),
        "LANG": "C.UTF-8",
        "JUPYTER_PLATFORM_DIRS": "0",
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def done(result: subprocess.CompletedProcess[str]) -> str:
    """The output of a command, which must have succeeded."""
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def copy_course(course: Path, target: Path) -> Path:
    """Copy a course, so that a test may do to it what it likes."""
    shutil.copytree(course, target, symlinks=True)
    return target


def source(assignment: str = LSTM) -> NotebookNode:
    """The source notebook, solutions and all."""
    return nbformat.read(ROOT / "source" / assignment / f"{assignment[3:]}.ipynb", as_version=4)


DEMONSTRATION = nbformat.v4.new_code_cell("print(1)\nprint(2)", metadata={"tags": ["demonstration"]})


def short_source(course: Path, **edits: tuple[str, str]) -> None:
    """The source notebook without its demonstrations, which take most of a build's time, but for one."""
    notebook = source()
    notebook.cells = [
        cell for cell in notebook.cells if "demonstration" not in cell["metadata"].get("tags", [])
    ]
    notebook.cells.append(deepcopy(DEMONSTRATION))
    for name, (find, replace) in edits.items():
        cell = notebook.cells[-1] if name == "demonstration" else named(notebook, name)
        assert find in cell["source"]
        cell["source"] = cell["source"].replace(find, replace)
    nbformat.write(notebook, course / "source" / LSTM / NOTEBOOK)


def released(assignment: str = LSTM) -> NotebookNode:
    return nbformat.read(ROOT / "release" / assignment / f"{assignment[3:]}.ipynb", as_version=4)


def named(notebook: NotebookNode, name: str) -> NotebookNode:
    """The cell with nbgrader's id `name`."""
    return next(
        cell for cell in notebook.cells if cell["metadata"].get("nbgrader", {}).get("grade_id") == name
    )


def with_answers(**answers: str) -> NotebookNode:
    """The solved notebook with other answers in it."""
    notebook = source()
    for name, text in answers.items():
        named(notebook, name)["source"] = text
    return notebook


def hand_in(
    course: Path, student: str, notebook: NotebookNode | bytes, name: str = NOTEBOOK, when: str | None = None
) -> None:
    """Put a notebook where `nbgrader collect` would."""
    folder = course / "submitted" / student / LSTM
    folder.mkdir(parents=True, exist_ok=True)
    raw = notebook if isinstance(notebook, bytes) else nbformat.writes(notebook).encode()
    (folder / name).write_bytes(raw)
    if when is not None:
        (folder / "timestamp.txt").write_text(when)


def gradebook(course: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{course / 'gradebook.db'}", "recurrent-networks")


def marks(course: Path) -> dict[str, dict[str, Any]]:
    """All that the gradebook knows of each student's cells."""
    with gradebook(course) as book:
        found: dict[str, dict[str, Any]] = {}
        for submission in book.assignment_submissions(LSTM):
            (notebook,) = submission.notebooks
            mine = found[submission.student.id] = {
                "late": notebook.late_submission_penalty,
                "at": submission.timestamp,
            }
            for grade in notebook.grades:
                mine[grade.name] = (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
            for comment in notebook.comments:
                mine[f"comment on {comment.name}"] = (comment.auto_comment, comment.manual_comment)
        return found


def totals(course: Path) -> dict[str, float]:
    with gradebook(course) as book:
        return {submission.student.id: submission.score for submission in book.assignment_submissions(LSTM)}


def files(folder: Path, *parts: str) -> dict[str, bytes]:
    """The bytes of every file below some parts of a folder, by path."""
    below = [path for part in parts for path in (folder / part).rglob("*")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in below if path.is_file()}


def everything(course: Path) -> tuple[dict[str, bytes], list[str]]:
    """All that grading may write: the files, and every row of the gradebook that can be read."""
    rows: list[str] = []
    try:
        with sqlite3.connect(f"file:{course / 'gradebook.db'}?mode=ro", uri=True) as book:
            rows = list(book.iterdump())
    except sqlite3.Error:
        pass
    return files(course, "autograded", "verdicts", "feedback", "release"), rows


def one_sentence(result: subprocess.CompletedProcess[str]) -> str:
    """The one thing a failed command said, apart from its progress."""
    lines = [line for line in result.stderr.splitlines() if not re.search(r"INFO\]|WARNING\]|ETA ", line)]
    assert len(lines) == 1, result.stderr
    return lines[0]


def set_db_url(course: Path, url: str) -> None:
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(f"\nc.CourseDirectory.db_url = {url!r}\n")


def student_with_an_exchange(course: Path, folder: Path) -> Path:
    """A student's home in a folder, and beside it an exchange that the course shares with it."""
    home, exchange = folder / "student", folder / "exchange"
    home.mkdir()
    exchange.mkdir()
    exchange.chmod(0o777)
    settings = f'c.Exchange.root = {str(exchange)!r}\nc.CourseDirectory.course_id = "recurrent-networks"\n'
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(settings)
    (home / "nbgrader_config.py").write_text(f"c = get_config()\n{settings}")
    return home
