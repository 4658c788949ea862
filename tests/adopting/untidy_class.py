"""An untidy class: what honest students and their tools do to nbgrader's example assignment.

Each of them has solved it, but for those whose row says otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from tests.support.intake import zipped

SQUARES = (
    "def squares(n):\n    if n < 1:\n        raise ValueError\n    return [i ** 2 for i in range(1, n + 1)]"
)
ANSWERS = {
    "squares": SQUARES,
    "sum_of_squares": "def sum_of_squares(n):\n    return sum(squares(n))",
    "sum_of_squares_equation": "$\\sum_{i=1}^n i^2$",
    "sum_of_squares_application": "def pyramid(n):\n    return sum_of_squares(n)",
    "part-a": "Fibonacci numbers – für alle ganzen Zahlen ab 0.",
    "part-b": "Negative ones never end.",
}
Cell = dict[str, Any]
Notebook = dict[str, Any]
Files = dict[str, bytes]


def name_of(cell: Cell) -> str:
    return str(cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", ""))


def named(data: Notebook, name: str) -> Cell:
    return next(cell for cell in data["cells"] if name_of(cell) == name)


def raw(data: Notebook) -> bytes:
    return json.dumps(data, indent=1, ensure_ascii=False).encode()


def code(source: str) -> Cell:
    return {
        "cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None
    }  # fmt: skip


def text(source: str, kind: str = "markdown") -> Cell:
    return {"cell_type": kind, "source": source, "metadata": {}}


@dataclass(frozen=True)
class Work:
    """The two notebooks of the assignment, as one student hands them in."""

    one: Notebook
    two: Notebook
    untouched: Notebook
    """The first of them as it was released."""

    @classmethod
    def solved(cls, release: Path) -> Work:
        one, two = (json.loads((release / f"problem{number}.ipynb").read_text()) for number in (1, 2))
        made = cls(one, two, deepcopy(one))
        return made.each(lambda cell: cell.update(source=ANSWERS.get(name_of(cell), "".join(cell["source"]))))

    def each(self, change: Callable[[Cell], Any]) -> Work:
        """Change every cell."""
        for cell in (*self.one["cells"], *self.two["cells"]):
            change(cell)
        return self

    def files(self, one: str = "problem1.ipynb", two: str = "problem2.ipynb") -> Files:
        return {one: raw(self.one), two: raw(self.two)}

    def bytes_of(self, change: Callable[[bytes], bytes]) -> Files:
        return {name: change(each) for name, each in self.files().items()}

    def insert(self, after: str, *cells: Cell) -> Work:
        at = self.one["cells"].index(named(self.one, after)) + 1
        self.one["cells"][at:at] = cells
        return self

    def drop(self, *names: str) -> Work:
        self.one["cells"] = [cell for cell in self.one["cells"] if name_of(cell) not in names]
        return self

    def answer(self, name: str, source: str) -> Work:
        named(self.one, name)["source"] = source
        return self


@dataclass(frozen=True)
class Student:
    """One student: the way of handing in, and the right outcome."""

    make: Callable[[Work], Files]
    score: float | None = 3
    """The points of test cells; `None` where none may be recorded."""
    waits: float = 10
    """The points that wait for a person."""
    status: tuple[str, str] = ("graded", "graded")
    kinds: tuple[str, ...] = ()
    """The kinds of findings."""
    says: str = ""
    """A part of what is told first."""
    prepare: Callable[[Path], object] = field(default=lambda folder: None)
    """A last change to the folder."""


def without_marks(work: Work) -> Work:
    """Take nbgrader's metadata and all ids away, as some services do."""
    return work.each(lambda cell: (cell["metadata"].clear(), cell.pop("id", None)))


def with_ids(work: Work, ids: Callable[[int], str] = "cell-{}".format) -> Work:
    for data in (work.one, work.two):
        data["nbformat_minor"] = 5
        for number, cell in enumerate(data["cells"]):
            cell["id"] = ids(number)
    return work


def about(work: Work, name: str, **metadata: Any) -> Work:
    """Give both notebooks the metadata of a tool, and a kernel of this name."""
    kernel = {"name": name, "display_name": name, "language": "python"}
    for data in (work.one, work.two):
        data["metadata"] = {"kernelspec": kernel, **metadata}
    return work


