"""Spoiled notebook files: what lies where a notebook should, by accident or on purpose.

A file is made from the released notebook where it tries to gain points, and from the solved one where an
honest student might hand it in and should lose nothing that can be read.
"""

from __future__ import annotations

import copy
import gzip
import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.helpers import cell_named, code_cell, released, solved, submission

TASKS = ("lstm_gates", "lstm_cell", "LSTMCell", "copy_from_torch")


class Spoiled(NamedTuple):
    """One file that is no proper notebook."""

    put: Callable[[Path], object]
    """Puts it where the notebook is expected."""
    status: str
    score: float | None = None
    """None where nothing is judged."""
    finding: str = ""
    """A kind of finding that the verdict must have."""


def _bytes(raw: bytes, status: str, score: float | None = None, finding: str = "") -> Spoiled:
    return Spoiled(lambda path: path.write_bytes(raw), status, score, finding)


def _changed(
    change: Callable[[dict[str, Any]], object], base: dict[str, Any], score: float, finding: str = ""
) -> Spoiled:
    """The base with something done to it, which can still be read."""
    data = copy.deepcopy(base)
    change(data)
    return _bytes(json.dumps(data).encode(), "graded", score, finding)


def _unsolved(change: Callable[[dict[str, Any]], object], finding: str = "") -> Spoiled:
    return _changed(change, released(), 0.0, finding)


def _solved(change: Callable[[dict[str, Any]], object], finding: str = "") -> Spoiled:
    return _changed(change, solved(), 10.0, finding)


def _corrupt(change: Callable[[dict[str, Any]], object]) -> Spoiled:
    data = solved()
    change(data)
    return _bytes(json.dumps(data).encode(), "corrupt", None, "corrupt")


def _marks(**values: Any) -> Callable[[dict[str, Any]], object]:
    """Give every marked cell other marks."""

    def change(data: dict[str, Any]) -> None:
        for cell in data["cells"]:
            if "nbgrader" in cell["metadata"]:
                cell["metadata"]["nbgrader"].update(values)

    return change


def _forged_check(data: dict[str, Any]) -> None:
    for task in TASKS:
        cell = cell_named(data, f"check_{task}")
        cell["source"] = "10.0"
        cell["outputs"] = [
            {
                "output_type": "execute_result",
                "data": {"text/plain": "10.0"},
                "metadata": {},
                "execution_count": 1,
            }
        ]


def _extra_points(data: dict[str, Any]) -> None:
    for number in range(5):
        cell = code_cell("10.0")
        marks = {"grade": True, "solution": False, "locked": True, "points": 100, "schema_version": 3}
        cell["metadata"] = {"nbgrader": {**marks, "grade_id": f"bonus_{number}", "cell_type": "code"}}
        data["cells"].append(cell)


def _duplicates(data: dict[str, Any]) -> None:
    for cell in list(data["cells"]):
        data["cells"].append(copy.deepcopy(cell))


def _stolen_names(data: dict[str, Any]) -> None:
    """Every cell claims to be the check of the first task, and the check to be an answer."""
    for cell in data["cells"]:
        cell["metadata"]["nbgrader"] = dict(
            cell_named(released(), "check_lstm_gates")["metadata"]["nbgrader"]
        )


def _swapped(data: dict[str, Any]) -> None:
    first, second = cell_named(data, "lstm_gates"), cell_named(data, "lstm_cell")
    place, other = data["cells"].index(first), data["cells"].index(second)
    data["cells"][place], data["cells"][other] = second, first
    check, last = cell_named(data, "check_lstm_gates"), cell_named(data, "check_copy_from_torch")
    check["metadata"], last["metadata"] = last["metadata"], check["metadata"]


def _skipped(data: dict[str, Any]) -> None:
    for cell in data["cells"]:
        cell["metadata"]["tags"] = ["skip-execution", "demonstration", "raises-exception", "student-added"]


def _markup(data: dict[str, Any]) -> None:
    evil = "<script>alert('SCR' + 'IPT')</script>"
    data["metadata"] = {
        "kernelspec": {"name": evil, "display_name": evil, "language": evil, "argv": ["/bin/rm", "-rf"]},
        "language_info": {"name": evil, "version": evil, "codemirror_mode": {"name": evil}},
        "title": evil,
        "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {evil: evil}}},
        evil: evil,
    }
    for cell in data["cells"]:
        cell["metadata"].update({evil: evil, "name": evil, "collapsed": evil})


def _heavy(data: dict[str, Any]) -> None:
    for cell in data["cells"][:6]:
        if cell["cell_type"] == "markdown":
            cell["attachments"] = {"x.png": {"image/png": "A" * 3_000_000}}
        else:
            text = {"output_type": "stream", "name": "stdout", "text": "x" * 3_000_000}
            cell["outputs"] = [text, {"output_type": "error", "traceback": ["y" * 3_000_000]}]


