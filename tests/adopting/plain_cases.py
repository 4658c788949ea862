"""Plain notebooks to grade with nbgrader and with ours: nbgrader's own, and what honest courses hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import nbgrader
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.support.courses import named

THEIRS = Path(nbgrader.__file__).parent
GUIDE = THEIRS / "docs" / "source" / "user_guide"
FILES = THEIRS / "tests" / "apps" / "files"
OTHER_FILES = THEIRS / "tests" / "preprocessors" / "files"


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


@dataclass(frozen=True)
class Work:
    """What one student hands in: a file of nbgrader's, or the release with other answers and more cells."""

    file: Path | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)
    """Code cells to add, each after the cell of that name."""
    without: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()
    """Cells that are deleted, and cells that are there a second time."""
    beside: Mapping[str, str] = field(default_factory=dict)

    def notebook(self, released: NotebookNode) -> NotebookNode:
        if self.file is not None:
            return read(self.file)
        for name, source in self.answers.items():
            named(released, name)["source"] = source
        for name, source in self.after.items():
            at = released.cells.index(named(released, name)) + 1
            released.cells.insert(at, new_code_cell(source))
        for name in self.twice:
            at = released.cells.index(named(released, name))
            released.cells.insert(at, NotebookNode(released.cells[at], id=f"again-{name}"))
        released.cells = [
            cell for cell in released.cells
            if cell["metadata"].get("nbgrader", {}).get("grade_id") not in self.without
        ]  # fmt: skip
        return released


@dataclass(frozen=True)
class Case:
    """An assignment of one notebook, and who handed it in."""

    source: NotebookNode
    students: Mapping[str, Work]
    beside: Mapping[str, str] = field(default_factory=dict)


def marked(
    cell: NotebookNode, name: str, points: float | None = None, *, solution: bool = False
) -> NotebookNode:
    cell["metadata"]["nbgrader"] = {
        "schema_version": 3, "grade": points is not None, "grade_id": name, "locked": not solution,
        "solution": solution, "task": False, **({} if points is None else {"points": points}),
    }  # fmt: skip
    return cell


def task(name: str, solution: str, stub: str = "") -> NotebookNode:
    return marked(
        new_code_cell(f"{stub}### BEGIN SOLUTION\n{solution}\n### END SOLUTION"), name, solution=True
    )


def asserts(name: str, points: float, source: str) -> NotebookNode:
    return marked(new_code_cell(source), name, points)


