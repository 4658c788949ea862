"""Files that students get with a release: hints, and a course's own checks without what grading keeps."""

from __future__ import annotations

import inspect
import json
import secrets
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import nbclient
import nbformat
import pytest
import requests
import torch

from autograder.checking.inputs.references import NotRecorded
from autograder.checking.runner.collection import collect
from autograder.checking.runner.reference import reference_beside
from tests.support.courses import done, environment, run
from tests.support.handouts import (
    CHECKS,
    HIDDEN,
    HINT,
    NAME,
    NOTEBOOK,
    REFERENCE,
    SECRETS,
    SOLUTION,
    small_course,
)
from tests.support.helpers import autograder_here

RECORDED = """from autograder.checking import recorded
@recorded
def twice(x):
    return x + x"""
MARKED = HIDDEN.replace("from test_double import expect_twice\n", "")


def generate(course: Path) -> Path:
    done(run(course, "nbgrader", "generate_assignment", NAME, "--force"))
    return course / "release" / NAME


@pytest.fixture(scope="module")
def generated(tmp_path_factory) -> Path:
    """A release made by nbgrader's own command, in a course that was never built."""
    return generate(small_course(tmp_path_factory.mktemp("course")))


def in_a_notebook(release: Path, answer: str, where: Path) -> str:
    """The text of the card that a student reads who answers so, in a real kernel, away from the course."""
    shutil.copytree(release, where)
    notebook = nbformat.read(where / f"{NOTEBOOK}.ipynb", as_version=4)
    notebook.cells[1]["source"] = answer
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(where)}}).execute()
    outputs = notebook.cells[2]["outputs"]
    return "\n".join(output["data"]["text/plain"] for output in outputs if "data" in output)


def test_generate_hands_out_no_hidden_check_and_what_only_it_needs(generated):
    found = sorted(path.relative_to(generated).as_posix() for path in generated.rglob("*") if path.is_file())
    assert found == ["checks/handed_out.json", "checks/test_double.py", f"{NOTEBOOK}.ipynb", "hints.json"]
    for path in generated.rglob("*"):
        if path.is_file():
            assert not [secret for secret in SECRETS if secret in path.read_text()], path


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (SOLUTION, ["; 0.5 more at grading", "everything holds"]),
        (
            SOLUTION.replace("2 * x", "x + 2"),
            [HINT, "; 0.5 more at grading"],
        ),
        (SOLUTION.replace("2 * x", "3 * x"), ["Each is the right number times 1.5."]),
    ],
)
@pytest.mark.slow
def test_a_notebook_beside_generated_checks_judges_and_hints(generated, tmp_path, answer, told):
    read = in_a_notebook(generated, answer, tmp_path / "home")
    assert not [sentence for sentence in told if sentence not in read], read


@pytest.mark.slow
def test_build_and_generate_hand_out_the_same(tmp_path):
    course = small_course(tmp_path)
    assert autograder_here("build", NAME, "--course", course).returncode == 0
    built = {path.name: path.read_bytes() for path in (course / "release").rglob("*.*") if path.is_file()}
    release = generate(course)
    assert {path.name: path.read_bytes() for path in release.rglob("*.*") if path.is_file()} == built


