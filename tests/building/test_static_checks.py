"""`autograder build` on a course that cannot be built: all of it is told, with its place; nothing is touched."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.grading.building.check_files import look_at_check_files
from autograder.grading.building.examine import examine
from autograder.grading.course.course import Course
from tests.support.courses import LSTM, NOTEBOOK, ROOT, files, named, source
from tests.support.helpers import autograder_here

SOURCE = f"source/{LSTM}/{NOTEBOOK}"
CHECKS = f"source/{LSTM}/checks"
CATALOGUE = f"solutions/mistakes/{LSTM}.toml"


@pytest.fixture
def course(tmp_path) -> Path:
    """A course with one assignment, its checks beside it and a catalogue, that has not been built."""
    shutil.copyfile(ROOT / "nbgrader_config.py", tmp_path / "nbgrader_config.py")
    (tmp_path / "solutions" / "mistakes").mkdir(parents=True)
    shutil.copyfile(ROOT / CATALOGUE, tmp_path / CATALOGUE)
    shutil.copytree(ROOT / "autograder" / "exercises" / "lstm_cell", tmp_path / CHECKS)
    nbformat.write(source(), tmp_path / SOURCE)
    return tmp_path


def told(course: Path, *names: str, command: str = "build") -> list[str]:
    """The problems that a build names; it ends with status 1 and touches nothing."""
    before = files(course, ".")
    result = autograder_here(command, *names, "--course", course)
    assert (result.returncode, result.stdout) == (1, "")
    assert files(course, ".") == before
    *problems, last = result.stderr.splitlines()
    many = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    only_mistakes = all(problem.startswith(CATALOGUE) for problem in problems)
    advice = " `autograder check` judges the source notebook all the same." if only_mistakes else ""
    assert last == f"{many}; nothing was run and nothing was changed.{advice}"
    return problems


def edited(course: Path, edit: Callable[[NotebookNode], object]) -> None:
    notebook = nbformat.read(course / SOURCE, as_version=4)
    edit(notebook)
    nbformat.write(notebook, course / SOURCE)


def replaced(course: Path, file: str, old: str, new: str) -> int:
    """Put other text into a file, where it stands once; returns its line."""
    text = (course / file).read_text(encoding="utf-8")
    assert text.count(old) == 1, (file, old)
    (course / file).write_text(text.replace(old, new), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def in_cell(name: str, old: str, new: str) -> Callable[[NotebookNode], None]:
    def edit(notebook: NotebookNode) -> None:
        cell = named(notebook, name)
        assert old in cell["source"]
        cell["source"] = cell["source"].replace(old, new)

    return edit


def line_of(name: str, text: str) -> int:
    lines = named(source(), name)["source"].split("\n")
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_everything_is_told_at_once(course):
    def spoil(notebook: NotebookNode) -> None:
        in_cell("lstm_gates", "    ### END SOLUTION", "")(notebook)
        in_cell("copy_from_torch", "### BEGIN SOLUTION", "### BEGIN SOULTION")(notebook)
        in_cell("setup", "torch.manual_seed(3);", "torch.manual_seed(3")(notebook)
        notebook.cells.remove(named(notebook, "check_LSTMCell"))

    edited(course, spoil)
    stated = replaced(
        course, f"{CHECKS}/test_LSTMCell.py", "def test_gradients(", "def test_starting_weights("
    )
    find = replaced(
        course,
        CATALOGUE,
        'find = "i, f, g, o = sums.chunk(4, dim=1)"\nreplace = "i, f, o, g',
        'find = "gone"\nreplace = "i, f, o, g',
    )
    problems = told(course)
    assert [problem.partition(": ")[0] for problem in problems] == [
        f"{SOURCE}, cell `setup`, line {line_of('setup', 'manual_seed')}",
        f"{SOURCE}, cell `lstm_gates`, line {line_of('lstm_gates', 'BEGIN SOLUTION')}",
        f"{SOURCE}, cell `copy_from_torch`, line {line_of('copy_from_torch', 'BEGIN SOLUTION')}",
        f"{CHECKS}/test_LSTMCell.py",
        f"{CHECKS}/test_LSTMCell.py, line {stated}",
        *[problem.partition(": ")[0] for problem in problems if CATALOGUE in problem],
    ]
    stale, ungraded = (problem for problem in problems if CATALOGUE in problem)
    assert f"{CATALOGUE}, line {find - 2}" in stale
    assert re.search(
        r"line \d+: \w+ and \d\d more are mistakes in `LSTMCell`, which no cell grades\.$", ungraded
    )


SPOILT: dict[str, tuple[Callable[[NotebookNode], object], list[str]]] = {
    "an id twice": (
        lambda notebook: notebook.cells.insert(20, named(notebook, "lstm_gates")),
        [
            f"{SOURCE}, cell 21: has the id `lstm_gates`, which cell 20 has, too: "
            "give one of them another id, or delete the copy."
        ],
    ),
    "an end without a beginning": (
        in_cell("lstm_gates", "### BEGIN SOLUTION", "# here"),
        [
            f"{SOURCE}, cell `lstm_gates`, line {line_of('lstm_gates', 'END SOLUTION')}: "
            "`END SOLUTION` without a `BEGIN SOLUTION` above it in the cell."
        ],
    ),
    "a beginning inside": (
        in_cell("lstm_gates", "### END SOLUTION", "### BEGIN SOLUTION\n    ### END SOLUTION"),
        [
            f"{SOURCE}, cell `lstm_gates`, line {line_of('lstm_gates', 'END SOLUTION')}: `BEGIN SOLUTION` stands "
            f"inside the solution that line {line_of('lstm_gates', 'BEGIN SOLUTION')} begins: "
            "put `END SOLUTION` before it."
        ],
    ),
    "a cell without marks": (
        lambda notebook: (
            in_cell("lstm_gates", "### BEGIN SOLUTION", "# from here")(notebook),
            in_cell("lstm_gates", "### END SOLUTION", "# to here")(notebook),
        ),
        [
            f"{SOURCE}, cell `lstm_gates`: no `### BEGIN SOLUTION` in it: students would be given the stub in place "
            "of the line that defines `lstm_gates`, too. Put `### BEGIN SOLUTION` and `### END SOLUTION` around "
            "what they are to write."
        ],
    ),
    "a solution in a cell that is given": (
        in_cell(
            "setup", "torch.manual_seed(3);", "### BEGIN SOLUTION\ntorch.manual_seed(3)\n### END SOLUTION"
        ),
        [
            f"{SOURCE}, cell `setup`, line {line_of('setup', 'manual_seed')}: `BEGIN SOLUTION` in a cell that is no solution cell: nbgrader refuses "
            "to release it. Make it a solution cell with an id (Create Assignment), or take the marks out."
        ],
    ),
    "hidden tests that do not end": (
        in_cell("check_lstm_gates", 'check("lstm_gates")', 'check("lstm_gates")\n### BEGIN HIDDEN TESTS'),
        [
            f"{SOURCE}, cell `check_lstm_gates`, line 2: `BEGIN HIDDEN TESTS` without a `END HIDDEN TESTS` below it "
            "in the cell."
        ],
    ),
    "a mark that stands too far out": (
        in_cell("lstm_gates", "    ### BEGIN SOLUTION", "### BEGIN SOLUTION"),
        [
            f"{SOURCE}, cell `lstm_gates`, line {line_of('lstm_gates', 'BEGIN SOLUTION')}: `BEGIN SOLUTION` stands "
            "further left than the solution, and the stub that students are given stands where the mark does: "
            "move it in."
        ],
    ),
    "a release that is no Python": (
        in_cell("lstm_gates", "    ### BEGIN SOLUTION", "    if True:\n    ### BEGIN SOLUTION\n        pass"),
        [
            f"{SOURCE}, cell `lstm_gates`, line {line_of('lstm_gates', 'BEGIN SOLUTION') + 1}: `BEGIN SOLUTION` "
            "stands further left than the solution, and the stub that students are given stands where the mark "
            "does: move it in."
        ],
    ),
    "half a block taken out": (
        in_cell(
            "lstm_gates",
            "    ### END SOLUTION",
            "    try:\n        pass\n    ### END SOLUTION\n    finally:\n        pass",
        ),
        [
            f"{SOURCE}, cell `lstm_gates`: what students are given is no Python (line 16 of it: invalid syntax): "
            "do `### BEGIN SOLUTION` and `### END SOLUTION` take out whole blocks, and stand as far in as they?"
        ],
    ),
    "a demonstration without after": (
        lambda notebook: notebook.cells.append(
            nbformat.v4.new_code_cell(
                "def later():\n    return lstm_gates()\n\n\nprint(1)\nprint(lstm_gates(1))",
                metadata={"tags": ["demonstration"]},
            )
        ),
        [
            f"{SOURCE}, cell 56 (def later():), line 6: uses `lstm_gates` outside "
            '`with after("lstm_gates"):`, so that a wrong answer can stop the notebook here: move it into such a block.'
        ],
    ),
    "a solution that is no Python": (
        in_cell("lstm_gates", "sums.chunk(4, dim=1)", "sums.chunk(4, dim=1"),
        [
            f"{SOURCE}, cell `lstm_gates`, line {line_of('lstm_gates', 'chunk')}: is no Python: '(' was never closed "
            "(`i, f, g, o = sums.chunk(4, dim=1`)."
        ],
    ),
    "a task that nothing grades": (
        lambda notebook: named(notebook, "check_lstm_gates")["metadata"].pop("nbgrader"),
        [
            f'{CHECKS}/test_lstm_gates.py: cell 21 (check("lstm_gates")) calls `check("lstm_gates")`, but is no '
            "graded cell that holds nothing else: its points would be lost. Make one (Create Assignment: Autograder "
            "tests), with the points.",
        ],
    ),
    "a task without checks": (
        in_cell("check_lstm_gates", "lstm_gates", "lstm_gate"),
        [
            f'{CHECKS}/test_lstm_gates.py: no graded cell of {SOURCE} is just `check("lstm_gates")`, so that '
            "nothing is graded. Make one (Create Assignment: Autograder tests), with the points.",
            f"{SOURCE}, cell `check_lstm_gates`: there are no checks of `lstm_gate`: they belong into "
            f"{CHECKS}/test_lstm_gate.py.",
        ],
    ),
    "points that are not there": (
        lambda notebook: named(notebook, "check_lstm_gates")["metadata"]["nbgrader"].pop("points"),
        [
            f"{SOURCE}, cell `check_lstm_gates`: nbgrader refuses its metadata: nbgrader cell 'check_lstm_gates' "
            "does not have points"
        ],
    ),
    "points that differ": (
        lambda notebook: named(notebook, "check_lstm_gates")["metadata"]["nbgrader"].update(points=3),
        [
            f"{SOURCE}, cell `check_lstm_gates`: gives 3 points, its checks give 2 (matches_torch 0.5, any_size 0.5, gradients 0.5, arguments_untouched 0.5)."
        ],
    ),
}


@pytest.mark.parametrize("what", SPOILT)
def test_a_spoilt_notebook(course, what):
    edit, expected = SPOILT[what]
    edited(course, edit)
    problems = told(course, LSTM)
    assert [problem for problem in problems if not problem.startswith(CATALOGUE)] == expected


def test_a_notebook_that_is_no_json(course):
    text = (course / SOURCE).read_text(encoding="utf-8")
    lines = text.split("\n")
    lines[8] = "<<<<<<< HEAD"
    (course / SOURCE).write_text("\n".join(lines), encoding="utf-8")
    (problem,) = told(course)
    assert problem == (
        f"{SOURCE}, line 9, column 1: is no JSON that can be read: Expecting value. "
        "It holds the marks of a merge that was not finished."
    )


CHECK = '''"""A task."""

import torch
import {imports}
from autograder.checking import expect, needs, points, rule


@points({points})
@rule("{rule}")
@needs({needs})
def test_one({fixture}, draw):
    """{title}"""
    expect(submission.lstm_gates(draw("B D")), torch.zeros(1), names="x", dims="B", sizes=draw.sizes)
'''
GOOD = {
    "imports": "os",
    "points": 2,
    "rule": "values",
    "needs": "",
    "fixture": "submission",
    "title": "It holds.",
}
SPOILT_CHECKS = {
    "points": (
        {"points": 0.75},
        "8: stops when it is imported with ValueError: 0.75 points: points are whole or half numbers",
    ),
    "rule": (
        {"rule": "value"},
        "9: stops when it is imported with ValueError: 'value' is no rule; the rules are shape,",
    ),
    "needs": (
        {"needs": "'shape'"},
        "11: `test_one` needs `test_shape`, which is no check of `lstm_gates` (did you mean `test_one`?).",
    ),
    "needs what comes later": (
        {"needs": "'one'"},
        "11: `test_one` needs a check that, in the end, needs it, too",
    ),
    "fixture": (
        {"fixture": "submission, size"},
        "11: `test_one` in test_lstm_gates.py asks for `size`, which there is not: a check may ask for submission, ",
    ),
    "docstring": ({"title": " "}, "11: `test_one` in test_lstm_gates.py needs a docstring (its title)"),
    "syntax": ({"needs": ")"}, "10: is no Python: unmatched ')' (`@needs())`)."),
    "import": (
        {"imports": "nosuchmodule"},
        "4: stops when it is imported with ModuleNotFoundError: No module named 'nosuchmodule'",
    ),
    "something else at import": (
        {"imports": "torch; 1 / 0"},
        "4: stops when it is imported with ZeroDivisionError: division by zero",
    ),
}


@pytest.mark.parametrize("what", SPOILT_CHECKS)
def test_a_spoilt_check_file(course, what):
    change, expected = SPOILT_CHECKS[what]
    (course / CHECKS / "test_lstm_gates.py").write_text(CHECK.format(**{**GOOD, **change}), encoding="utf-8")
    (course / CATALOGUE).unlink()
    (problem,) = told(course)
    assert problem.startswith(f"{CHECKS}/test_lstm_gates.py, line {expected}"), problem


SPECIFIED = """
from autograder.checking import FunctionSpec