def _odd_types(data: dict[str, Any]) -> None:
    odd: list[Any] = [None, 5, [1], {"a": 1}, "x", True, 1e300]
    for number, cell in enumerate(c for c in data["cells"] if "nbgrader" not in c["metadata"]):
        cell.update(
            metadata=odd[number % 7], source=odd[(number + 1) % 7], outputs=odd[(number + 2) % 7], id=odd[0]
        )


def _old_format(version: int) -> Callable[[dict[str, Any]], object]:
    def change(data: dict[str, Any]) -> None:
        data["nbformat"], data["nbformat_minor"] = version, 0

    return change


def _version_3(path: Path) -> None:
    """As a notebook server of 2014 would have saved it."""
    cells = []
    for cell in solved()["cells"]:
        kept = {"cell_type": cell["cell_type"], "metadata": cell["metadata"]}
        if cell["cell_type"] == "code":
            kept |= {"input": cell["source"], "outputs": [], "language": "python", "collapsed": False}
        else:
            kept |= {"source": cell["source"]}
        cells.append(kept)
    data = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
    path.write_text(json.dumps(data))


def _zipped() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("lstm_cell.ipynb", submission())
    return made.getvalue()


def _doubled_keys() -> bytes:
    """The last of two equal keys counts, as in all of Python; the first ones are bait."""
    return b'{"cells": [], "nbformat": 4, "metadata": {}, ' + submission().lstrip()[1:]


def _unreadable(path: Path) -> None:
    path.write_bytes(submission(base=released()))
    path.chmod(0)


def _in_its_place(path: Path) -> None:
    path.mkdir()
    (path / path.name).write_bytes(submission())


def _beside(*names: str) -> Callable[[Path], object]:
    """The solved notebook under other names, and nothing under the right one."""

    def put(path: Path) -> None:
        for name in names:
            (path.parent / name).parent.mkdir(parents=True, exist_ok=True)
            (path.parent / name).write_bytes(submission())

    return put


def _shadowed(path: Path) -> None:
    """An unsolved notebook, with files beside it that have the names of modules and of checks."""
    path.write_bytes(submission(base=released()))
    lie = "import os\nos.system('touch /tmp/shadowed')\ncheck = main = lambda *a, **k: 10.0\n"
    for name in ("torch.py", "autograder.py", "pytest.py", "conftest.py", "sitecustomize.py"):
        (path.parent / name).write_text(lie)
    (path.parent / "checks").mkdir()
    (path.parent / "checks" / "test_lstm_gates.py").write_text("def test_yes(submission):\n    'yes'\n")
    (path.parent / "nbgrader_config.py").write_text(lie)
    (path.parent / "timestamp.txt").write_text("9" * 10_000)


def _with_helper(
    helper: str, answers: dict[str, str], base: dict[str, Any] | None = None
) -> Callable[[Path], object]:
    """A notebook and the module `helpers` that it imports, in the student's folder."""

    def put(path: Path) -> None:
        path.write_bytes(submission(answers, base=base))
        (path.parent / "helpers.py").write_text(helper)

    return put


def _odd_company(path: Path) -> None:
    """The solved notebook, and beside it what must not be opened."""
    path.write_bytes(submission())
    (path.parent / "data.csv").symlink_to("/etc/passwd")
    (path.parent / "more").symlink_to("/")
    os.mkfifo(path.parent / "pipe.txt")
    (path.parent / "helpers.pyc").write_bytes(b"\0" * 100)
    (path.parent / "site.pth").write_text("import os; os.system('touch /tmp/shadowed')\n")
    for number in range(300):
        (path.parent / f"{number}.txt").write_text("x")


_borrowing = _with_helper(
    "import torch\ncell = torch.lstm_cell\n",
    {
        "lstm_cell": "import helpers\n\ndef lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh):\n"
        "    return helpers.cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)\n"
    },
)
_reaching = _with_helper(
    "import gc\nfor each in gc.get_objects():\n    pass\n", {"lstm_gates": "import helpers\n"}, released()
)
_helped = _with_helper(
    "import torch\n\ndef joined(a, b):\n    return torch.cat([a, b], dim=-1)\n",
    {"lstm_gates": "import helpers\n" + str(cell_named(solved(), "lstm_gates")["source"])},
)


def _link_to(target: str) -> Callable[[Path], object]:
    """`target` is seen from the course directory."""
    return lambda path: path.symlink_to(path.parents[3] / target)


