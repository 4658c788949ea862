"""An instructor's installation without the repository: `new`, `build`, `grade` from three wheels."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
ASSIGNMENT = "03_lstm_cell"

SPY = """
import glob, os, sys
found = []
for folder in sys.path + ["/srv", "/home", "/root", "/tmp"]:
    parts = ("exercises", "grading", "checking")
    for name in ("autograder_course", "autograder_checks", *(f"autograder/{part}" for part in parts)):
        found += [path for path in glob.glob(f"{folder}/{name}/**", recursive=True) if os.path.isfile(path)]
print("found:", found)
"""


def run(command: list[object], cwd: Path) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    told = subprocess.run([str(part) for part in command], cwd=cwd, env=clean, capture_output=True, text=True)
    assert told.returncode == 0, f"{command}\n{told.stdout}\n{told.stderr}"
    return told.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> list[Path]:
    out = tmp_path_factory.mktemp("wheels")
    for project in (ROOT, ROOT / "packaging" / "checks", ROOT / "packaging" / "course"):
        run([sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", out, project], ROOT)
    return sorted(out.glob("*.whl"))


@pytest.fixture(params=["borrowed", "installed"])
def python(request, wheels, tmp_path) -> Path:
    """The python of a fresh environment with all three wheels.

    "borrowed" takes the dependencies from the environment the tests run in, which costs a second;
    "installed" installs everything from the registry as an instructor does, which costs two minutes: that is
    done in CI, in the place of the other.
    """
    home = tmp_path / "environment"
    borrowed = request.param == "borrowed"
    if borrowed is bool(os.environ.get("CI")):  # the same steps twice are three minutes
        pytest.skip("dependencies are installed from the registry in CI, and borrowed where CI is not set")
    venv.create(home, with_pip=not borrowed)
    made = home / "bin" / "python"
    if borrowed:
        (site,) = home.glob("lib/python*/site-packages")
        # Only the packages: a .pth inside this folder, such as the checkout's own, is not followed.
        (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            made,
            "install",
            "-q",
            "--no-deps",
            "--no-index",
            "--ignore-installed",
        ]
        run([*pip, *wheels], tmp_path)
        alembic = made.with_name("alembic")  # a dependency's script, which comes with a real installation
        alembic.write_text(f"#!{made}\nfrom alembic.config import main\nmain()\n")
        alembic.chmod(0o755)
    else:
        pip = [made, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt"]
        run([*pip, "torch==2.13.0"], tmp_path)
        run([*pip, "--find-links", wheels[0].parent, "lstm-autograder[grading,course]"], tmp_path)
    return made


@pytest.mark.slow
def test_new_build_and_grade_from_wheels(python, tmp_path):
    where = run([python, "-c", "import autograder; print(autograder.__file__)"], tmp_path)
    assert str(ROOT) not in where
    course = tmp_path / "course"
    autograder = [python, "-m", "autograder"]
    run([*autograder, "new", course], tmp_path)
    run([*autograder, "build", ASSIGNMENT, "--course", course], tmp_path)

    solved = nbformat.read(course / "source" / ASSIGNMENT / "lstm_cell.ipynb", as_version=4)
    spying = nbformat.from_dict({**solved, "cells": [*solved.cells, nbformat.v4.new_code_cell(SPY)]})
    released = nbformat.read(course / "release" / ASSIGNMENT / "lstm_cell.ipynb", as_version=4)
    for student, notebook in {"solved": solved, "spying": spying, "untouched": released}.items():
        folder = course / "submitted" / student / ASSIGNMENT
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / "lstm_cell.ipynb")
    run([*autograder, "grade", ASSIGNMENT, "--course", course], tmp_path)

    verdicts = json.loads(run([*autograder, "results", ASSIGNMENT, "--json", "--course", course], tmp_path))
    assert {v["student"]: (v["status"], v["score"]) for v in verdicts} == {
        "solved": ("graded", 10),
        "spying": ("graded", 10),
        "untouched": ("graded", 0),
    }
    graded = nbformat.read(course / "autograded" / "spying" / ASSIGNMENT / "lstm_cell.ipynb", as_version=4)
    printed = [o.text for cell in graded.cells for o in cell.get("outputs", []) if o.output_type == "stream"]
    assert "found: []\n" in printed
    shutil.rmtree(course)


@pytest.mark.slow
def test_a_machine_that_grades_needs_the_checks_and_no_solution(wheels, tmp_path):
    """With the students' wheel alone nothing is graded: hidden checks would be missing from every score."""
    home = tmp_path / "environment"
    venv.create(home)
    python = home / "bin" / "python"
    (site,) = home.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    checks, _, students = (
        sorted(wheels, key=lambda wheel: ("course" in wheel.name, "checks" not in wheel.name))[:1]
        + [None]
        + [wheel for wheel in wheels if wheel.name.startswith("lstm_autograder-")]
    )
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index"]
    run([*pip, "--ignore-installed", students], tmp_path)
    course = tmp_path / "course"
    for part in ("release", "source"):
        shutil.copytree(ROOT / part / ASSIGNMENT, course / part / ASSIGNMENT)
    shutil.copyfile(ROOT / "nbgrader_config.py", course / "nbgrader_config.py")
    folder = course / "submitted" / "ada" / ASSIGNMENT
    folder.mkdir(parents=True)
    shutil.copyfile(ROOT / "solutions" / ASSIGNMENT / "lstm_cell.ipynb", folder / "lstm_cell.ipynb")
    command = [python, "-m", "autograder", "check", folder / "lstm_cell.ipynb", "--course", course]
    told = subprocess.run([str(part) for part in command], cwd=tmp_path, capture_output=True, text=True)
    assert told.returncode == 1
    assert "install `lstm-autograder[grading]`, which brings the whole ones." in told.stderr
    run([*pip, checks], tmp_path)
    assert "4 of 4" in run(command, tmp_path)
