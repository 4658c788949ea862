"""Tasks that are handed out with code of their own in place of the stub: right or wrong, it earns nothing."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from autograder.grading.course.course import Course
from tests.support.courses import done, named, run
from tests.support.faults import make_own_course
from tests.support.helpers import autograder_here

NAME = "01_double"
SOURCE = Path("source") / NAME / "double.ipynb"
SOLUTION = "    return 2 * x\n    ### END SOLUTION"


def handing_out(course: Path, *code: str) -> Path:
    """Make a course whose task is handed out with this code."""
    make_own_course(course)
    notebook = nbformat.read(course / SOURCE, as_version=4)
    cell = named(notebook, "double")
    assert SOLUTION in cell["source"]
    instead = "".join(f"    # {line}\n" for line in code)
    cell["source"] = cell["source"].replace(
        SOLUTION, f"    return 2 * x\n    ### RELEASED INSTEAD\n{instead}    ### END SOLUTION"
    )
    nbformat.write(notebook, course / SOURCE)
    return course


def released(course: Path) -> str:
    notebook = nbformat.read(course / "release" / NAME / "double.ipynb", as_version=4)
    return named(notebook, "double")["source"]


WRONG = ("y = x", "for _ in range(2):", "    y = y + x", "", "return y[1:]")
GIVEN = '''def double(x):
    """x: a tensor of numbers. Returns twice the numbers."""
    y = x
    for _ in range(2):
        y = y + x

    return y[1:]
'''


def test_generate_and_build_hand_out_what_stands_below_the_mark(tmp_path):
    course = handing_out(tmp_path, *WRONG)
    done(run(course, "nbgrader", "generate_assignment", NAME))
    generated = (course / "release" / NAME / "double.ipynb").read_bytes()
    assert released(course) == GIVEN
    told = autograder_here("build", NAME, "--course", course)
    assert told.returncode == 0, told.stderr
    assert (course / "release" / NAME / "double.ipynb").read_bytes() == generated
    assert "unchanged" in autograder_here("build", NAME, "--course", course).stdout


def test_a_wrong_answer_that_is_left_as_it_was_is_wrong_and_no_response(tmp_path):
    course = handing_out(tmp_path, "return 2 * x[1:]")
    assert autograder_here("build", NAME, "--course", course).returncode == 0
    folder = course / "submitted" / "ada" / NAME
    folder.mkdir(parents=True)
    (folder / "double.ipynb").write_bytes((course / "release" / NAME / "double.ipynb").read_bytes())
    assert autograder_here("grade", NAME, "--course", course).returncode == 0
    (verdict,) = json.loads(autograder_here("results", NAME, "--json", "--course", course).stdout)
    first = verdict["tasks"][0]["checks"][0]
    assert (verdict["score"], first["outcome"], first["unwritten"]) == (0, "failed", False)
    assert first["diagnosis"]["mistake"] == "one_less"
    with Course.at(course).gradebook() as gradebook:
        found = gradebook.find_submission(NAME, "ada").notebooks[0]
        assert {each.name: each.comment for each in found.comments} == {"double": "No response."}


def test_a_wrong_answer_that_earns_something_is_refused(tmp_path):
    course = handing_out(tmp_path, "return 3 * x")
    told = autograder_here("build", NAME, "--course", course)
    assert told.returncode != 0
    assert "the unsolved notebook gets points (1 for `double`), for it passes `shape`" in " ".join(
        told.stderr.split()
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    ### END SOLUTION", "    ### RELEASED INSTEAD\n    ### END SOLUTION", "nothing stands below"),
        (
            "    ### END SOLUTION",
            "    ### RELEASED INSTEAD\n    return x\n    ### END SOLUTION",
            "is no comment: begin the line with `# `",
        ),
        (
            "    ### END SOLUTION",
            "    ### END SOLUTION\n    ### RELEASED INSTEAD\n    # return x",
            "stands outside of a solution",
        ),
        (
            "    ### END SOLUTION",
            "    ### RELEASED INSTEAD\n    # x\n    ### RELEASED INSTEAD\n    # x\n    ### END SOLUTION",
            "stands below the one in line 5",
        ),
        (
            "    ### END SOLUTION",
            "    ### RELEASED INSTED\n    # return x\n    ### END SOLUTION",
            "write `### RELEASED INSTEAD`",
        ),
        (
            "    ### END SOLUTION",
            "    ### RELEASED INSTEAD\n    # return (x\n    ### END SOLUTION",
            "what students are given is no Python (line 3 of it",
        ),
    ],
)
def test_a_mark_that_is_misplaced_is_refused_in_one_sentence(tmp_path, old, new, said):
    make_own_course(tmp_path)
    notebook = nbformat.read(tmp_path / SOURCE, as_version=4)
    cell = named(notebook, "double")
    cell["source"] = cell["source"].replace(old, new)
    nbformat.write(notebook, tmp_path / SOURCE)
    told = autograder_here("build", NAME, "--course", tmp_path)
    first, *rest = told.stderr.strip().splitlines()
    assert first.startswith(f"{SOURCE}, cell `double`, line") or first.startswith(
        f"{SOURCE}, cell `double`: "
    )
    assert said in first
    assert not [line for line in rest if line.startswith(str(SOURCE))]
