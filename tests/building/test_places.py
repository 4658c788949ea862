"""Every refusal of `autograder build` and `autograder validate` says where to look: file and line, or cell.

The sentences are others' affair. What a build refuses once it has run something is in `test_build.py` and
`test_handout.py`, with its place.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from autograder.grading.assignment.toml_lines import lines_of
from autograder.grading.building.examine import examine
from autograder.grading.course.course import Course
from autograder.grading.course.places import CheckFiles
from tests.support.faults import make_own_course
from tests.support.helpers import autograder_here

NAME = "01_double"
SOURCE = f"source/{NAME}/double.ipynb"
CHECKS = f"source/{NAME}/checks/test_double.py"
CATALOGUE = f"solutions/mistakes/{NAME}.toml"
VARIANTS = f"solutions/variants/{NAME}.toml"
SPECIFIED = '''"""`double(x)`: twice the numbers."""

import pytest

from autograder.checking import Dimensions, FunctionSpec, Without, expect, points, rule, weight
from autograder.checking import leaving_out, sized, with_inputs

DIMENSIONS = Dimensions(B="batch", D="features")

task = FunctionSpec(
    "double",
    inputs={"x": "B D"},
    outputs={"y": "B D"},
    reference=lambda x: 2 * x,
)
test_shape = task.shape(points=1)
test_values = task.values(
    title="It doubles every number.",
    points=1,
    needs=[test_shape],
)


def kept(function):
    return function
'''


@dataclass(frozen=True)
class Spoilt:
    """A file that is spoilt at one place: `old`, which stands there once, becomes `new`."""

    file: str
    old: str
    new: str
    at: str = ""
    """The beginning of the line to be named; `""` where the refusal is about the whole file."""

    def spoil(self, course: Path) -> str:
        """Spoil the file, and return what a refusal must begin with."""
        text = (course / self.file).read_text(encoding="utf-8")
        assert text.count(self.old) == 1, self.old
        text = text.replace(self.old, self.new)
        (course / self.file).write_text(text, encoding="utf-8")
        if not self.at:
            return f"{self.file}: "
        line = max(n for n, each in enumerate(text.split("\n"), 1) if each.strip().startswith(self.at))
        return f"{self.file}, line {line}: "


def checks(old: str, new: str, at: str) -> Spoilt:
    return Spoilt(CHECKS, old, new, at)


def after(new: str, at: str) -> Spoilt:
    """A check file with something more at its end."""
    return checks("    return function\n", f"    return function\n\n\n{new}\n", at)


def catalogue(old: str, new: str, at: str = "[three_times]") -> Spoilt:
    return Spoilt(CATALOGUE, old, new, at)


PLAIN = '@rule("values")\ndef test_more(submission, sizes, draw):\n    """More."""'
TASK, FIRST = "task = FunctionSpec(", 'find = "2 * x"\nreplace = "3'
SPOILT_FILES = {
    # The check file, as it is written.
    "no Python": checks("(points=1)", "(points=1", "test_shape = task.shape("),
    "quarter points": checks("(points=1)", "(points=0.75)", "test_shape"),
    "needs what is not there": checks("needs=[test_shape]", "needs=[test_shap]", "needs="),
    "needs itself in the end": after(
        'test_first = task.shape(needs=["last"])\ntest_last = task.shape(needs=["first"])', "test_first"
    ),
    "defined twice": after("test_values = task.values()", "test_values"),
    "no check at all": Spoilt(CHECKS, SPECIFIED, '"""Nothing yet."""\n'),
    "no rule": after(PLAIN.replace('@rule("values")', "@points(0)"), "def test_more"),
    "a rule that there is not": after(PLAIN.replace('"values"', '"value"'), "@rule"),
    "no docstring": after(PLAIN.replace('"""More."""', "pass"), "def test_more"),
    "no such fixture": after(PLAIN.replace("draw", "drew"), "def test_more"),
    "a mark without its argument": after(PLAIN.replace('("values")', ""), "@rule"),
    "a check that is async": after(PLAIN.replace("def ", "async def "), "async def test_more"),
    # The check file, once pytest reads it.
    "no such module": checks("import pytest\n", "import pytset\n", "import pytset"),
    "no such method": checks("task.values(", "task.value(", "test_values"),
    "no such mark": checks("(points=1)", "(point=1)", "test_shape"),
    "no such dimension": checks('"x": "B D"', '"x": "B Q"', TASK),
    "no such dimension of weights": checks('"x": "B D"', '"x": weight("B Q")', TASK),
    "no such dimension of a part": checks('"x": "B D"', '"x": {"a": "B Q"}', TASK),
    "no such dimension of a result": checks('"y": "B D"', '"y": "B Q"', TASK),
    "dimensions that are none": checks("= Dimensions(", "= dict(", TASK),
    "a dimension of two letters": checks('D="features"', 'De="features"', "DIMENSIONS"),
    "two dimensions of one name": checks('D="features"', 'D="batch"', "DIMENSIONS"),
    "a case with no such dimension": after('test_more = task.any_size(sized("large", Q=9))', "test_more"),
    "a case with no such size": after('test_more = task.any_size(sized("square", B="Q"))', "test_more"),
    "a case with no such input": after('test_more = task.values(with_inputs("zero", y="B D"))', "test_more"),
    "a case that draws no such dimension": after(
        'test_more = task.values(with_inputs("zero", x="B Q"))', "test_more"
    ),
    "a case that leaves out no such input": after('test_more = task.dtypes(leaving_out("h"))', "test_more"),
    "a task that no cell defines": checks('    "double",', '    "dubble",', '"dubble"'),
    "no reference": checks("=lambda x: 2 * x", "=None", TASK),
    "nothing forbidden": after("test_scratch = task.from_scratch()", "test_scratch"),
    "no pattern": after('NOT = Without(operators="conv(")', "NOT"),
    "quarter points that are computed": checks("(points=1)", "(points=3 / 4)", "test_shape"),
    "an empty title": checks("(points=1)", '(points=1, title=" ")', "test_shape"),
    "no docstring below something else": after(
        f"@kept\n{PLAIN}".replace('"""More."""', "pass"), "def test_more"
    ),
    "no such fixture below something else": after(f"@kept\n{PLAIN}".replace("draw", "drew"), "def test_more"),
    "a mark of pytest's": after(f"@pytest.mark.skip\n{PLAIN}", "def test_more"),
    "parameters of nothing": after(f'@pytest.mark.parametrize("n", [1])\n{PLAIN}', "def test_more"),
    "parameters given twice": after(
        '@pytest.mark.parametrize("draw", [1])\n@pytest.mark.parametrize("draw", [1])\n' + PLAIN,
        "def test_more",
    ),
    "something that ends Python": after("raise SystemExit(3)", "raise SystemExit"),
    # Known mistakes.
    "no TOML": catalogue('replace = "3 * x"', "replace = 3 * x", "replace = 3"),
    "a text that does not end": catalogue('"You leave the first one out."', '"""You leave', "hint"),
    "a field too few": catalogue('caught_by = "values"\n', ""),
    "a field too many": catalogue('hint = "You mult', 'note = "x"\nhint = "You mult'),
    "a rule of no check": catalogue('caught_by = "values"', 'caught_by = "dropout"'),
    "no such rule": catalogue('caught_by = "values"', 'caught_by = "value"'),
    "no hint": catalogue('"You multiply by three."', '""'),
    "no such task": catalogue(f'task = "double"\n{FIRST}', f'task = "dubble"\n{FIRST}'),
    "an edit of nothing": catalogue(FIRST, FIRST.replace("2 * x", "2*x")),
    "an entry that is no table": catalogue("[three_times]", "no_table = 3\n[three_times]", "no_table"),
    "a head written otherwise": catalogue(
        f'[three_times]\ntask = "double"\n{FIRST}',
        f'\n[ "three_times" ] # 3\ntask = "double"\n{FIRST.replace("2 * x", "2*x")}',
        '[ "three',
    ),
}


