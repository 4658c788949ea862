"""Files that students get with a release: hints, and a course's own checks without what grading keeps."""

from __future__ import annotations

import ast
import json
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import nbclient
import nbformat
import pytest
import requests

from autograder.grading.releasing.check_file import CannotStrip
from autograder.grading.releasing.strip import strip
from tests.support.courses import done, environment, run
from tests.support.handouts import CHECKS, HINT, NAME, NOTEBOOK, SECRETS, SOLUTION, small_course
from tests.support.helpers import autograder_here


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


REFUSED = {
    "a public check needs it": (
        f'{CHECKS}\n@rule("shape")\n@needs("unforeseen")\ndef test_more(submission):\n    """More."""\n',
        "def test_unforeseen",
        "something that is not hidden needs the hidden check `test_unforeseen`",
    ),
    "its points are computed": (
        CHECKS.replace('@points(0.5)\n@rule("generality")', '@points(LARGEST / 2e6)\n@rule("generality")'),
        "@points(LARGEST",
        "points of the hidden check `test_unforeseen` must be written out",
    ),
    "a reference is needed where the file is read": (
        CHECKS.replace("# Numbers", "TWO = twice(torch.ones(1))\n\n\n# Numbers"),
        "TWO = ",
        "the bodies of references (test_double.py stops with NotRecorded: twice).",
    ),
    "it is hidden by another name": (
        CHECKS.replace("LARGEST =", "secretly = hidden\nLARGEST =").replace("@hidden(", "@secretly("),
        "def test_unforeseen",
        "whether `test_unforeseen` is hidden cannot be read from its text",
    ),
}


@pytest.mark.parametrize(
    "name",
    [next(iter(REFUSED)), *(pytest.param(name, marks=pytest.mark.slow) for name in list(REFUSED)[1:])],
)
def test_build_refuses_what_it_cannot_keep_back(tmp_path, name):
    checks, written, sentence = REFUSED[name]
    course = small_course(tmp_path, checks)
    told = autograder_here("build", NAME, "--course", course)
    assert told.returncode == 1
    (line,) = told.stderr.splitlines()
    (at,) = (at for at, text in enumerate(checks.splitlines(), 1) if text.startswith(written))
    place = f"source/{NAME}/checks/test_double.py, line {at}"
    assert line.startswith(f"{place}: {NAME} cannot be released: ")
    assert sentence in line
    assert not (course / "release").exists()


def stripped(**sources: str) -> dict[str, str]:
    found = strip({f"{name}.py": dedent(text) for name, text in sources.items()}, "home")
    return {path.removesuffix(".py"): text for path, text in found.files.items()}


def test_what_a_public_check_needs_too_stays():
    found = stripped(
        given="""
            import math
            from torch import nn
            SHARED = math.pi
            OTHER = 1
            def both():
                return SHARED
            def only_hidden():
                return nn.Linear(SHARED, 1)
            def unused():
                pass
            """,
        test_one="""
            from home import given
            from home.given import (
                both,
                only_hidden,
            )
            from autograder.checking import hidden as kept, rule
            @rule("values")
            @kept("instead")
            def test_secret(submission):
                both() + only_hidden() + given.OTHER
            @rule("values")
            def test_public(submission):
                both() + given.SHARED
            """,
    )
    assert not re.search("only_hidden|OTHER", found["given"] + found["test_one"])
    assert "nn" not in found["given"]
    assert all(name in found["given"] for name in ("SHARED", "math", "def both", "def unused"))
    assert "from home import given" in found["test_one"]
    assert "test_secret" not in found["test_one"]
    assert "kept" not in found["test_one"]
    for text in found.values():
        compile(text, "handed out", "exec")


SPECIFIED = """
from autograder.checking import FunctionSpec, recorded, sized
ODD = 7
def secret_size():
    return sized("with seven", B=ODD)
@recorded
def right(x):
    return x * 2
task = FunctionSpec("double", inputs={"x": "B"}, outputs={"y": "B"}, reference=right)
test_shape = task.shape()
test_secret = task.any_size(secret_size(), points=0.5, hidden="More is asked.", needs=[test_shape])
test_dtype = task.dtypes(needs=["test_shape"])
"""


def test_a_hidden_check_of_a_specification_goes_and_what_only_it_needs():
    found = strip({"test_double.py": SPECIFIED})
    text = found.files["test_double.py"]
    assert not re.search("secret|ODD|sized|x . 2", text)
    assert all(kept in text for kept in ("test_shape = task.shape()", "test_dtype", "reference=right"))
    compile(text, "handed out", "exec")
    assert found.kept_back_in() == {
        "double": [{"points": 0.5, "rule": "generality", "instead": "More is asked."}]
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("points=0.5", "points=ODD / 14"), "points of the hidden check `test_secret` must be written out"),
        (("task.any_size", "other.made"), "the hidden check `test_secret` says nothing of its rule"),
        (('needs=["test_shape"]', "needs=[test_secret]"), "needs the hidden check `test_secret`"),
        (('needs=["test_shape"]', 'needs=["secret"]'), "needs the hidden check `test_secret`"),
    ],
)
def test_a_hidden_check_of_a_specification_that_cannot_go(change: tuple[str, str], said: str):
    assert change[0] in SPECIFIED
    with pytest.raises(CannotStrip, match=re.escape(said)):
        strip({"test_double.py": SPECIFIED.replace(*change)})


def test_dimensions_that_are_imported_stay_where_a_hidden_check_names_them():
    given = "from autograder.checking import Dimensions\nDIMENSIONS = Dimensions(B='batch')\n"
    text = dedent("""
    from given import DIMENSIONS
    test_shape = task.shape()
    test_large = task.any_size(sized("with many", B=len(DIMENSIONS)), hidden="It works elsewhere.")
    """)
    found = strip({"test_double.py": text, "given.py": given})
    assert "import DIMENSIONS" in found.files["test_double.py"]
    assert found.files["given.py"] == given


def test_a_references_text_goes_and_its_head_stays():
    found = stripped(
        given='''
            from autograder.checking import recorded
            def helper():
                return 1
            @recorded
            def right(x: dict[str, int] = {"a": 1},
                      *rest, **more) -> "int":  # the head
                # the way to do it
                """How."""
                def inner(): return helper()
                return inner()
            def after(): pass
            '''
    )["given"]
    assert "helper" not in found
    assert not re.search("How|way to do it|inner", found)
    (right,) = (node for node in ast.parse(found).body if getattr(node, "name", "") == "right")
    assert ast.unparse(right.body[0]) == "return NotImplemented"
    assert "def after(): pass" in found


def test_what_cannot_be_cut_out_is_refused():
    with pytest.raises(CannotStrip, match="inside something else"):
        stripped(test_one="if True:\n    @hidden('instead')\n    def test_a(submission): pass\n")
    with pytest.raises(CannotStrip, match="is no check"):
        stripped(given="@hidden('instead')\ndef helper(): pass\n")
    with pytest.raises(CannotStrip, match="is not Python"):
        stripped(given="def helper(:\n")


def test_the_file_says_the_points_and_the_sentence_of_what_is_kept_back():
    told = strip({"test_double.py": CHECKS}).kept_back_in()
    sentence = "It works for other numbers than the ones you saw."
    assert json.loads(json.dumps(told)) == {
        "double": [{"points": 0.5, "rule": "generality", "instead": sentence}]
    }
