"""Tasks that are handed out with code of their own in place of the stub: right or wrong, it earns nothing."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from autograder.grading.course.course import Course
from autograder.reporting.overview.built import built
from tests.support.courses import done, named, run
from tests.support.faults import make_own_course
from tests.support.helpers import autograder_here

NAME = "01_double"
SOURCE = Path("source") / NAME / "double.ipynb"
END = "    ### END SOLUTION"


def in_source(course: Path, old: str, new: str) -> None:
    notebook = nbformat.read(course / SOURCE, as_version=4)
    cell = named(notebook, "double")
    assert old in cell["source"]
    cell["source"] = cell["source"].replace(old, new)
    nbformat.write(notebook, course / SOURCE)


def handing_out(course: Path, *code: str) -> Path:
    """Make a course whose task is handed out with this code."""
    make_own_course(course)
    instead = "".join(f"    # {line}\n" for line in code)
    in_source(course, END, f"    ### RELEASED INSTEAD\n{instead}{END}")
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
    assert built(Course.at(course), NAME) == "yes"
    in_source(course, "    # return y[1:]", "    # return y[2:]")
    assert built(Course.at(course), NAME) == "changed"


def test_known_mistakes_are_edits_of_what_is_right_alone(tmp_path):
    course = handing_out(tmp_path, "return 2 * x[1:]")
    assert autograder_here("build", NAME, "--course", course).returncode == 0
    in_source(course, "    return 2 * x\n", "    return x + x + x\n")
    assert "Known mistake three_times" in autograder_here("check", course / SOURCE, "--course", course).stdout


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
    ("new", "said"),
    [
        (f"    ### RELEASED INSTEAD\n{END}", "nothing stands below"),
        (f"    ### RELEASED INSTEAD\n    return x\n{END}", "is no comment: begin the line with `# `"),
        (f"{END}\n    ### RELEASED INSTEAD\n    # return x", "stands outside of a solution"),
        (2 * "    ### RELEASED INSTEAD\n    # x\n" + END, "stands below the one in line 5"),
        (f"    ### RELEASED INSTED\n    # return x\n{END}", "write `### RELEASED INSTEAD`"),
        (f"    ### RELEASED INSTEAD\n    # return (x\n{END}", "what students are given is no Python (line 3"),
    ],
)
def test_a_mark_that_is_misplaced_is_refused_in_one_sentence(tmp_path, new, said):
    make_own_course(tmp_path)
    in_source(tmp_path, END, new)
    told = autograder_here("build", NAME, "--course", tmp_path)
    first, *rest = told.stderr.strip().splitlines()
    assert first.startswith(f"{SOURCE}, cell `double`, line") or first.startswith(
        f"{SOURCE}, cell `double`: "
    )
    assert said in first
    assert not [line for line in rest if line.startswith(str(SOURCE))]