@pytest.fixture(scope="module")
def origin(tmp_path_factory) -> Path:
    """The small course, its checks made by a specification, not built."""
    root = tmp_path_factory.mktemp("origin")
    make_own_course(root).write_text(SPECIFIED, encoding="utf-8")
    assert examine(Course.at(root), [NAME]) == []
    return root


@pytest.fixture
def course(origin: Path, tmp_path: Path) -> Path:
    shutil.copytree(origin, tmp_path / "course")
    return tmp_path / "course"


@pytest.mark.parametrize("what", SPOILT_FILES)
def test_a_refused_file(course, what):
    place = SPOILT_FILES[what].spoil(course)
    found = [str(problem) for problem in examine(Course.at(course), [NAME])]
    assert found
    assert [problem for problem in found if not problem.startswith(place)] == []


Edit = Callable[[nbformat.NotebookNode], object]


def notebook(edit: Edit) -> Callable[[Path], object]:
    def spoil(course: Path) -> None:
        edited = nbformat.read(course / SOURCE, as_version=4)
        edit(edited)
        nbformat.write(edited, course / SOURCE)

    return spoil


def task(*edits: tuple[str, str]) -> Callable[[Path], object]:
    """Other text in the task's cell."""

    def edit(edited: nbformat.NotebookNode) -> None:
        for old, new in edits:
            assert old in edited.cells[1]["source"]
            edited.cells[1]["source"] = edited.cells[1]["source"].replace(old, new)

    return notebook(edit)


