"""The package that students install: it keeps its secrets, and judges every answer as the checkout does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from textwrap import dedent

import pytest

from autograder.checking.runner.collection import collect
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.cells import is_grade, is_solution, tags
from autograder.grading.course.course import Course
from tests.support.helpers import ROOT

_FILTER = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
"""What Python 3.11.4 brought; 3.11.2 does without."""
EXERCISES = ROOT / "autograder" / "exercises"
ASSIGNMENTS = sorted(path.name for path in (ROOT / "release").glob("*/"))


@pytest.fixture(scope="session")
def packages(tmp_path_factory) -> dict[str, Path]:
    """Unpack what students can install: the wheel, the sdist, and the wheel that is built from it."""
    out, found = tmp_path_factory.mktemp("built"), {}
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", out]
    subprocess.run([*build, "--wheel", "--sdist", ROOT], check=True, capture_output=True)
    (sdist,) = out.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(out / "sdist", **_FILTER)
    (found["sdist"],) = (out / "sdist").iterdir()
    again = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", out / "again"]
    subprocess.run([*again, found["sdist"]], check=True, capture_output=True)
    for name, folder in (("wheel", out), ("wheel of the sdist", out / "again")):
        (wheel,) = folder.glob("*.whl")
        found[name] = out / f"unpacked {name}"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(found[name])
    return found


def texts(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("package", ["wheel", "sdist", "wheel of the sdist"])
def test_only_files_that_go_out_are_in_it(packages, package):
    held = {name for name in texts(packages[package]) if "/exercises/" in name and name.endswith(".py")}
    here = {path.relative_to(EXERCISES).as_posix() for path in EXERCISES.rglob("*.py")}
    kept = {path for path in here if Path(path).name.startswith(("hidden_", "reference_"))}
    assert len(kept) > 40, "there is nothing to keep back: this test would pass on anything"
    assert {name.partition("/exercises/")[2] for name in held} == here - kept


def test_no_hidden_check_says_what_it_looks_at(packages):
    """Of what is kept for grading, points, rule and sentence go out."""
    everything = "\n".join(texts(packages["wheel"]).values())
    for folder in sorted({path.parent for path in EXERCISES.glob("*/hidden_*.py")}):
        hidden = [check for check in collect(folder).all if check.instead is not None]
        assert hidden
        for check in hidden:
            assert check.instead in everything
            assert check.title == check.instead or check.title not in everything.replace("\n    ", " ")


def test_the_answer_key_is_not_there(packages):
    """No function in the package gives the answers of `claims`."""
    code = """
        import importlib, inspect, json, pkgutil
        import torch
        import autograder.exercises as home
        from autograder.checking import Draw, Sizes
        from autograder.checking.inputs.references import NotRecorded
        sizes = Sizes(B=5, T=7, D=2, H=11, L=3, V=13)
        found = []
        for module in pkgutil.walk_packages(home.__path__, "autograder.exercises."):
            loaded = importlib.import_module(module.name)
            for name, function in inspect.getmembers(loaded, callable):
                if not getattr(function, "__module__", "").startswith("autograder.exercises"):
                    continue
                for arguments in ((), (sizes,), (Draw(1, "x", sizes),)):
                    try:
                        told = function(*arguments)
                    except (NotRecorded, Exception):
                        continue
                    if "layers_see_all_timesteps" in str(told):
                        found.append(name)
        print(json.dumps([str(home.HOME), found]))
    """
    here, found = run_with(packages["wheel"], "-c", dedent(code))
    assert here.startswith(str(packages["wheel"]))
    assert found == []
    key = "asked_of_torch", "isinstance(state, tuple) and len(state) == 2", "4 * parameters(rnn)"
    for name, text in texts(packages["wheel"]).items():
        assert not [secret for secret in key if secret in text], name


def run_with(package: Path, *arguments: object, told: object = None):
    """Run a program that imports `autograder` from a package, and return what it writes."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        input=json.dumps(told),
        env={**os.environ, "PYTHONPATH": str(package), "OMP_NUM_THREADS": "1"},
        cwd=package,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])  # cells may print


EVERY = 6
"""One known mistake of so many is tried: each check meets some, whatever it asks of its reference."""


def answers(bundle: Bundle) -> dict[str, dict[str, list[str]]]:
    """By task: the solution, the released stub and some known mistakes, with the cells before each."""
    found: dict[str, dict[str, list[str]]] = {}
    before: list[str] = []
    for cell in bundle.skeleton().cells:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        if cell["cell_type"] != "code" or "demonstration" in tags(cell):
            continue
        if is_solution(cell):
            if name in bundle.tasks:
                wrong = {m.name: m.answer(bundle.solution) for m in bundle.mistakes if m.task == name}
                some = dict(list(wrong.items())[::EVERY])
                tried = {"solution": bundle.solution[name], "release": bundle.stubs[name], **some}
                found[name] = {which: [*before, source] for which, source in tried.items()}
            before.append(bundle.solution[name])
        elif not is_grade(cell):
            before.append(cell["source"])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_it_says_of_known_answers_what_the_checkout_says(packages, assignment):
    bundle = Course.at(ROOT).bundle(assignment)
    hints = ROOT / "release" / assignment / "hints.json"
    asked = {"notebook": bundle.notebook, "answers": answers(bundle), "hints": str(hints)}
    program = ROOT / "tests" / "support" / "observe_checks.py"
    here, there = (run_with(root, program, told=asked) for root in (ROOT, packages["wheel"]))
    assert there.pop("home").startswith(str(packages["wheel"]))
    assert here.pop("home") == str(EXERCISES)
    assert sum(map(len, asked["answers"].values())) > len(bundle.mistakes) / EVERY
    assert there["kept_back"] == here["kept_back"]
    for task, told in here["answers"].items():
        assert there["answers"][task] == told
        assert all(check[1] == "passed" for check in told["solution"][0]), told["solution"]
    assert any(found[1] for told in here["answers"].values() for found in told.values()), "no hint opened"
