"""A fault in a check is the check's: its author is told where it is, and no student pays for it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from nbgrader.api import Gradebook

from autograder.checking.runner.collection import collect
from tests.support.checking import submission
from tests.support.faults import CHECKS, SLIP, hand_in, make_own_course
from tests.support.helpers import autograder_here

WHERE = "source/01_double/checks/test_double.py, line 22"
TOLD = "NameError: name 'sen' is not defined"
RAISED = f"{TOLD} ({WHERE})"
IN_A_NOTEBOOK = """
from autograder import check

def double(x):
    return 3 * x

print(check("double"))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small course, built while its checks were sound."""
    root = tmp_path_factory.mktemp("own")
    make_own_course(root)
    told = autograder_here("build", "--course", root)
    assert told.returncode == 0, told.stderr
    return root


@pytest.fixture
def course(built: Path, tmp_path: Path) -> Path:
    """A course of this test's own with three submissions."""
    root = tmp_path / "course"
    shutil.copytree(built, root)
    for student, body in {"ada": "2 * x", "ben": "3 * x", "cy": "None"}.items():
        hand_in(root, student, body)
    return root


def spoil(course: Path, text: str) -> None:
    for step in ("source", "release"):
        (course / step / "01_double" / "checks" / "test_double.py").write_text(text)


def scored(course: Path) -> dict[str, float]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {sub.student.id: sub.score for sub in gradebook.assignment_submissions("01_double")}


@pytest.mark.slow
def test_an_author_is_told_of_a_slip_that_only_a_wrong_answer_meets(course: Path):
    spoil(course, SLIP)
    for command in ("build", "validate"):
        told = autograder_here(command, "--course", course)
        said = told.stdout + told.stderr
        assert told.returncode == 1
        met = f"{WHERE}: the check `values` of `double` has a fault: {TOLD}; met by the mistake three_times"
        assert met in said
        assert (
            f'  File "{WHERE.replace(", ", chr(34) + ", ")}, in test_values\n    print("debug", sen)' in said
        )
        assert "Everything holds" not in said
        assert "autograder-checks-" not in said, "a folder that is gone"
    (met,) = json.loads(autograder_here("validate", "--json", "--course", course).stdout)["assignments"][0][
        "faults"
    ]
    assert (met["task"], met["check"], met["type"], met["line"]) == ("double", "values", "NameError", 22)
    assert met["met_by"] == ["the mistake three_times"]


def test_a_submission_that_meets_a_fault_is_not_graded_until_the_check_is_mended(course: Path):
    grade = ("grade", "01_double", "--course", course)
    assert autograder_here(*grade).returncode == 0
    before = scored(course)
    assert before == {"ada": 2, "ben": 1, "cy": 0}
    spoil(course, SLIP)
    told = autograder_here(*grade)
    assert told.returncode == 3
    assert "2 graded, 1 infra_error" in told.stdout
    assert scored(course) == before, "the gradebook stays as it was"
    shown = json.loads(autograder_here("results", "01_double", "--json", "--course", course).stdout)
    ben = next(verdict for verdict in shown if verdict["student"] == "ben")
    assert ben["status"] == "infra_error"
    assert ben["findings"] == [
        {
            "kind": "check_fault",
            "message": f"The check `values` of `double` has a fault: {RAISED}. Nothing was recorded for this "
            "submission: mend the check and grade again.",
        }
    ]
    shape, values = ben["tasks"][0]["checks"]
    assert (shape["outcome"], shape["points"]) == ("passed", 1), "everything else was judged"
    assert (values["outcome"], values["diagnosis"], values["answers"]) == ("fault", None, None)
    assert autograder_here("report", "01_double", "--course", course).returncode == 0
    page = (course / "reports" / "01_double.html").read_text()
    assert "not graded: a check has a fault" in page
    assert "the machine failed" not in page

    spoil(course, CHECKS)
    told = autograder_here(*grade)
    assert told.returncode == 0
    assert scored(course) == before