def raw(edit: Callable[[dict], object]) -> Callable[[Path], object]:
    def spoil(course: Path) -> None:
        data = json.loads((course / SOURCE).read_text())
        edit(data)
        (course / SOURCE).write_text(json.dumps(data))

    return spoil


TOO_EARLY = nbformat.v4.new_code_cell("1\ndouble(3)", metadata={"tags": ["demonstration"]})
SPOILT_NOTEBOOKS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no JSON": (lambda at: (at / SOURCE).write_text('{\n "cells": [,]\n}'), f"{SOURCE}, line 2, column 12: "),
    "not UTF-8": (lambda at: (at / SOURCE).write_bytes(b"\xff"), f"{SOURCE}: "),
    "no valid cell": (raw(lambda data: data["cells"][1].pop("source")), f"{SOURCE}, cell 2: "),
    "an id twice": (notebook(lambda it: it.cells.append(it.cells[1])), f"{SOURCE}, cell 4: "),
    "no Python in a cell": (task(("2 * x", "2 * (x")), f"{SOURCE}, cell `double`, line 4: "),
    "no end of a solution": (task(("### END SOLUTION", "")), f"{SOURCE}, cell `double`, line 3: "),
    "no marks of a solution": (
        task(("### END SOLUTION", ""), ("### BEGIN SOLUTION", "")),
        f"{SOURCE}, cell `double`: ",
    ),
    "other points": (
        notebook(lambda it: it.cells[2]["metadata"]["nbgrader"].update(points=3)),
        f"{SOURCE}, cell `check_double`: ",
    ),
    "no points": (
        notebook(lambda it: it.cells[2]["metadata"]["nbgrader"].pop("points")),
        f"{SOURCE}, cell `check_double`: ",
    ),
    "no cell that grades": (notebook(lambda it: it.cells.pop(2)), f"{CHECKS}: "),
    "no checks of a task": (
        lambda at: (at / CHECKS).rename(at / CHECKS.replace("test_double", "test_triple")),
        f"{SOURCE}, cell `check_double`: ",
    ),
    "a demonstration too early": (
        notebook(lambda it: it.cells.append(TOO_EARLY)),
        f"{SOURCE}, cell 4 (1), line 2: ",
    ),
    "a name that Windows has not": (
        lambda at: (at / "source" / NAME / "a:b.csv").write_text("1"),
        f"source/{NAME}/a:b.csv: ",
    ),
}


@pytest.mark.filterwarnings("ignore:Non-unique cell id")
@pytest.mark.parametrize("what", SPOILT_NOTEBOOKS)
def test_a_refused_notebook(course, what):
    spoil, place = SPOILT_NOTEBOOKS[what]
    spoil(course)
    found = [str(problem) for problem in examine(Course.at(course), [NAME])]
    assert any(problem.startswith(place) for problem in found), found