def notebook(*cells: NotebookNode) -> NotebookNode:
    made = new_notebook(cells=list(cells))
    made["metadata"]["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def own(solution: str, tests: str, *students: str, points: float = 2, **more) -> Case:
    """A task `t`, its test cell, and a student for each answer: `s0`, `s1`, …"""
    cells = (task("t", solution), asserts("test", points, tests))
    return Case(
        notebook(*cells), {f"s{i}": Work(answers={"t": each}) for i, each in enumerate(students)}, **more
    )


def simple_source() -> NotebookNode:
    """The source of nbgrader's `submitted-*.ipynb`, of which only released and submitted forms are there."""
    made = read(FILES / "submitted-unchanged.ipynb")
    for name, solution in {"set_a": "a = 1", "quux": "b = 2", "baz": "An answer!"}.items():
        cell = named(made, name)
        cell["source"] = solution if name == "baz" else f"### BEGIN SOLUTION\n{solution}\n### END SOLUTION"
    return made


def theirs() -> dict[str, Case]:
    """The notebooks of nbgrader's."""
    found = {}
    for name in ("problem1", "problem2"):
        works = {
            who: Work(GUIDE / "submitted" / who / "ps1" / f"{name}.ipynb") for who in ("bitdiddle", "hacker")
        }
        found[f"guide-{name}"] = Case(read(GUIDE / "source" / "ps1" / f"{name}.ipynb"), works)
    submitted = {path.stem[10:]: Work(path) for path in sorted(FILES.glob("submitted-*.ipynb"))}
    submitted |= {
        f"p-{path.stem[10:]}": Work(path) for path in sorted(OTHER_FILES.glob("submitted-*type*.ipynb"))
    }
    found["submitted"] = Case(simple_source(), submitted)
    for kind in ("simple", "hashed", "multi", "hidden"):
        works = {path.stem[9:]: Work(path) for path in sorted(FILES.glob(f"autotest-{kind}-*.ipynb"))}
        found[f"autotest-{kind}"] = Case(read(FILES / f"autotest-{kind}.ipynb"), works)
    loop = read(FILES / "infinite-loop.ipynb").cells[0]["source"]
    long, effects, deep = (
        read(folder / f"{name}.ipynb").cells[0]["source"]
        for folder, name in ((OTHER_FILES, "long-output"), (FILES, "side-effects"), (OTHER_FILES, "infinite-recursion"))
    )  # fmt: skip
    added = {"loop": loop, "long": long, "effects": effects, "deep": deep}
    found["added"] = Case(
        simple_source(),
        {name: Work(answers={"set_a": "a = 1"}, after={"set_a": source}) for name, source in added.items()},
    )
    sleeping = read(FILES / "timeout.ipynb")
    named(sleeping, "squares")["source"] = "### BEGIN SOLUTION\ndef foo():\n    return True\n### END SOLUTION"
    slow = named(read(FILES / "timeout.ipynb"), "squares")["source"]
    found["timeout"] = Case(sleeping, {"slow": Work(answers={"squares": slow})})
    hidden = read(FILES / "test-hidden-tests.ipynb")
    solutions = {
        "squares": "    if n < 1:\n        raise ValueError\n    return [i ** 2 for i in range(1, n + 1)]\n",
        "sum_of_squares": "    return sum(squares(n))\n",
    }
    given = {}
    for name, solution in solutions.items():
        cell = named(hidden, name)
        given[name] = cell["source"].replace("    ### BEGIN SOLUTION\n    ### END SOLUTION\n", "")
        head, _, _ = cell["source"].partition("    ### BEGIN SOLUTION")
        cell["source"] = f"{head}    ### BEGIN SOLUTION\n{solution}    ### END SOLUTION"
    found["hidden"] = Case(hidden, {"visible-only": Work(answers=given), "nothing": Work()})
    for name in ("test", "test-with-output"):
        found[name] = Case(read(FILES / f"{name}.ipynb"), {"nothing": Work()})
    zero = read(FILES / "validation-zero-points.ipynb")
    wrong = named(zero, "squares")["source"]
    named(zero, "squares")["source"] = "### BEGIN SOLUTION\ndef squares(n):\n    return [n]\n### END SOLUTION"
    found["zero"] = Case(zero, {"wrong": Work(answers={"squares": wrong}), "nothing": Work()})
    found["file"] = Case(
        read(FILES / "open_relative_file.ipynb"), {"as-is": Work(beside={"data.txt": "changed"})},
        {"data.txt": (FILES / "data.txt").read_text()},
    )  # fmt: skip
    found["by-hand"] = Case(
        read(OTHER_FILES / "manually-graded-code-cell.ipynb"),
        {"same": Work(), "other": Work(answers={"foo": "1"})},
    )
    return found


SQUARE, WRONG = "def f(x):\n    return x * x", "def f(x):\n    return 2 * x"
LOOK = "assert f(3) == 9"
WARNED = "    warnings.warn('slow'); "
GRADED = f"import os\nif os.getenv('NBGRADER_EXECUTION') == 'autograde':\n    {LOOK}"


def honest() -> dict[str, Case]:
    """Small notebooks with what the notebooks of honest courses hold."""
    share = "sum(f(x) == x * x for x in range(4)) / 2"
    found = {
        "partial": own(SQUARE, share, SQUARE, WRONG, "def f(x):\n    return -1"),
        "words": own(SQUARE, f"{LOOK}\n'well done'", SQUARE, WRONG),
        "negative": own(SQUARE, f"{LOOK}\n-1", SQUARE),
        "no-value": own(SQUARE, f"{LOOK}\nNone", SQUARE),
        "zero-points": own(SQUARE, LOOK, SQUARE, WRONG, points=0),
        "warned": own(SQUARE, LOOK, f"import warnings\n{SQUARE.replace('    ', WARNED)}"),
        "asked": own(SQUARE, LOOK, f"n = input('Your name? ')\n{SQUARE}", f"{SQUARE}\ninput('And?')"),
        "rich": own(SQUARE, LOOK, *(f"from rich import traceback\ntraceback.install()\n{f}" for f in (SQUARE, WRONG))),
        "flood": own(SQUARE, LOOK, f"{SQUARE}\nfor _ in range(20_000):\n    print('x' * 1000)"),
        "magics": own(
            SQUARE, f"%matplotlib inline\n{LOOK}", f"%%time\n{SQUARE}", f"%matplotlib inline\n%timeit -n1 -r1 1\n{SQUARE}",
            f"import asyncio\nawait asyncio.sleep(0)\n{SQUARE}",
        ),
        "plots": own(
            f"import matplotlib.pyplot as plt\n{SQUARE}", f"plt.plot([1, 2])\n{LOOK}\nplt.gca().lines[0]",
            f"import matplotlib.pyplot as plt\n{SQUARE}\nplt.plot([1])\nplt.show()",
        ),
        "shell": own(
            f"!echo building\n{SQUARE}", f"!echo testing\n{LOOK}", f"!echo hello\n%cd .\n{SQUARE}",
            "def f(x):\n    return int(get_ipython().getoutput('echo 9')[0])",
        ),
        "mode": own(SQUARE, GRADED, SQUARE, WRONG),
        "ended": own(SQUARE, LOOK, f"{SQUARE}\nimport os\nos._exit(1)", f"{SQUARE}\nraise KeyboardInterrupt"),
    }  # fmt: skip
    read_it = "import csv, helper\nrows = [helper.twice(int(a)) for a, in csv.reader(open('data.csv'))]"
    found["files"] = own(
        f"{SQUARE}\n{read_it}", f"{LOOK}\nassert rows == [2, 4]\n{read_it}\nassert rows == [2, 4]", f"{SQUARE}\n{read_it}",
        beside={"data.csv": "1\n2\n", "helper.py": "def twice(x):\n    return 2 * x\n"},
    )  # fmt: skip
    changed = {"data.csv": "1\n3\n", "helper.py": "def twice(x):\n    return 0\n"}
    found["files"].students["s1"] = Work(answers={"t": f"{SQUARE}\n{read_it}"}, beside=changed)
    answer = marked(new_code_cell("### BEGIN SOLUTION\n1\n### END SOLUTION"), "by_hand", 3, solution=True)
    essay = marked(new_markdown_cell("Because."), "essay", 2, solution=True)
    cells = (
        new_code_cell("data = [1, 2, 3]"), task("t", SQUARE), new_markdown_cell("Some text."), asserts("first", 1, LOOK),
        new_code_cell("f(2)"), asserts("second", 1, "assert f(len(data)) == 9"), answer, asserts("third", 1, LOOK), essay,
    )  # fmt: skip
    right = {"t": SQUARE}
    found["cells"] = Case(
        notebook(*cells),
        {
            "untouched": Work(),
            "right": Work(answers={**right, "by_hand": "2", "essay": "So."}),
            "no-test": Work(answers=right, without=("first",)),
            "no-answer": Work(without=("t",)),
            "no-essay": Work(answers=right, without=("essay",)),
            "tests-gone": Work(answers={"t": WRONG, "first": "", "second": "pass"}),
            "beside": Work(answers=right, after={"by_hand": "x = 2"}),
            "undone": Work(answers=right, after={"first": "del f"}),
            "fixed-later": Work(answers={"t": WRONG}, after={"first": SQUARE}),
        },
    )
    # Last, for nbgrader ends here: with its own settings it cannot grade a cell that is there twice.
    found["twice"] = Case(
        notebook(*cells), {"zz": Work(answers={**right, "by_hand": "2"}, twice=("t", "by_hand"))}
    )
    return found
