"""Below a red card `failing` gives the inputs of the call that failed."""

from __future__ import annotations

import ast

import pytest

from tests.support.environments.kernels import solved_release
from tests.support.helpers import answer


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with solved_release(tmp_path_factory.mktemp("student")) as session:
        session.run("from autograder import failing")
        yield session


WRONG = answer("lstm_cell").replace("i * g", "1.5 * i * g")
LINE = 'x, h, c, w_ih, w_hh, b_ih, b_hh = failing("lstm_cell")'


def test_the_card_says_how_to_get_the_inputs_which_make_the_call_again(session):
    session.run(WRONG)
    assert LINE in session.run('check("lstm_cell")').text
    session.run(LINE)
    (shapes,) = session.run(
        "[tuple(each.shape) for each in (x, h, *lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh))]"
    ).results
    x, h, *states = ast.literal_eval(shapes)
    assert states == [h, h]
    assert x[0] == h[0]


def test_what_is_done_with_them_changes_nothing_of_the_check(session):
    session.run(WRONG)
    session.run('check("lstm_cell")')
    session.run('first = failing("lstm_cell"); kept = first[0].clone(); first[0].zero_()')
    assert session.run('torch.equal(failing("lstm_cell")[0], kept)').results == ["True"]


def test_for_a_class_the_module_comes_first_filled_as_in_the_check(session):
    session.run(answer("LSTMCell").replace("o * torch.tanh(c_next)", "1.5 * o * torch.tanh(c_next)"))
    assert 'module, x, state = failing("LSTMCell")' in session.run('check("LSTMCell")').text
    session.run('module, x, state = failing("LSTMCell")')
    assert session.run("type(module).__name__, float(module.b_o.abs().sum()) > 0").results == [
        "('LSTMCell', True)"
    ]
    assert session.run("module(x, state)[0].shape == state[0].shape").results == ["True"]


def test_where_no_call_failed_it_says_so_in_a_sentence(session):
    session.run('check("lstm_gates")')
    told = session.run('failing("lstm_gates")').error
    assert told.startswith("There are no inputs to show for `lstm_gates`: check it first.")