@pytest.mark.parametrize(
    "given", ["from helpers import *", "%run helpers.py", 'exec("def dubble(x): return 2 * x")']
)
def test_a_task_that_something_else_may_define_is_not_refused(course, given):
    SPOILT_FILES["a task that no cell defines"].spoil(course)
    notebook(lambda it: it.cells.insert(0, nbformat.v4.new_code_cell(given)))(course)
    assert examine(Course.at(course), [NAME]) == []


# --- What is found out by judging ----------------------------------------------------------------

MORE_CHECKS = '''

@rule("generality")
def test_nobody_needs(submission, sizes, draw):
    """It ends."""
    submission.double(draw("B D"))


test_teaching = task.values(points=0.5, needs=[test_shape], teaching_only=True)


@rule("values")
def test_not_for_one(submission, sizes, draw):
    """It works, but not with the smallest sizes."""
    x = draw("B D")
    right = 2 * x if sizes.D > 3 or sizes.B > 3 else x
    expect(submission.double(x), right, names="y", dims="B D", sizes=sizes)


@rule("values")
def test_fault(submission, sizes, draw):
    """It returns as many rows."""
    x = draw("B D")
    if submission.double(x).shape != x.shape:
        nowhere  # only the mistake of the rule `shape` comes here
'''
MORE_MISTAKES = '''
[right_as_it_is]
task = "double"
find = "2 * x"
replace = "x * 2"
caught_by = "values"
hint = "None."

# A comment about
# [by_another_rule]
[by_another_rule]
task = "double"
find = "2 * x"
replace = "7 * x"
caught_by = "shape"
hint = """
[one_like_another]
task = "double" """

[one_like_another]
task = "double"
find = "2 * x"
replace = "x * 3"
caught_by = "values"
hint = "As three times."
'''
MORE_ANSWERS = """
[double]
"right" = "def double(x):\\n    return x + x"
"wrong" = '''
def double(x):
    return 5 * x
'''
"""
STOPPED = nbformat.v4.new_code_cell(
    "import torch\nfrom autograder import after\n\nseen = []\n"
    'with after("double"):\n    seen.append(double(torch.ones(2, 3)))\nfor y in seen:\n    print(y[:, 1])',
    metadata={"tags": ["demonstration"]},
)
"""A cell that stops where `double` returns `None`, though neither the solution nor the stub stops it."""
JUDGED = {
    "a mistake that nothing catches": (CATALOGUE, "[right_as_it_is]"),
    "a mistake that another rule catches": (CATALOGUE, "[by_another_rule]"),
    "a mistake that is named as another": (CATALOGUE, "[one_like_another]"),
    "a check that catches nothing alone": (CHECKS, "def test_nobody_needs"),
    "a check that teaches and has points": (CHECKS, "test_teaching ="),
    "a check that fails small inputs": (CHECKS, "def test_not_for_one"),
    "a check with a fault": (CHECKS, "        nowhere"),
    "a right answer that loses": (VARIANTS, '"wrong" ='),
}


@pytest.fixture(scope="module")
def judged(origin: Path, tmp_path_factory) -> tuple[Path, list[str]]:
    """A course that was built, then spoilt in every way that only judging shows, and what `validate` says."""
    course = tmp_path_factory.mktemp("judged") / "course"
    shutil.copytree(origin, course)
    notebook(lambda it: it.cells.extend([STOPPED, nbformat.v4.new_code_cell("print(seen)")]))(course)
    told = autograder_here("build", "--course", course)
    assert told.returncode == 0, told.stderr
    text = (course / CHECKS).read_text()
    assert text.count("(points=1)") == 1
    (course / CHECKS).write_text(text.replace("(points=1)", "(points=0.5)") + MORE_CHECKS)
    (course / CATALOGUE).write_text((course / CATALOGUE).read_text() + MORE_MISTAKES)
    (course / VARIANTS).parent.mkdir()
    (course / VARIANTS).write_text(MORE_ANSWERS)
    told = autograder_here("validate", "--json", "--course", course)
    assert told.returncode == 1, told.stderr
    (found,) = json.loads(told.stdout)["assignments"]
    return course, found["problems"]