@pytest.mark.slow
def test_nbgraders_own_button_records_no_score_for_it(course: Path):
    spoil(course, SLIP)
    told = subprocess.run(
        [Path(sys.executable).parent / "nbgrader", "autograde", "01_double"],
        cwd=course,
        capture_output=True,
        text=True,
    )
    assert RAISED in told.stderr
    graded = {folder.parent.name for folder in (course / "autograded").glob("*/01_double")}
    assert graded == {"ada", "cy"}
    verdict = json.loads((course / "verdicts" / "01_double" / "ben.json").read_text())["verdict"]
    assert verdict["status"] == "infra_error"


def test_one_notebook_is_told_with_the_traceback(course: Path):
    spoil(course, SLIP)
    notebook = course / "submitted" / "ben" / "01_double" / "double.ipynb"
    told = autograder_here("check", notebook, "--course", course)
    assert told.returncode == 3
    assert 'print("debug", sen)' in told.stdout
    assert "NameError: name 'sen' is not defined" in told.stdout


def test_a_student_is_never_told_that_it_is_his(course: Path):
    spoil(course, SLIP)
    folder = course / "release" / "01_double"
    told = subprocess.run([sys.executable, "-c", IN_A_NOTEBOOK], cwd=folder, capture_output=True, text=True)
    assert told.stdout.splitlines() == [
        "double: 1 of 1 points; not everything could be judged",
        "  ! It doubles every number. (fault of the check)",
        "    This check has a fault of its own: NameError in test_double.py, line 22. It is not your mistake "
        "and costs you no points. Please send this line to your instructor.",
        "  ✓ It returns the shape that it is given. (passed, 1 of 1 points)",
        "1.0",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoilt", "said"),
    {
        "an import": (
            CHECKS.replace("import compare", "import compere, compare"),
            "ImportError: cannot import name 'compere'",
        ),
        "a syntax error": (CHECKS.replace("if compare(y, 2 * x):", "if compare(y, 2 * x)"), "line 21"),
        "a fixture": (
            CHECKS.replace("test_shape(submission, sizes", "test_shape(submission, size"),
            "asks for `size`",
        ),
        "what expect needs": (
            CHECKS.replace(', dims="B D", sizes=sizes', ""),
            "expect() missing 2 required keyword-only arguments: 'dims' and 'sizes'",
        ),
        "a dimension": (
            CHECKS.replace('names="y", dims="B D"', 'names="y", dims="B C"'),
            "There is no dimension `C` in 'B C'. The letters are B (batch), T (time), D (features), "
            "H (hidden), L (layers) and V (vocabulary)",
        ),
        "an assert": (
            CHECKS.replace("    y = submission.double(x)\n", "    y = submission.double(x)\n    assert 0\n"),
            "has a fault: AssertionError",
        ),
        "a failure of pytest's": (
            CHECKS.replace(
                "    y = submission.double(x)\n", "    import pytest\n    pytest.fail('no')\n    y = x\n"
            ),
            "has a fault: Failed: no",
        ),
    }.values(),
    ids=lambda value: "",
)
def test_typical_slips_end_every_command_in_words(course: Path, spoilt: str, said: str):
    assert spoilt != CHECKS
    spoil(course, spoilt)
    for command in (("validate",), ("grade", "01_double")):
        told = autograder_here(*command, "--course", course)
        shown = " ".join((told.stdout + told.stderr).split())
        assert told.returncode in (1, 3), (command, shown)
        assert "autograder-checks-" not in shown
        assert "typer" not in shown
        if told.returncode == 3:
            shown = (course / "verdicts" / "01_double" / "ada.json").read_text()
        assert said in shown, command
    assert "ada" not in scored(course)


def test_what_waits_for_a_check_with_a_fault_costs_nothing_either(tmp_path: Path):
    (tmp_path / "test_double.py").write_text(CHECKS.replace("    x = draw", "    nowhere\n    x = draw", 1))
    answers = submission(double=lambda x: torch.zeros(0))
    shape, values = collect(tmp_path).run("double", answers, seed=1, include_hidden=True)
    assert (shape.outcome, values.outcome) == ("fault", "skipped")
    assert values.fault == shape.fault
    assert shape.fault is not None
    assert shape.fault.file == str(tmp_path / "test_double.py")
