"""Hidden tests of an instructor's own: neither their text nor what they found is on a student's page."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import nbformat
import pytest
from traitlets.config import Config

from autograder.grading.feedback.hidden import FAILED, WithoutHiddenTests
from autograder.grading.judging.own_tests import HIDDEN_FAILED
from tests.grading.judging.test_own_tests import marked
from tests.support.helpers import cell_named, make_bundle, released, run_judge, submission

TEST = """assert double(2) == 4
### BEGIN HIDDEN TESTS
secret = -3
assert double(secret) == -6, 'the secret is minus three'
### END HIDDEN TESTS
assert double(10) == 20, 'ten'"""
VISIBLE = "assert double(2) == 4\nassert double(10) == 20, 'ten'"
SECRETS = ("minus three", "-6", "-3", "secret", "given")


def shown(workers, answer: str, test: str = TEST, **config: str):
    """A test cell as the preprocessor leaves it, of an answer judged in a real worker."""
    notebook = copy.deepcopy(released())
    notebook["cells"] = [
        marked("def double(n):\n    raise NotImplementedError()", "double", solution=True),
        marked(VISIBLE, "test_double", grade=True, locked=True, points=1),
    ]
    bundle = replace(make_bundle(), released=json.dumps(notebook), instructor_tests={"test_double": test})
    graded = run_judge(submission({"double": answer}, base=notebook), workers, bundle)
    preprocessor = WithoutHiddenTests(config=Config({"ClearHiddenTests": config}))
    page, _ = preprocessor.preprocess(nbformat.reads(graded.notebook, as_version=4), {})
    return page


def below_card(cell):
    """The outputs of a test cell below its card."""
    card, *outputs = cell.outputs
    assert "Checks of test_double" in card.data["text/html"]
    return outputs


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("def double(n):\n    return 2 * n", None),
        ("def double(n):\n    print('given', n)\n    return 2 * n", None),
        ("def double(n):\n    return abs(2 * n)", FAILED),
        ("def double(n):\n    print('given', n)\n    return abs(2 * n)", FAILED),
        ("def double(n):\n    if n < 0:\n        raise ValueError(f'given {n}')\n    return 2 * n", FAILED),
        ("def double(n):\n    return double(n + 1) if n < 0 else 2 * n", FAILED),
        ("def double(n):\n    return n + 2", FAILED),
        ("def double(n):\n    return 5", "line 1: assert double(2) == 4"),
        ("def double(n):\n    return {2: 4, -3: -6}.get(n)", "line 6: assert double(10) == 20, 'ten'"),
        ("def double(n):\n    raise KeyError('mine')", "KeyError: 'mine'"),
    ],
)  # fmt: skip
def test_an_error_is_shown_if_only_visible_lines_led_to_it(quick_workers, answer, told):
    cell = cell_named(shown(quick_workers, answer), "test_double")
    assert cell.source == VISIBLE
    text = json.dumps(cell.outputs)
    assert not any(secret in text for secret in SECRETS)
    if told is None:
        assert below_card(cell) == []
    else:
        (output,) = below_card(cell)
        assert told in "\n".join(output.traceback)
        if told == FAILED:
            assert (output.ename, output.evalue, output.traceback) == ("", FAILED, [FAILED])


def test_a_function_of_the_hidden_part_that_a_visible_line_calls_is_hidden(quick_workers):
    hidden = "def secret(n):\n    assert double(n) == 2 * n"
    test = f"### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS\nsecret(-3)"
    cell = cell_named(shown(quick_workers, "def double(n):\n    return abs(2 * n)", test), "test_double")
    (output,) = below_card(cell)
    assert output.traceback == [FAILED]


def test_a_comment_says_what_stands_in_place_of_a_hidden_test(quick_workers):
    test = TEST.replace("secret = -3", "### HIDDEN: Try a negative number, too.\nsecret = -3")
    cell = cell_named(shown(quick_workers, "def double(n):\n    return abs(2 * n)", test), "test_double")
    assert "Try a negative number, too." in cell.outputs[0].data["text/html"]
    plain = cell_named(shown(quick_workers, "def double(n):\n    return abs(2 * n)"), "test_double")
    assert HIDDEN_FAILED in plain.outputs[0].data["text/html"]


def test_the_delimiters_are_those_that_nbgrader_is_configured_with(quick_workers):
    words = {"begin_test_delimeter": "VERBORGEN", "end_test_delimeter": "SICHTBAR"}
    test = "assert double(2) == 4\n# VERBORGEN\nassert double(-3) == -6\n# SICHTBAR"
    answer = "def double(n):\n    return abs(2 * n)"
    cell = cell_named(shown(quick_workers, answer, test, **words), "test_double")
    assert cell.source == "assert double(2) == 4"
    assert below_card(cell)[0].traceback == [FAILED]


def test_a_student_who_writes_the_delimiters_stops_nothing(quick_workers):
    answer = "def double(n):\n    # BEGIN HIDDEN TESTS\n    # BEGIN HIDDEN TESTS\n    return 2 * n"
    assert cell_named(shown(quick_workers, answer), "double").source == answer


def test_cells_without_a_hidden_part_keep_what_they_show(quick_workers):
    answer = "def double(n):\n    print('given', n)\n    return n"
    cell = cell_named(shown(quick_workers, answer, VISIBLE.replace("2", "3")), "test_double")
    assert [output.output_type for output in below_card(cell)] == ["stream", "error"]