@pytest.mark.parametrize("what", JUDGED)
def test_what_validate_refuses(judged, what):
    course, problems = judged
    file, begin = JUDGED[what]
    written = (course / file).read_text().split("\n")
    # What stands in a hint as well stands there first.
    line = max(number for number, text in enumerate(written, 1) if text.startswith(begin))
    assert [problem for problem in problems if problem.startswith(f"{file}, line {line}: ")], problems


def test_run_all_ends_at_a_cell_that_a_wrong_answer_stops(judged):
    stopped = [problem for problem in judged[1] if problem.startswith(SOURCE)]
    assert stopped == [
        f"{SOURCE}, cell 4 (import torch): Run All ends here where every task returns None: it stops with "
        "TypeError: 'NoneType' object is not subscriptable\n    line 8: print(y[:, 1])"
    ]


def test_all_that_validate_refuses_has_a_place(judged):
    course, problems = judged
    for problem in problems:
        if problem.startswith(f"{SOURCE}, cell "):
            continue
        file, _, line = problem.partition(": ")[0].partition(", line ")
        assert (course / file).is_file(), problem
        assert line.isdigit() or file.endswith("hints.json"), problem


BROKEN_ANSWERS = {
    "no TOML": ('[double]\n"right" = def\n', 2),
    "no task": ('[double]\n"right" = ""\n\n[triple]\n', 4),
    "no table": ("double = 3\n", 1),
    "no texts": ('[double]\n"right" = 3\n', 1),
}


@pytest.mark.parametrize("what", BROKEN_ANSWERS)
@pytest.mark.slow
def test_right_answers_that_cannot_be_read(judged, tmp_path, what):
    text, line = BROKEN_ANSWERS[what]
    course = tmp_path / "course"
    shutil.copytree(judged[0], course)
    (course / VARIANTS).write_text(text)
    told = autograder_here("validate", "--course", course)
    assert told.returncode == 1
    assert told.stderr.startswith(f"{VARIANTS}, line {line}: "), told.stderr


@pytest.mark.slow
def test_a_solution_that_fails_is_told_with_its_cell_and_the_checks_line(course):
    text = (course / SOURCE).read_text()
    (course / SOURCE).write_text(text.replace("return 2 * x", "return 2 * x + 1"))
    (course / CATALOGUE).unlink()
    told = autograder_here("build", "--course", course)
    assert told.returncode == 1
    line = 1 + SPECIFIED.split("\n").index("test_values = task.values(")
    begin = f"{SOURCE}, cell `double`: "
    (refusal,) = (each for each in told.stderr.splitlines() if each.startswith(begin))
    assert f"{CHECKS}, line {line}" in refusal


# --- The lines themselves ------------------------------------------------------------------------

TOML = '''# [a]
top = 1
list = [
  "[a]",
]

[a] # here
x = """
[b]
x = 1
"""
"two words" = "
[b]"

[ "b" . 'c d' ]
e.f = { g = 1 }
'''.replace('= "\n', "= '''\n").replace('[b]"', "[b]'''")


def test_the_lines_of_toml():
    assert lines_of(TOML) == {
        ("top",): 2,
        ("list",): 3,
        ("a",): 7,
        ("a", "x"): 8,
        ("a", "two words"): 12,
        ("b",): 15,
        ("b", "c d"): 15,
        ("b", "c d", "e"): 16,
        ("b", "c d", "e", "f"): 16,
        ("b", "c d", "e", "f", "g"): 16,
    }


def test_the_lines_of_checks():
    text = "from given import test_b\n\n\nif 1:\n    test_c = test_b\n"
    files = CheckFiles("checks", {"test_a.py": text}, True)
    assert [files.of_check("a", name) for name in ("b", "c", "d")] == [
        "checks/test_a.py, line 1",
        "checks/test_a.py, line 5",
        "checks/test_a.py",
    ]
    assert files.of_check("z", "b") == "checks/test_z.py"


def test_a_check_of_a_statement_of_all_checks_has_the_line_of_what_is_said_of_it():
    text = "standard(\n    task,\n    values=1,\n    gradients=worth(1),\n)\n"
    files = CheckFiles("checks", {"test_double.py": text}, True)
    places = [files.of_check("double", name) for name in ("shape", "values", "gradients")]
    assert places == [f"checks/test_double.py, line {line}" for line in (1, 3, 4)]
