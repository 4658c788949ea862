"""An assignment that goes out as one file, its checks inside: built, solved in a real kernel, handed in."""

from __future__ import annotations

import base64
import json
import shutil
import zlib
from pathlib import Path

import nbformat
import pytest

from autograder.grading.assignment.rebuild import read_notebook, rebuild
from autograder.jupyter.inside import Damaged, cell_holding, is_holding, unpacked
from tests.support.environments.kernels import kernel
from tests.support.handouts import NAME, NOTEBOOK, SECRETS, small_course
from tests.support.helpers import (
    ASSIGNMENT,
    ROOT,
    answer,
    autograder_here,
    cell_named,
    make_bundle,
    released,
    solved,
)
from tests.support.helpers import submission as handed_in

RIGHT = "def double(x):\n    return 2 * x\n"
HELD = cell_holding({"hints.json": "{}"}, "lstm_cell", {"lstm_gates": 2})


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course of one assignment with its own checks, built as one file, too."""
    root = small_course(tmp_path_factory.mktemp("course"))
    told = autograder_here("build", NAME, "--one-file", "--course", root)
    assert told.returncode == 0, told.stderr
    assert f"{NAME} as one file: {root / 'one-file' / NAME / 'double.ipynb'}" in told.stdout.replace("\n", "")
    return root


@pytest.fixture
def download(course, tmp_path) -> Path:
    """The one file in a folder where nothing else is."""
    return Path(shutil.copy(course / "one-file" / NAME / f"{NOTEBOOK}.ipynb", tmp_path))


def test_it_is_checked_and_graded_with_nothing_beside_it(course, download):
    notebook = nbformat.read(download, as_version=4)
    for cell in notebook.cells:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "double":
            cell["source"] = RIGHT
    nbformat.write(notebook, download)
    with kernel(download.parent, JPY_SESSION_NAME="") as session:
        shown = [session.run(cell["source"]) for cell in notebook.cells if cell["cell_type"] == "code"]
        assert [each.error for each in shown] == [""] * len(shown)
        (card,) = [card["text/plain"] for each in shown for card in each.cards]
        assert "double: 0.5 of 0.5 points, everything holds; 0.5 more at grading" in card
        assert session.run("check()").text.startswith("double: ")
        session.run("import os; os.chdir('/')")
        session.run("def double(x):\n    return x + 2")
        assert (
            "You have added two where the number is to be taken twice." in session.run("check('double')").text
        )
    submitted = course / "submitted" / "ada" / NAME
    submitted.mkdir(parents=True, exist_ok=True)
    shutil.copy(download, submitted)
    told = autograder_here("grade", NAME, "--course", course)
    assert told.returncode == 0, told.stderr
    (verdict,) = json.loads(autograder_here("results", NAME, "--json", "--course", course).stdout)
    assert (verdict["score"], verdict["max_score"], verdict["findings"]) == (1.0, 1.0, [])
    graded = (course / "autograded" / "ada" / NAME / f"{NOTEBOOK}.ipynb").read_text()
    assert "checks_inside" not in graded


def test_it_holds_no_hidden_check_and_the_release_is_as_without(course, download):
    (source,) = [
        cell["source"] for cell in nbformat.read(download, as_version=4).cells if is_holding(cell["source"])
    ]
    folder = unpacked(source.split('"""')[1])
    texts = [file.read_text() for file in folder.rglob("*.*") if file.suffix == ".py"]
    assert texts
    assert not [secret for secret in SECRETS for text in texts if secret in text]
    assert "checks_inside" not in (course / "release" / NAME / f"{NOTEBOOK}.ipynb").read_text()


def test_the_cell_is_no_cell_of_the_student():
    data = json.loads(handed_in({"lstm_gates": answer("lstm_gates")}))
    raw = json.dumps(data).encode()
    cell = {"cell_type": "code", "id": "x", "metadata": {}, "outputs": [], "execution_count": 3}
    data["cells"].insert(1, {**cell, "source": HELD.splitlines(keepends=True)})
    bundle = make_bundle()
    plain, more = rebuild(raw, bundle), rebuild(json.dumps(data).encode(), bundle)
    assert more.digest() == plain.digest()
    assert more.findings == ()
    assert not [step for step in more.steps if step.role == "added"]


def test_one_that_is_longer_than_any_code_is_left_out_all_the_same():
    text = HELD.replace('"""\n', '"""\n' + "abcd" * 300_000 + "\n", 1)
    data = {**released(), "cells": [{"cell_type": "code", "metadata": {}, "source": text}]}
    assert read_notebook(json.dumps(data).encode()).cells == []


@pytest.mark.parametrize(
    "source",
    [
        f"{HELD}\nx = 1",
        f"x = 1\n{HELD}",
        HELD.replace('""")', '""" + f())'),
        HELD.replace('""")', '""".join(f()))'),
        HELD.replace('checks_inside("""', 'checks_inside(f"""'),
        HELD.replace('"""\n', '"""\n{f()}', 1),
        HELD.replace('checks_inside("""', 'checks_inside(""""""\n) or f("""'),
        HELD.replace("import checks_inside", "import check as checks_inside"),
        'checks_inside("abc")',
        "",
    ],
)
def test_a_cell_with_anything_else_is_the_students(source):
    assert is_holding(HELD)
    assert not is_holding(source)


def packed(data: object) -> str:
    return base64.b64encode(zlib.compress(json.dumps(data).encode())).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not base64!",
        "abcd",
        packed([]),
        packed({"version": 2, "files": {}}),
        packed({"version": 1, "files": {"a": 3}}),
        *(
            packed({"version": 1, "files": {name: ""}})
            for name in ("../x", "/x", "a/b", "checks/../x", "..", "")
        ),
    ],
)
def test_a_text_that_was_not_packed_is_one_sentence(text):
    with pytest.raises(Damaged, match="fetch the notebook again"):
        unpacked(text)


@pytest.mark.slow
def test_of_a_packaged_assignment_it_tells_the_notebook_and_brings_the_hints(tmp_path):
    """The students' package has the checks; in an empty folder nothing else says which notebook it is."""
    hints = (ROOT / "release" / ASSIGNMENT / "hints.json").read_text(encoding="utf-8")
    with kernel(tmp_path, JPY_SESSION_NAME="") as session:
        session.run("from autograder import check")
        assert "cannot tell which notebook" in session.run("check()").error
        session.run(cell_holding({"hints.json": hints}, "lstm_cell", {"lstm_gates": 2}))
        assert session.run("check()").text.startswith("lstm_cell: 0 of 9.5 points")
        wrong = cell_named(solved(), "lstm_gates")["source"].replace("i, f, g, o = s", "f, i, g, o = s")
        session.run(f"import torch\n{wrong}")
        assert "Your `i` and `f` have changed places" in session.run("check('lstm_gates')").text