def colab(work: Work) -> Work:
    more = {"id": "Fz8dYx", "outputId": "0a1b2c", "colab": {"base_uri": "https://localhost:8080/"}}
    about(work, "python3", colab={"provenance": [], "toc_visible": True}, accelerator="GPU")
    return work.each(lambda cell: cell["metadata"].update(more))


def vs_code(work: Work) -> Work:
    about(work, "python3", vscode={"interpreter": {"hash": "31f2aee4"}}, orig_nbformat=4)
    return with_ids(work.each(lambda cell: cell["metadata"].update(vscode={"languageId": "python"})))


def kaggle(work: Work) -> Work:
    about(without_marks(work), "python3", kaggle={"dataSources": []}, papermill={"version": "2.6.0"})
    more = {
        "_uuid": "8f2839f2",
        "_cell_guid": "b1076dfc",
        "trusted": True,
        "papermill": {"status": "completed"},
    }
    # Kaggle puts a cell of its own in front.
    work.one["cells"].insert(0, code("import numpy as np # linear algebra\nimport os"))
    return work.each(lambda cell: cell["metadata"].update(more))


def deepnote(work: Work) -> Work:
    about(without_marks(work), "python3", deepnote={}, deepnote_execution_queue=[])
    more = {"cell_id": "00001-9f", "deepnote_cell_type": "code", "tags": []}
    return work.each(lambda cell: cell["metadata"].update(more))


def lite(work: Work) -> Work:
    mode = {"codemirror_mode": {"name": "python", "version": 3}, "version": "3.11", "name": "python"}
    return with_ids(about(work, "pyodide-kernel", language_info=mode))


def version(work: Work, minor: int) -> Work:
    for data in (work.one, work.two):
        data["nbformat_minor"] = minor
    return work if minor < 5 else with_ids(work)


def version_3(work: Work) -> Files:
    def old(data: Notebook) -> bytes:
        return json.dumps(nbformat.convert(nbformat.from_dict(data), 3)).encode()

    return {"problem1.ipynb": old(work.one), "problem2.ipynb": old(work.two)}


def bare(work: Work) -> Files:
    """Write only what a cell cannot be without."""

    def strip(cell: Cell) -> None:
        for name in ("outputs", "execution_count"):
            cell.pop(name, None)
        if not cell["metadata"]:
            del cell["metadata"]

    work.each(strip)
    for data in (work.one, work.two):
        data["metadata"] = {}
    return work.files()


def lists(work: Work) -> Files:
    return work.each(lambda cell: cell.update(source=cell["source"].splitlines(keepends=True))).files()


def lines_end(work: Work, end: str) -> Files:
    """End all lines so, in the file and in the cells."""
    work.each(lambda cell: cell.update(source=cell["source"].replace("\n", end)))
    return work.bytes_of(lambda each: each.replace(b"\n", end.encode()))


def copied(cell: Cell, source: str) -> Cell:
    """A copy of a cell as JupyterLab makes one: nbgrader's metadata is that of the first."""
    return {**deepcopy(cell), "source": source}


def split(work: Work) -> Files:
    """Split an answer into its helper, itself and an example, as JupyterLab does."""
    cell = named(work.one, "squares")
    cell["source"] = "def square(x):\n    return x ** 2"
    answer = SQUARES.replace("i ** 2", "square(i)")
    return work.insert("squares", copied(cell, answer), copied(cell, "print(squares(3))")).files()


def merged(work: Work) -> Files:
    """Merge an answer with the cells below it, its tests as well."""
    below = ["squares(10)", named(work.one, "correct_squares")["source"]]
    work.answer("squares", "\n\n".join([SQUARES, *below]))
    return work.drop("correct_squares").files()


def merged_upwards(work: Work) -> Files:
    """Merge an answer into the test cell above it, whose metadata stays."""
    both = [named(work.one, name)["source"] for name in ("squares_invalid_input", "sum_of_squares")]
    return work.answer("squares_invalid_input", "\n\n".join(both)).drop("sum_of_squares").files()


def tried_in_a_copy(work: Work) -> Files:
    cell = named(work.one, "correct_squares")
    return work.insert(
        "correct_squares", copied(cell, "print(squares(2))\nassert squares(2) == [1, 4]")
    ).files()


