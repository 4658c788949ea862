"""The statements of a test cell, each as the lines of a check, or with the reason why not."""

from __future__ import annotations

from dataclasses import replace

import nbformat
import pytest

from autograder.grading.building.markers import Region
from autograder.grading.building.source import SourceCell
from autograder.grading.converting.cells import check_files, convert_cell
from autograder.grading.converting.names import CannotConvert, Names, is_test_of

NAMES = Names(
    frozenset({"f", "g", "Account"}),
    {"np": "import numpy as np", "pytest": "import pytest"},
    frozenset({"total", "size"}),
)
MARKS = Region("BEGIN HIDDEN TESTS", "END HIDDEN TESTS", "hidden tests")


def cell(source: str, points: float = 1, number: int = 1, grade: bool = True) -> SourceCell:
    marks = {"grade": grade, "solution": False, "grade_id": f"test-{number}", "points": points}
    return SourceCell(number, nbformat.v4.new_code_cell(source, metadata={"nbgrader": marks}), "nb.ipynb")


def lines(source: str) -> list[str]:
    return list(convert_cell(cell(source), NAMES, [], MARKS).visible)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("assert f(2) == [1, 4]", 'expect_equal(f(2), [1, 4], "f(2)")'),
        ("assert 4 == f(2)", 'expect_equal(f(2), 4, "f(2)")'),
        ("assert f(g(2)) is None", 'expect_equal(f(g(2)), None, "f(g(2))")'),
        ("assert len(f(2)) == 2", 'expect_equal(lambda: len(f(2)), 2, "len(f(2))")'),
        ("assert f(2) == g(2)", 'expect_equal(lambda: bool(f(2) == g(2)), True, "f(2) == g(2)")'),
        ("assert f(2)", 'expect_equal(lambda: bool(f(2)), True, "bool(f(2))")'),
        ("assert not f(2)", 'expect_equal(lambda: bool(f(2)), False, "bool(f(2))")'),
        ("assert 'a' in f(2)", "expect_equal(lambda: bool('a' in f(2)), True, \"'a' in f(2)\")"),
        ("assert abs(f(2) - 4) < 1e-6", 'expect_equal(f(2), 4, "f(2)", rtol=0, atol=1e-06)'),
        ("assert f(2) == pytest.approx(4, abs=1)", 'expect_equal(f(2), 4, "f(2)", rtol=1e-06, atol=1)'),
        ("assert np.allclose(f(2), 4)", 'expect_equal(f(2), 4, "f(2)", rtol=1e-05, atol=1e-08)'),
        ("assert math.isclose(f(2), 4)", 'expect_equal(f(2), 4, "f(2)", rtol=1e-09, atol=0)'),
        ("np.testing.assert_allclose(f(2), 4, rtol=.1)", 'expect_equal(f(2), 4, "f(2)", rtol=0.1, atol=0)'),
        ("assert_almost_equal(4, f(2), 3)", 'expect_equal(f(2), 4, "f(2)", rtol=0, atol=1.5 * 10 ** -3)'),
        ("assert f(2) == 4\nprint('Well done.', f(2))", 'expect_equal(f(2), 4, "f(2)")'),
        ("assert_equal(f(2), 4)", 'expect_equal(f(2), 4, "f(2)")'),
        ("assert np.allclose(f(2), 4, 1e-3)", 'expect_equal(f(2), 4, "f(2)", rtol=0.001, atol=1e-08)'),
        (
            "from numpy import isclose\nassert isclose(f(2), 4)",
            'expect_equal(f(2), 4, "f(2)", rtol=1e-05, atol=1e-08)',
        ),
        ("assert np.array_equal(f(2), [4])", 'expect_equal(f(2), [4], "f(2)", rtol=0, atol=0)'),
        ("assert_frame_equal(f(2), 4, check_like=True)", 'expect_table(f(2), 4, "f(2)", check_like=True)'),
        ("assert 2 * f(2) ** 2 == 4", 'expect_equal(lambda: 2 * f(2) ** 2, 4, "2 * f(2) ** 2")'),
        ("assert f(total, size) == 4", 'expect_equal(f(total, size), 4, "f(total, size)")'),
    ],
)
def test_an_assert_is_a_case(source, line):
    head = "import math\nfrom numpy.testing import assert_almost_equal, assert_equal\n"
    head += "from pandas.testing import assert_frame_equal\n"
    assert lines(head + source) == [line]


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    f(0)\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError('none')",
        "try:\n    f(0)\n    assert False\nexcept ValueError:\n    pass",
        "with pytest.raises(ValueError):\n    f(0)",
        "pytest.raises(ValueError, f, 0)",
    ],
)
def test_an_expected_error_is_a_case_that_raises(source):
    assert lines(source) == ['with case("`f(0)`"):', "    expect_raises(f.request(0), ValueError)"]


def test_inputs_are_said_by_their_values_and_what_is_done_with_an_answer_is_guarded():
    source = "def four():\n    return 4\nassert f(four()) == 4"
    assert lines(source) == ["def four():", "    return 4", 'expect_equal(f(four()), 4, "f(four())")']
    source = "x = [1]\nfor n in range(2):\n    assert f(x, n) == n, 'look at x'\na, b = f(x)\ny = f(x) + 1"
    assert lines(source) == [
        "x = [1]",
        "for n in range(2):",
        "    with case('look at x'):",
        '        expect_equal(f(x, n), n, f"f({x!r}, {n!r})")',
        'parts = computed(lambda: list(f(x)), f"f({x!r})")',
        'expect_equal(len(parts), 2, f"len(f({x!r}))")',
        "a, b = parts",
        'y = computed(lambda: f(x) + 1, f"f({x!r}) + 1")',
    ]


