"""The value of `check`: nothing to look at for a person, a number for whoever computes or grades with it."""

from __future__ import annotations

import copy
import json

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbgrader.utils import determine_grade

from tests.support.environments.kernels import solved_release
from tests.support.helpers import answer, cell_named, run_judge, submission

WRONG = "def lstm_gates(*_):\n    return 1\n"


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with solved_release(tmp_path_factory.mktemp("student")) as session:
        yield session


def test_no_number_stands_under_the_card_where_a_person_works(session):
    shown = session.run('check("lstm_gates")')
    assert len(shown.cards) == 1
    assert shown.results == []
    assert session.run("_ + 1").results == ["3.0"], "the value is there all the same"


def test_the_number_is_there_for_whoever_asks_for_it(session):
    assert session.run('score = check("lstm_gates")').results == []
    assert session.run("score").results == ["2.0"], "another cell"
    assert session.run('check("lstm_gates") / 2').results == ["1.0"]
    assert session.run("import copy; type(copy.copy(score)), isinstance(score, float)").results == [
        "(float, True)"
    ]


def test_a_cell_that_nobody_can_be_asked_in_ends_with_the_number(session):
    """A run by nbgrader, nbconvert, papermill, or any other program that is built on nbclient."""
    session.run(WRONG)
    shown = session.run('check("lstm_gates")', person=False)
    session.run(answer("lstm_gates"))
    assert shown.results == ["0.0"]
    assert len(shown.cards) == 1


def test_card_and_sum_tell_the_points_that_are_seen_and_those_that_are_not(session):
    for task in ("lstm_gates", "lstm_cell", "copy_from_torch"):
        session.run(f'check("{task}")')
    text = session.run('check("LSTMCell")').text
    assert text.startswith("LSTMCell: 3.5 of 3.5 points, everything holds; 0.5 more at grading")
    assert "`LSTMCell` 3.5/3.5. 9.5 of 9.5 points so far; 0.5 more at grading." in text.replace(
        ", `copy_from_torch` 2/2", ""
    )
    assert text.count("more at grading") == 2
    other = session.run('check("lstm_gates")').text
    assert "9.5 of 9.5 points so far; 0.5 more at grading." in other
    assert session.run('check("LSTMCell")', person=False).results == ["4.0"], "what nbgrader validates"


def test_a_graded_page_shows_the_card_alone_and_nbgrader_reads_the_score(workers):
    graded = run_judge(submission({"lstm_gates": WRONG}), workers)
    notebook = nbformat.reads(graded.notebook, as_version=4)
    cells = {name: cell_named(notebook, f"check_{name}") for name in ("lstm_gates", "LSTMCell")}
    assert determine_grade(cells["lstm_gates"]) == (0.0, 2.0)
    assert determine_grade(cells["LSTMCell"]) == (4.0, 4.0)
    only = copy.deepcopy(notebook)
    only.cells = list(cells.values())
    page, _ = HTMLExporter().from_notebook_node(only)
    body = page[page.index("<body") :]
    assert "lstm_gates: 0 of 2 points" in body
    for number in ("<pre>0.0</pre>", "<pre>4.0</pre>"):
        assert number not in body.replace("\n", "")
    assert json.loads(graded.notebook)["nbformat"] == 4