def formatted(work: Work) -> Files:
    """Format all code, as an editor does on saving."""

    def change(cell: Cell) -> None:
        if cell["cell_type"] == "code":
            cell["source"] = (
                cell["source"].replace(" ** ", "**").replace("del squares\n", "del squares\n\n") + "\n"
            )

    return work.each(change).files()


def conflict(data: bytes) -> bytes:
    """Merge two versions of a file, as git leaves it."""
    line = b'   "source": '
    return data.replace(line, b"<<<<<<< HEAD\n" + line + b'"mine"\n=======\n' + line, 1).replace(
        b"\n  },", b"\n>>>>>>> 4f5d\n  },", 1
    )


MARKS = SQUARES.replace("    return", "<<<<<<< HEAD\n    return") + "\n=======\n    return []\n>>>>>>> 4f5d"
PAGE = b"<!DOCTYPE html>\n<html><head><title>problem1</title></head><body>Sign in</body></html>"


def checkpoint(work: Work) -> Files:
    right = work.files()
    work.answer("squares", "def squares(n):\n    return [1]")
    return {**right, ".ipynb_checkpoints/problem1-checkpoint.ipynb": raw(work.one)}


def only_checkpoint(work: Work) -> Files:
    return work.files(one=".ipynb_checkpoints/problem1-checkpoint.ipynb")


def packed(work: Work) -> Files:
    inner = {f"homework/{name}": each for name, each in work.files().items()}
    return {
        "homework.zip": zipped(
            {**inner, "__MACOSX/homework/._problem1.ipynb": b"\0", "homework/.DS_Store": b"\0"}
        )
    }


def copy_beside_the_release(work: Work) -> Files:
    return {**work.files(one="problem1-Copy1.ipynb"), "problem1.ipynb": raw(work.untouched)}


def crowd(work: Work) -> Files:
    more = ("__MACOSX/._problem1.ipynb", ".DS_Store", "Thumbs.db", "notes/plan.txt", "Zeichnung (1).png")
    return {**work.files(), **dict.fromkeys(more, b"\0\1")}


def broken(change: Callable[[bytes], bytes], says: str) -> Student:
    """A student whose first notebook cannot be read."""
    return Student(
        lambda w: {**w.files(), "problem1.ipynb": change(raw(w.one))},
        None, 13, ("corrupt", "graded"), ("corrupt",), says,
    )  # fmt: skip


def linked(folder: Path) -> None:
    path = folder / "problem1.ipynb"
    path.rename(folder.parent / "elsewhere.ipynb")
    path.symlink_to("../elsewhere.ipynb")