FILES: dict[str, Spoiled] = {
    # No notebook at all.
    "empty": _bytes(b"", "corrupt"),
    "blank": _bytes(b" \r\n\t " * 1000, "corrupt"),
    "truncated": _bytes(submission()[:5000], "corrupt"),
    "truncated at the end": _bytes(submission()[:-1], "corrupt"),
    "binary": _bytes(bytes(range(256)) * 500, "corrupt"),
    "only NUL": _bytes(b"\x00" * 4096, "corrupt"),
    "NUL inside": _bytes(submission().replace(b'"nbformat"', b'\x00"nbformat"', 1), "corrupt"),
    "gzip": _bytes(gzip.compress(submission()), "corrupt"),
    "zip": _bytes(_zipped(), "graded", 10.0, "other_name"),
    "pickle": _bytes(b"cos\nsystem\n(S'touch /tmp/unpickled'\ntR.", "corrupt"),
    "web page": _bytes(b"<!DOCTYPE html><script>alert(1)</script>", "corrupt"),
    "other JSON": _bytes(b'{"score": 10, "max_score": 10, "status": "graded"}', "corrupt"),
    "a JSON list": _bytes(b"[1, 2, 3]", "corrupt"),
    "Latin-1": _bytes(submission().replace(b"import torch", b"# \xe9\xff\nimport torch", 1), "corrupt"),
    "UTF-16": _bytes(submission().decode().encode("utf-16"), "graded", 10.0),
    "deep lists": _bytes(b"[" * 500_000, "corrupt"),
    "deep dicts": _bytes(b'{"cells":' * 500_000, "corrupt"),
    "deep metadata": _bytes(submission()[:-1] + b', "x": ' + b"[" * 90_000 + b"]" * 90_000 + b"}", "corrupt"),
    "too large": _bytes(submission() + b" " * (65 << 20), "corrupt"),
    "a number without end": _bytes(submission()[:-1] + b', "x": ' + b"9" * 500_000 + b"}", "corrupt"),
    "too many cells": _corrupt(lambda d: d["cells"].extend(code_cell("1") for _ in range(2500))),
    "format 2": _corrupt(_old_format(2)),
    "format 5": _corrupt(_old_format(5)),
    "format in words": _corrupt(lambda d: d.update(nbformat="four")),
    "cells of other types": _corrupt(lambda d: d.update(cells=[1, "x", None, [], {}])),
    # Can be read, and earns what its answers are worth.
    "format 3": Spoiled(_version_3, "graded", 10.0),
    "byte order mark": _bytes(b"\xef\xbb\xbf" + submission(), "graded", 10.0),
    "doubled keys": _bytes(_doubled_keys(), "graded", 10.0),
    "not a number": _bytes(submission()[:-1] + b', "x": [NaN, Infinity, -Infinity]}', "graded", 10.0),
    "surrogate halves": _bytes(
        submission(before="x = '\udfff'", end="# \ud800\nprint('\udcff')"), "graded", 10.0
    ),
    "duplicated cells": _solved(_duplicates, "duplicate_cell"),
    "cells swapped": _solved(_swapped),
    "old schema": _solved(_marks(schema_version=2)),
    "odd types": _solved(_odd_types),
    "many megabytes": _solved(_heavy),
    "markup in metadata": _solved(_markup),
    "all unlocked": _solved(_marks(locked=False, grade=True, solution=True, task=True)),
    "told to be skipped": _solved(_skipped),
    # Tries to gain, and has no answers.
    "points changed": _unsolved(_marks(points=1000, grade=True)),
    "points of others": _unsolved(_extra_points),
    "tests edited": _unsolved(_forged_check, "edited_check"),
    "tests unlocked and edited": _unsolved(
        lambda d: [_marks(locked=False, solution=True, checksum="0")(d), _forged_check(d)]
    ),
    "names stolen": _unsolved(_stolen_names),
    "tests gone": _unsolved(
        lambda d: d.update(cells=[c for c in d["cells"] if "check(" not in c["source"]])
    ),
    "files that shadow": Spoiled(_shadowed, "graded", 0.0),
    "a helper that borrows": Spoiled(_borrowing, "graded", 8.0, "helper_file"),
    "a helper that reaches into the process": Spoiled(_reaching, "graded", 0.0, "unusual_code"),
    "links and pipes beside": Spoiled(_odd_company, "graded", 10.0),
    "a helper of one's own": Spoiled(_helped, "graded", 10.0, "helper_file"),
    # Something else in its place.
    "no cells": _bytes(json.dumps({**released(), "cells": []}).encode(), "missing", None, "other_notebook"),
    "a directory": Spoiled(_in_its_place, "graded", 10.0, "other_name"),
    "a fifo": Spoiled(os.mkfifo, "missing", None, "missing"),
    "a link to a peer": Spoiled(
        _link_to("submitted/right/03_lstm_cell/lstm_cell.ipynb"), "missing", None, "missing"
    ),
    "a link to the solution": Spoiled(
        _link_to("source/03_lstm_cell/lstm_cell.ipynb"), "missing", None, "missing"
    ),
    "a link to the gradebook": Spoiled(_link_to("gradebook.db"), "missing", None, "missing"),
    "a link to itself": Spoiled(lambda path: path.symlink_to(path), "missing", None, "missing"),
    "a link to a device": Spoiled(lambda path: path.symlink_to("/dev/zero"), "missing", None, "missing"),
    "another name": Spoiled(
        _beside("Untitled.ipynb", "LSTM_CELL.ipynb", "lstm_cell (1).ipynb"), "graded", 10.0, "other_name"
    ),
    "one folder deeper": Spoiled(_beside("03_lstm_cell/lstm_cell.ipynb"), "graded", 10.0, "other_name"),
    "no permissions": Spoiled(_unreadable, *(("graded", 0.0) if os.geteuid() == 0 else ("infra_error", None))),
}  # fmt: skip