@pytest.mark.parametrize(
    ("source", "line", "told"),
    [
        ("assert f(1)\ndel f", 2, "it takes `f` away"),
        ("f(1)\noriginal = f", 2, "it uses `f` otherwise than by a call"),
        ("assert f(data) == 1", 1, "it uses `data`, which a check does not have"),
        ("assert f(open('x').read()) == 1", 1, "it uses `open`"),
        ("points = f(1)\npoints", 2, "a part of the points"),
        ("with pytest.raises(ValueError, match='x'):\n    f(0)", 1, "has no form in a check"),
        ("with pytest.raises(np.linalg.LinAlgError):\n    f(0)", 1, "none of Python's own exceptions"),
        ("x = [2]\nf(x)\nassert x == [1]", 3, "a check hands out copies"),
        ("assert 2 ** f(3) == 8", 1, "with a large answer `2 ** f(3)` has no end"),
        ("assert list(range(f(3))) == [0]", 1, "with a large answer `range(f(3))` has no end"),
        ("%time f(1)", 0, "it is no plain Python"),
    ],
)
def test_what_no_check_can_be_made_of_is_told_with_its_line(source, line, told):
    with pytest.raises(CannotConvert, match=r"\w") as reason:
        convert_cell(cell(source), NAMES, [], MARKS)
    assert told in str(reason.value)
    assert reason.value.line == line


def test_what_came_of_a_call_is_said_by_the_call_unless_its_input_has_changed_since():
    source = "x = [1]\ny, z = f(x)\nassert z == 1\nx = [2]\nassert z == 1\nz = g(x)\nassert len(z) == 1"
    said = [
        line.rpartition(", ")[2] for line in lines(source) if line.startswith("expect_equal") and "z" in line
    ]
    assert said == ['f"f({x!r})[1]")', '"z")', 'f"len(g({x!r}))")']


def test_what_a_check_needs_of_the_notebook_goes_with_it():
    cells = [
        cell("import numpy as np\nx = np.zeros(3)\nx[1] = 2\nother = open('x')", number=1, grade=False),
        cell("np.random.seed(1)\nx *= np.random.rand()\nread = np.loadtxt('x.csv')", number=2, grade=False),
        cell("assert callable(f)\nassert f(x) == [0, 2, 0]", number=3),
        cell("x = 3\nassert f(read) == 1", number=4),
    ]
    names = replace(Names.of(cells), own=NAMES.own)
    assert convert_cell(cells[2], names, [], MARKS).visible == (
        "x = np.zeros(3)",
        "x[1] = 2",
        "np.random.seed(1)",
        "x *= np.random.rand()",
        "submission.f.attribute()",
        'expect_equal(f(x), [0, 2, 0], "f(x)")',
    )
    with pytest.raises(CannotConvert, match=r"it uses `read` of cell `test-2`, where .* reads a file"):
        convert_cell(cells[3], names, [], MARKS)


def test_a_check_asks_for_the_variables_that_a_cell_does_not_make_itself():
    made = convert_cell(cell("size = 3\nassert total == size\nassert f(size) == 1"), NAMES, [], MARKS)
    text = check_files("total", [made], NAMES)["test_total.py"]
    assert "    f = submission.f.plain\n    total = submission.total.value\n    size = 3\n" in text


def test_a_cell_stays_whose_points_or_names_would_be_lost():
    with pytest.raises(CannotConvert, match=r"worth 0\.25"):
        convert_cell(cell("assert f(1)", 0.25), NAMES, [], MARKS)
    later = cell("print(x)", number=2, grade=False)
    with pytest.raises(CannotConvert, match="it makes `x`, which cell `test-2` uses"):
        convert_cell(cell("x = 1\nassert f(x)"), NAMES, [later], MARKS)
    anew = cell("def h(x):\n    return x\nfor x in [2]:\n    print(x)", number=2, grade=False)
    assert convert_cell(cell("x = 1\nassert f(x)"), NAMES, [anew], MARKS).points == 1


def test_only_test_cells_that_call_the_task_are_its_own():
    assert is_test_of(cell("assert f(1)"), "f")
    assert is_test_of(cell("assert_raises(ValueError, f, 1)"), "f")
    assert not is_test_of(cell("assert g(1)"), "f")
    assert not is_test_of(cell("del f"), "f")
    assert is_test_of(cell("assert total == 3"), "total", NAMES.variables)
    assert not is_test_of(cell("total = 3\nassert f(total)"), "total", NAMES.variables)
    assert not is_test_of(cell("f(1)", grade=False), "f")


def test_hidden_tests_have_a_file_of_their_own_and_all_points():
    source = (
        '"""It counts."""\nimport numpy as np\nx = np.arange(3)\nassert f(x) == 3\n### BEGIN HIDDEN TESTS\n'
        "# HIDDEN: It counts large ones.\nassert f(list(x) * 9) == 27\n### END HIDDEN TESTS"
    )
    files = check_files("f", [convert_cell(cell(source, 2), NAMES, [], MARKS)], NAMES)
    assert sorted(files) == ["hidden_f.py", "test_f.py"]
    shown, hidden = files["test_f.py"], files["hidden_f.py"]
    assert "@points(0)" in shown
    assert "27" not in shown
    assert '"""It counts."""' in shown
    for part in (
        "@points(2)",
        "@hidden('It counts large ones.')",
        '@needs("test_test_1")',
        "import numpy as np",
    ):
        assert part in hidden
    assert "    x = np.arange(3)\n    expect_equal(f(list(x) * 9), 27" in hidden