task = FunctionSpec("lstm_gates", inputs={"x": "B D"}, outputs={"i": "B D"}, reference=abs)
test_shape = task.shape()
test_values = task.values(points=2, needs=[test_shape])
test_values_too = task.values(needs=["values"])
"""
STATED = """
from autograder.checking import FunctionSpec, standard, worth

task = FunctionSpec("lstm_gates", inputs={"x": "B D"}, outputs={"i": "B D"}, reference=abs)
standard(
    task,
    values=2,
    gradients=worth(0.5, name="slopes", needs=["values"]),
    devices="it creates nothing",
)
"""


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("points=2", "points=0.75"), "line 6: stops when it is imported with ValueError: 0.75 points"),
        (
            ('["values"]', '["value"]'),
            "line 7: `test_values_too` needs `test_value`, which is no check of `lstm_gates` (did you mean `test_values`?).",
        ),
        (
            ('["values"]', '["values_too"]'),
            "line 7: `test_values_too` needs a check that, in the end, needs it, too",
        ),
        (
            ('test_values_too = task.values(needs=["values"])', "test_values = task.values()"),
            "line 7: `test_values` is defined a second time, and the one of line 6",
        ),
        (('inputs={"x": "B D"}', 'inputs={"x": "B Q"}'), "line 4: stops when it is imported with ValueError"),
    ],
)
def test_a_spoilt_specification(course, change: tuple[str, str], expected: str):
    assert change[0] in SPECIFIED
    (course / CHECKS / "test_lstm_gates.py").write_text(SPECIFIED.replace(*change), encoding="utf-8")
    (course / CATALOGUE).unlink()
    (problem,) = told(course)
    assert problem.startswith(f"{CHECKS}/test_lstm_gates.py, {expected}"), problem


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            ("values=2", "values=0.75"),
            "line 5: stops when it is imported with ValueError: `values`: 0.75 points",
        ),
        (
            ("worth(0.5", "worth(0.75"),
            "line 5: stops when it is imported with ValueError: `gradients`: 0.75 points",
        ),
        (
            ('["values"]', '["value"]'),
            "line 5: `test_slopes` needs `test_value`, which is no check of `lstm_gates` (did you mean `test_values`?).",
        ),
        (
            ('["values"]', '["device"]'),
            "line 5: `test_slopes` needs `test_device`, which is no check of `lstm_gates`",
        ),
        (
            ('"slopes", needs=["values"]', '"values"'),
            "line 5: stops when it is imported with ValueError: the file has a check `test_values` already",
        ),
        (
            ('"slopes", needs=["values"]', '"test_values"'),
            "line 5: stops when it is imported with ValueError: the file has a check `test_values` already",
        ),
    ],
)
def test_a_spoilt_statement_of_all_checks(course, change: tuple[str, str], expected: str):
    assert change[0] in STATED
    (course / CHECKS / "test_lstm_gates.py").write_text(STATED.replace(*change), encoding="utf-8")
    (course / CATALOGUE).unlink()
    (problem,) = told(course)
    assert problem.startswith(f"{CHECKS}/test_lstm_gates.py, {expected}"), problem


OTHER = """
standard(
    other,
    shape=worth(name="other_shape"),
    values=worth(name="other_values"),
    any_size="as above",
    gradients="as above",
    dtypes="as above",
    leaves_arguments="as above",
    devices="as above",
)
"""


@pytest.mark.parametrize(
    "text",
    [
        STATED.replace("import FunctionSpec, standard", "import FunctionSpec, standard as all_of").replace(
            "standard(", "all_of("
        ),
        STATED.replace("standard(", "checking.standard(").replace(
            "from", "from autograder import checking\nfrom"
        ),
        STATED.replace("standard(", "for task in [task]:\n  standard("),
        STATED.replace("standard(", "all_of = standard(").replace("gradients", "shape=0,\n    gradients"),
    ],
    ids=["another name", "of its module", "in a loop", "assigned"],
)
def test_a_statement_of_all_checks_may_be_written_otherwise(text):
    assert list(look_at_check_files({"test_lstm_gates.py": text}, CHECKS)) == []


def test_two_statements_have_in_common_what_neither_makes():
    assert list(look_at_check_files({"test_lstm_gates.py": STATED + OTHER}, CHECKS)) == []


def test_a_file_beside_checks_with_the_name_of_a_module():
    files = {"test_lstm_gates.py": STATED, "torch.py": "", "random.py": "", "given.py": ""}
    assert list(map(str, look_at_check_files(files, CHECKS))) == [
        f"{CHECKS}/{name}.py: has the name of the module `{name}`, which checks then import: choose another."
        for name in ("random", "torch")
    ]


def test_a_check_that_is_defined_twice_and_one_that_is_none(course):
    checks = course / CHECKS
    (course / CATALOGUE).unlink()
    good = CHECK.format(**GOOD)
    (checks / "test_lstm_gates.py").write_text(good + good[good.index("@points") :], encoding="utf-8")
    (checks / "test_lstm_cell.py").write_text('"""Nothing yet."""\n', encoding="utf-8")
    assert told(course) == [
        f"{CHECKS}/test_lstm_cell.py: has no check: `standard(…)`, or a function whose name begins with "
        "`test_`.",
        f"{CHECKS}/test_lstm_gates.py, line 17: `test_one` is defined a second time, and the one of line 11 is "
        "never run: give it another name.",
    ]


def test_every_stale_edit_of_the_catalogue(course):
    edited(course, in_cell("lstm_gates", "sums", "total"))
    problems = told(course, command="validate")
    assert len(problems) > 3
    assert all(problem.startswith(f"{CATALOGUE}, line ") for problem in problems)
    assert all(
        "what it replaces stands nowhere in the solution of `lstm_gates`" in problem for problem in problems
    )


def test_a_rule_that_no_check_has(course):
    text = (course / CATALOGUE).read_text(encoding="utf-8")
    first = text.index("[gates_")
    spoilt = text[:first] + text[first:].replace('caught_by = "values"', 'caught_by = "registration"', 1)
    (course / CATALOGUE).write_text(spoilt, encoding="utf-8")
    (problem,) = told(course)
    assert "is to be caught by the rule `registration`, which no check of `lstm_gates` has" in problem


def test_a_catalogue_that_is_no_toml(course):
    text = (course / CATALOGUE).read_text(encoding="utf-8")
    (course / CATALOGUE).write_text(text + "[another\n", encoding="utf-8")
    (problem,) = told(course)
    assert problem.startswith(f"{CATALOGUE}, line {text.count(chr(10)) + 1}: is not TOML that can be read: ")


def test_names_that_are_one_on_other_file_systems(course):
    folder = course / CHECKS
    (folder / "test_LSTM_gates.py").write_text((folder / "test_lstm_gates.py").read_text(), encoding="utf-8")
    (course / "source" / LSTM / "aux.csv").write_text("1,2\n", encoding="utf-8")
    problems = told(course)
    assert (
        f"{CHECKS}/test_lstm_gates.py: is `test_LSTM_gates.py` in other letters, which is one and the same file on "
        "macOS and Windows: give one of them another name." in problems
    )
    assert sum("in other letters" in problem for problem in problems) == 1, "told twice"
    assert f"source/{LSTM}/aux.csv: is the name of a device on Windows: choose another." in problems


def test_an_empty_folder_is_named(course):
    (course / "source" / "11_next").mkdir()
    edited(course, in_cell("lstm_gates", "    ### END SOLUTION", ""))
    result = autograder_here("build", "--course", course)
    assert result.stderr.splitlines()[0] == "source/11_next holds no notebook and is passed over."
    result = autograder_here("build", "11_next", "--course", course)
    assert result.stderr == "source/11_next holds no notebook: there is nothing to build.\n"


def test_a_sound_notebook_is_not_talked_of(course):
    """Code that looks odd and is right: magics, awaiting, a cell that is meant to fail, prose about marks."""

    def add(notebook: NotebookNode) -> None:
        for source_, tags in (
            ("%%time\nx = 1", []),
            ("%matplotlib inline\n!true\nx = 1", []),
            ("import asyncio\nawait asyncio.sleep(0)", ["demonstration"]),
            ("lstm_gates(", ["demonstration", "raises-exception"]),
            ("# the end of the solution is near", []),
            ("f = lambda: lstm_gates()", ["demonstration"]),
            ('with after("LSTMCell", "lstm_gates"):\n    LSTMCell(3, 5), lstm_gates()', ["demonstration"]),
        ):
            notebook.cells.append(nbformat.v4.new_code_cell(source_, metadata={"tags": tags}))

    edited(course, add)
    assert examine(Course.at(course), [LSTM]) == []


def test_the_packaged_course_has_no_problem():
    course = Course.at(ROOT)
    assert examine(course, course.assignments()) == []