@pytest.mark.slow
def test_formgraders_generate_button_hands_out_the_same(generated, tmp_path):
    course = small_course(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    options = (f"port={port}", "port_retries=0", "ip=127.0.0.1", "open_browser=False", "allow_root=True")
    command = [sys.executable, "-m", "jupyter", "server", *(f"--ServerApp.{each}" for each in options)]
    server = subprocess.Popen(
        [*command, f"--IdentityProvider.token={token}"], cwd=course, env=environment(course)
    )
    session = requests.Session()
    session.headers["Authorization"] = f"token {token}"
    home = f"http://127.0.0.1:{port}/formgrader/api"
    try:
        for _ in range(600):
            try:
                session.get(f"{home}/status", timeout=5).raise_for_status()
                break
            except requests.RequestException:
                assert server.poll() is None
                time.sleep(0.1)
        told = session.post(f"{home}/assignment/{NAME}/assign", timeout=240).json()
    finally:
        server.terminate()
        server.wait(20)
    assert told["success"], told
    for path in generated.rglob("*.*"):
        if path.is_file():
            assert (course / "release" / NAME / path.relative_to(generated)).read_bytes() == path.read_bytes()


@pytest.mark.slow
def test_generate_does_not_succeed_without_hints(tmp_path):
    """nbgrader's own hook would report success."""
    course = small_course(tmp_path)
    catalogue = course / "solutions" / "mistakes" / f"{NAME}.toml"
    catalogue.write_text(catalogue.read_text().replace('find = "2 * x"', 'find = "2 + x"'))
    told = run(course, "nbgrader", "generate_assignment", NAME)
    assert told.returncode != 0
    assert "two_added: what it replaces stands nowhere in the solution of `double`" in told.stderr
    assert not (course / "release" / NAME).exists()


@pytest.mark.parametrize("ends", ["with an error", "by a signal"])
def test_a_conversion_that_fails_half_way_leaves_no_hidden_check(tmp_path, ends):
    """nbgrader copies the files first: what is never handed out must not be among them even then."""
    course = small_course(tmp_path)
    what = "raise RuntimeError" if ends == "with an error" else "os.kill(os.getpid(), signal.SIGKILL)"
    (course / "halfway.py").write_text(
        "import os, signal\nfrom nbgrader.preprocessors import NbGraderPreprocessor\n"
        "class Halfway(NbGraderPreprocessor):\n"
        f"    def preprocess(self, nb, resources):\n        {what}\n"
    )
    with (course / "nbgrader_config.py").open("a") as config:
        config.write('\nc.GenerateAssignment.preprocessors = ["halfway.Halfway"]\n')
    told = run(course, "nbgrader", "generate_assignment", NAME)
    assert told.returncode != 0
    found = [path.name for path in (course / "release").rglob("*.py")]
    assert found == ([] if ends == "with an error" else ["test_double.py"]), told.stderr


def test_a_file_for_grading_only_is_never_copied_from_beside_the_notebook(tmp_path):
    course = small_course(tmp_path)
    shutil.copy(course / "source" / NAME / "checks" / "hidden_double.py", course / "source" / NAME)
    release = generate(course)
    assert not list(release.rglob("hidden_*"))


REFUSED = {
    "a hidden check in a file that is handed out": (
        {"test_double": CHECKS + MARKED, "hidden_double": None},
        "test_double.py, line 32: `test_unforeseen` is hidden, and students get this file: move it to "
        "hidden_double.py.",
    ),
    "a reference in a file that is handed out": (
        {"test_double": CHECKS.replace('twice = reference("reference_double:twice")', RECORDED)},
        "test_double.py, line 6: `twice` is a reference, and students get this file: move it to "
        'reference_double.py, and write `reference("reference_double:twice")` in its place.',
    ),
    "an import of a file that is not handed out": (
        {"test_double": CHECKS.replace("twice =", "from reference_double import twice\n\nother =")},
        "test_double.py, line 5: 01_double cannot be released: its checks cannot be imported without the "
        "files that students do not get, hidden_*.py and reference_*.py (test_double.py stops with "
        "ModuleNotFoundError: No module named 'reference_double').",
    ),
    "a hidden check without a sentence": (
        {"hidden_double": HIDDEN.replace('@hidden("It works for', '@needs("doubles") # ')},
        "hidden_double.py, line 17: `test_unforeseen` in hidden_double.py does not say what students read "
        "in its place: `@hidden(…)`.",
    ),
    "a reference that is in no file": (
        {"test_double": CHECKS.replace("reference_double:", "reference_triple:")},
        "test_double.py, line 5: stops when it is imported with FileNotFoundError: there is no "
        "reference_triple.py beside test_double.py",
    ),
    "a reference that its file does not have": (
        {"reference_double": REFERENCE.replace("def twice", "def thrice")},
        "test_double.py, line 5: stops when it is imported with AttributeError: reference_double.py has no "
        "function `twice`",
    ),
    "a name that two files have": (
        {"hidden_double": HIDDEN.replace("test_unforeseen", "test_doubles")},
        "hidden_double.py, line 17: `test_doubles` is a check of `double` already: give it another name, or "
        "if it was imported, name it by a text where it is needed.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_build_refuses_what_it_cannot_keep_back(tmp_path, name):
    changed, sentence = REFUSED[name]
    course = small_course(tmp_path, **changed)
    told = autograder_here("build", NAME, "--course", course)
    assert told.returncode == 1
    assert told.stderr.startswith(f"source/{NAME}/checks/{sentence}"), told.stderr
    assert not (course / "release").exists()


def test_marks_of_before_still_grade(tmp_path):
    """A course that was released before the files were the border is graded as it was."""
    (tmp_path / "test_double.py").write_text(
        CHECKS.replace('twice = reference("reference_double:twice")', RECORDED).replace(
            "reference, rule", "hidden, recorded, rule"
        )
        + MARKED
    )
    assert [check.name for check in collect(tmp_path).all] == ["doubles", "unforeseen"]


def test_the_file_says_the_points_and_the_sentence_of_what_is_kept_back(generated):
    told = json.loads((generated / "checks" / "handed_out.json").read_text())
    sentence = "It works for other numbers than the ones you saw."
    assert told["kept_back"] == {"double": [{"points": 0.5, "rule": "generality", "instead": sentence}]}
    assert told["recorded"]["arguments"] == {"reference_double:twice": [["x"], ["times", 2]]}


def test_a_reference_that_was_not_handed_out_keeps_its_arguments(generated):
    function = reference_beside(generated / "checks" / "test_double.py", "reference_double:twice")
    assert str(inspect.signature(function)) == "(x, times=2)"
    with pytest.raises(NotRecorded, match="twice"):
        function(torch.ones(3))