GONE, LOST, BOTH = ("missing", "graded"), ("graded", "missing"), ("missing", "missing")
OTHER, FOREIGN = ("other_name",), ("other_notebook",)
CLASS: Mapping[str, Student] = {
    # Names.
    "tidy": Student(Work.files),
    "browser": Student(lambda w: w.files("problem1 (1).ipynb", "problem2 (1).ipynb"), kinds=OTHER),
    "capitals": Student(lambda w: w.files("Problem1.ipynb", "PROBLEM2.IPYNB"), kinds=OTHER),
    "own-name": Student(lambda w: w.files("problem1_Jürgen Müller.ipynb", "Müller 2.ipynb"), kinds=OTHER),
    "text": Student(lambda w: w.files(one="problem1.ipynb.txt"), kinds=OTHER),
    "checkpoint": Student(checkpoint),
    "only-checkpoint": Student(only_checkpoint, 0, 3, GONE, ("missing",), "no file `problem1.ipynb`"),
    "swapped": Student(
        lambda w: w.files("problem2.ipynb", "problem1.ipynb"),
        None, 13, BOTH, FOREIGN, "notebook of ps1/problem2",
    ),
    "same-twice": Student(
        lambda w: {**w.files(), "problem2.ipynb": raw(w.one)}, 3, 7, LOST, FOREIGN, "notebook of ps1/problem1"
    ),
    "one-of-two": Student(lambda w: {"problem1.ipynb": raw(w.one)}, 3, 7, LOST, ("missing",)),
    "packed": Student(packed, kinds=OTHER),
    "zip-renamed": Student(
        lambda w: {"problem1.ipynb": packed(w)["homework.zip"]}, kinds=OTHER, says="is an archive, not a"
    ),
    "copy": Student(copy_beside_the_release, kinds=OTHER, says="is as it was released"),
    "scratch": Student(lambda w: {**w.files(), "scratch.ipynb": raw({**w.one, "cells": [code("1 + 1")]})}),
    "crowd": Student(crowd),
    # Tools.
    "colab": Student(lambda w: colab(w).files()),
    "colab-bare": Student(lambda w: colab(without_marks(w)).files()),
    "vs-code": Student(lambda w: vs_code(w).files()),
    "kaggle": Student(lambda w: kaggle(w).files()),
    "kaggle-name": Student(lambda w: kaggle(w).files("notebook5d1a.ipynb", "notebook7c.ipynb"), kinds=OTHER),
    "deepnote": Student(lambda w: deepnote(w).files()),
    "essay-in-two": Student(
        lambda w: kaggle(w.insert("sum_of_squares_equation", text("That is all."))).files(),
        kinds=("missing_cell", "answer_beside"),
    ),
    "lite": Student(lambda w: lite(w).files()),
    # Formats.
    **{f"4.{minor}": Student(lambda w, minor=minor: version(w, minor).files()) for minor in (0, 1, 2, 4, 5)},
    "3": Student(version_3),
    "no-ids": Student(lambda w: [each.update(nbformat_minor=5) for each in (w.one, w.two)] and w.files()),
    "same-ids": Student(lambda w: with_ids(w, lambda _: "one").files()),
    "bare": Student(bare),
    "lists": Student(lists),
    "bom": Student(lambda w: w.bytes_of(lambda each: b"\xef\xbb\xbf" + each)),
    "windows-lines": Student(lambda w: lines_end(w, "\r\n")),
    "mac-lines": Student(lambda w: lines_end(w, "\r")),
    "utf-16": Student(lambda w: w.bytes_of(lambda each: each.decode().encode("utf-16"))),
    # Cells.
    "no-tests": Student(lambda w: w.drop("correct_squares", "squares_invalid_input").files()),
    "no-answer": Student(lambda w: w.drop("squares").files(), 0.5, kinds=("missing_cell",), says="not found"),
    "reversed": Student(lambda w: [w.one["cells"].reverse()] and w.files()),
    "added": Student(
        lambda w: w.insert("squares", code("x = 2"), text("My idea."), text("raw", "raw"), code("")).files()
    ),
    "split": Student(split, kinds=("duplicate_cell",)),
    "merged": Student(merged),
    "merged-upwards": Student(merged_upwards),
    "tried": Student(tried_in_a_copy),
    "formatted": Student(formatted),
    "conflict-in-cell": Student(
        lambda w: w.answer("squares", MARKS).files(), 0, kinds=("conflict",),
        says="The cell `squares` holds the marks of a merge conflict",
    ),
    "tab": Student(
        lambda w: w.answer("squares", SQUARES.replace("    return", "  \treturn")).files(),
        0, kinds=("indentation",),
        says="The cell `squares` stops: TabError",
    ),
    # Files that cannot be read.
    "conflict": broken(conflict, "the marks of a merge conflict (line "),
    "cut-off": broken(lambda each: each[:-700], "is cut off at its end"),
    "damaged": broken(lambda each: each.replace(b'"cells": [', b'"cells": [,'), "is damaged in line 2"),
    "empty-file": broken(lambda each: b"", "is empty"),
    "web-page": broken(lambda each: PAGE, "is a web page, not a Jupyter notebook"),
    "windows-1252": broken(
        lambda each: each.replace(b"sum", "für".encode("windows-1252")), "is not text in UTF-8"
    ),
    # Files and folders.
    "nothing": Student(lambda w: {}, None, 13, BOTH, ("missing",)),
    "link": Student(Work.files, 0, 3, GONE, ("missing",), "is a link, not a notebook", prepare=linked),
    "read-only": Student(Work.files, prepare=lambda folder: (folder / "problem1.ipynb").chmod(0o444)),
    "windows-time": Student(
        lambda w: {**w.files(), "timestamp.txt": "\ufeff2026-03-01 10:45:00 +0100\r\n".encode()}
    ),
}  # fmt: skip
