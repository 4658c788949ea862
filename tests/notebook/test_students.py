"""A student's first steps: the first cell without the package, and the page that it names."""

from __future__ import annotations

import json
import re
import subprocess
import sysconfig
import tomllib
import venv
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

import autograder
from tests.support.courses import done, run
from tests.support.handouts import NAME, small_course
from tests.support.helpers import ROOT, autograder_here, cell_named, released

PAGE = ROOT / "source" / "students.md"

FOREIGN = """\
import importlib.metadata
__title__ = "autograder"
__description__ = "Automatic assignment grading for instructor use in programming courses"
"""
"""The module that PyPI's `autograder` 3.7.7 is when imported: it has none of our names."""

RUN = """
    import json, sys
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    notebook = nbformat.read(sys.argv[1], as_version=4)
    try:
        NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
        stopped = False
    except CellExecutionError:
        stopped = True
    print(json.dumps({"stopped": stopped, "cells": notebook.cells}))
"""
"""Runs a notebook as "Run All" does, in a kernel of the Python it runs on."""


@dataclass(frozen=True)
class Ran:
    """The outputs of a notebook's first code cell, and whether the notebook was stopped."""

    outputs: list[dict]
    stopped: bool


@pytest.fixture(scope="module")
def bare(tmp_path_factory) -> Path:
    """The python of an environment that has all packages of this one but for ours."""
    home = tmp_path_factory.mktemp("students") / "environment"
    venv.create(home, with_pip=False)
    (site,) = home.glob("lib/python*/site-packages")
    # Only the packages: a .pth inside this folder, such as the checkout's own, is not followed.
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin" / "python"


def first_cell(python: Path, folder: Path) -> Ran:
    """Run the released notebook in a folder, in a real kernel, and return what its first cell shows."""
    (folder / "lstm_cell.ipynb").write_text(json.dumps(released()))
    told = subprocess.run(
        [python, "-c", dedent(RUN), "lstm_cell.ipynb"], cwd=folder, capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr
    ran = json.loads(told.stdout)
    first = next(cell for cell in ran["cells"] if cell["cell_type"] == "code")
    return Ran(first["outputs"], ran["stopped"])


POINTER = 'from autograder import after, check, figures  # fails? see "Install" in students.md'


def raised_by(ran: Ran) -> str:
    """Return the error of the first cell, which must show the line that names the page."""
    assert ran.stopped
    (shown,) = ran.outputs
    assert shown["output_type"] == "error"
    text = re.sub(r"\x1b\[[0-9;]*m|, reveal", "", "\n".join(shown["traceback"]))
    assert POINTER in text
    return f"{shown['ename']}: {shown['evalue']}"


def test_without_the_package_the_line_that_stops_says_where_to_look(bare, tmp_path):
    assert raised_by(first_cell(bare, tmp_path)) == "ModuleNotFoundError: No module named 'autograder'"


def test_another_project_of_the_same_import_name_fails_in_the_same_line(bare, tmp_path):
    """It lies where `pip install autograder` puts it: before all else that has this name."""
    (tmp_path / "autograder").mkdir()
    (tmp_path / "autograder" / "__init__.py").write_text(FOREIGN)
    told = raised_by(first_cell(bare, tmp_path))
    assert told.startswith("ImportError: cannot import name 'after' from 'autograder'")
    # The page knows that message.
    assert "`cannot import name 'after'`" in PAGE.read_text(encoding="utf-8")


def test_the_page_has_the_section_that_the_first_cell_names():
    assert "\n## Install\n" in PAGE.read_text(encoding="utf-8")


def imports_of(setup: str) -> str:
    """The part of a notebook's first code cell that is the same everywhere."""
    return setup.partition("\n\ntorch.manual_seed(")[0]


def test_all_notebooks_and_the_page_for_authors_begin_alike():
    page = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
    begun = {"docs/authoring.md": imports_of(page[page.index("import torch\nimport torch.nn") :])}
    titles = {}
    notebooks = [
        path for kind in ("source", "release", "solutions") for path in ROOT.glob(f"{kind}/*/*.ipynb")
    ]
    for path in (ROOT / "skeleton" / "assignment.ipynb", *notebooks):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        begun[str(path)] = imports_of("".join(cell_named(notebook, "setup")["source"]))
        titles[str(path)] = " ".join("".join(notebook["cells"][0]["source"]).split())
    assert len(titles) == 40
    # The skeleton's tasks are small, and it imports less.
    (skeleton,) = (begun.pop(name) for name in list(begun) if name.endswith("assignment.ipynb"))
    assert skeleton == "import torch\nfrom torch import nn\n\n" + POINTER.replace(", figures", "")
    # Some ask their readers to guess, and one reads a novel.
    assert {re.sub(", (data|reveal)", "", text) for text in begun.values()} == {
        f"import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n{POINTER}"
    }
    for title in titles.values():
        assert "[students.md](students.md)" in title
        assert "Reading numbers" in title


def test_the_page_names_the_wheel_and_the_python_that_there_are():
    page = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"lstm_autograder-[\d.]+\S*?\.whl", page)) == {
        f"lstm_autograder-{autograder.__version__}-py3-none-any.whl"
    }
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert f"Python {requires.removeprefix('>=')} or newer" in page


def test_the_page_has_its_picture_beside_it_and_fits_two_screens():
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"!\[[^]]+\]\((.+?)\)", page) == ["students.png"]
    assert len(page) < 5000


def test_every_release_has_the_page_as_it_is():
    folders = sorted(ROOT.glob("release/*/"))
    assert len(folders) == 13
    for name in ("students.md", "students.png"):
        wanted = PAGE.with_name(name).read_bytes()
        others = [folder.name for folder in folders if (folder / name).read_bytes() != wanted]
        assert not others, f"`autograder build` puts source/{name} into release/"


@pytest.mark.slow
def test_what_an_instructor_writes_on_the_page_goes_out(tmp_path):
    """With nbgrader's own command, and again over a release that was made read-only."""
    course = small_course(tmp_path)
    release = course / "release" / NAME
    page = course / "source" / "students.md"
    for text in ("The wheel lies on the course's page.", "The wheel is installed in room 4."):
        page.write_text(text)
        done(run(course, "nbgrader", "generate_assignment", NAME, "--force"))
        assert (release / "students.md").read_text() == text
        (release / "students.md").chmod(0o444)
    (course / "source" / NAME / "students.md").write_text("Of this assignment alone.")
    done(run(course, "nbgrader", "generate_assignment", NAME, "--force"))
    assert (release / "students.md").read_text() == "Of this assignment alone."


@pytest.mark.slow
def test_a_page_that_was_edited_goes_out_though_nothing_else_is_built_again(tmp_path):
    course = small_course(tmp_path)
    page, release = course / "source" / "students.md", course / "release" / NAME
    for text, told in (("One.", ""), ("Two.", "unchanged"), ("Two.", "unchanged")):
        page.write_text(text)
        built = autograder_here("build", NAME, "--course", course)
        assert built.returncode == 0, built.stderr
        assert told in built.stdout
        assert (release / "students.md").read_text() == text
