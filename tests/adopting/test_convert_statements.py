"""The statements of a test cell, each as the lines of a check, or with the reason why not."""

from __future__ import annotations

import nbformat
import pytest

from autograder.grading.building.markers import Region
from autograder.grading.building.source import SourceCell
from autograder.grading.converting.cells import check_files, convert_cell
from autograder.grading.converting.names import CannotConvert, Names, is_test_of

NAMES = Names(frozenset({"f", "g", "Account"}), {"np": "import numpy as np", "pytest": "import pytest"})
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
    ],
)
def test_an_assert_is_a_case(source, line):
    head = "import math\nfrom numpy.testing import assert_almost_equal, assert_equal\n"
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


def test_a_cell_stays_whose_points_or_names_would_be_lost():
    with pytest.raises(CannotConvert, match=r"worth 0\.25"):
        convert_cell(cell("assert f(1)", 0.25), NAMES, [], MARKS)
    later = cell("print(x)", number=2, grade=False)
    with pytest.raises(CannotConvert, match="it makes `x`, which cell `test-2` uses"):
        convert_cell(cell("x = 1\nassert f(x)"), NAMES, [later], MARKS)
    anew = cell("x = 2\nprint(x)", number=2, grade=False)
    assert convert_cell(cell("x = 1\nassert f(x)"), NAMES, [anew], MARKS).points == 1


def test_only_test_cells_that_call_the_task_are_its_own():
    assert is_test_of(cell("assert f(1)"), "f")
    assert is_test_of(cell("assert_raises(ValueError, f, 1)"), "f")
    assert not is_test_of(cell("assert g(1)"), "f")
    assert not is_test_of(cell("del f"), "f")
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
