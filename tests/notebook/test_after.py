"""`after`: a demonstration that its tasks make stop says which one to look at, and the notebook goes on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support.environments.session import Session
from tests.support.helpers import ROOT, cell_named, solved

WRONG = "def lstm_cell(x, h, c, *weights):\n    return x\n"
UNWRITTEN = "def lstm_cell(*_):\n    ### here\n    raise NotImplementedError()\n"


@pytest.fixture
def session(tmp_path, monkeypatch) -> Session:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    session = Session()
    session.solve("lstm_gates")
    return session


def shown(session: Session, capsys: pytest.CaptureFixture[str], cell: str) -> str:
    """Return what a cell prints; nothing that it raises comes through."""
    capsys.readouterr()
    session.run(cell)
    return capsys.readouterr().out


def test_an_unwritten_task_is_to_be_finished(session, capsys):
    session.run(UNWRITTEN)
    told = shown(session, capsys, 'with after("lstm_gates", "lstm_cell"):\n    lstm_cell(1)')
    assert told == "Finish `lstm_gates` and `lstm_cell` first, then run this cell again.\n"
    session.run('check("lstm_gates")')
    told = shown(session, capsys, 'with after("lstm_gates", "lstm_cell"):\n    lstm_cell(1)')
    assert told == "Finish `lstm_cell` first, then run this cell again.\n", "the other one holds"


def test_a_task_that_is_not_defined_is_to_be_finished(session, capsys):
    told = shown(session, capsys, 'with after("lstm_cell"):\n    lstm_cell(1)')
    assert told == "Finish `lstm_cell` first, then run this cell again.\n"


def test_an_operation_that_torch_lacks_is_no_unwritten_task(session, capsys):
    session.run("class LSTMCell(nn.Module):\n    pass\n")
    told = shown(session, capsys, 'with after("LSTMCell"):\n    LSTMCell()(1)')
    assert told.startswith("`LSTMCell` is not right yet: see its card.\n    In line 2: NotImplementedError: ")


def test_a_wrong_task_is_named_with_what_was_raised(session, capsys):
    session.run(WRONG)
    cell = 'with after("lstm_cell"):\n    print("half")\n    h, c, d = lstm_cell([1, 2], 0, 0)\nprint("on")'
    assert shown(session, capsys, cell) == (
        "half\n`lstm_cell` is not right yet: see its card.\n"
        "    In line 3: ValueError: not enough values to unpack (expected 3, got 2)\non\n"
    )
    told = shown(session, capsys, 'with after("lstm_cell"):\n    lstm_cell()')
    assert "In line 2: TypeError: lstm_cell() missing 3 required" in told
    session.run("def lstm_cell():\n    return [\n        each / 0 for each in (1,)]\n")
    told = shown(session, capsys, 'with after("lstm_cell"):\n    lstm_cell()')
    assert told.endswith("    In `lstm_cell`, line 3: ZeroDivisionError: division by zero\n")


def test_of_several_tasks_those_with_a_red_card_are_named(session, capsys):
    session.run(WRONG)
    session.run("def LSTMCell(*_):\n    return 3\n")
    cell = 'with after("lstm_gates", "lstm_cell", "LSTMCell"):\n    1 / 0'
    assert shown(session, capsys, cell).startswith(
        "`lstm_gates`, `lstm_cell` or `LSTMCell` is not right yet: see their cards.\n    In line 2: "
    )
    session.run('check("lstm_gates"), check("lstm_cell")')
    assert shown(session, capsys, cell).startswith("`lstm_cell` is not right yet: see its card.\n")
    session.run('check("LSTMCell")')
    assert shown(session, capsys, cell).startswith(
        "`lstm_cell` and `LSTMCell` are not right yet: see their cards.\n"
    )
    session.run(f"# a try\n{WRONG}")
    assert shown(session, capsys, cell).startswith("`LSTMCell` is not right yet"), "the other card is old"


def test_a_cell_that_stops_below_green_cards_says_so(session, capsys):
    session.solve("lstm_cell")
    session.run('check("lstm_gates"), check("lstm_cell")')
    told = shown(session, capsys, 'with after("lstm_cell"):\n    undefined')
    assert told == (
        "This cell stopped, although the card of `lstm_cell` shows no mistake.\n"
        "    In line 2: NameError: name 'undefined' is not defined\n"
    )
    told = shown(session, capsys, 'with after("lstm_gates", "lstm_cell"):\n    undefined')
    assert told.startswith("This cell stopped, although the cards of `lstm_gates` and `lstm_cell` show no ")


def test_a_long_error_is_one_line(session, capsys):
    session.run("def lstm_cell():\n    raise ValueError('many words\\n' * 100)\n")
    told = shown(session, capsys, 'with after("lstm_cell"):\n    lstm_cell()')
    assert told.count("\n") == 2
    assert len(told) < 400


def test_who_interrupts_the_notebook_stops_it(session):
    with pytest.raises(KeyboardInterrupt):
        session.run('with after("lstm_cell"):\n    raise KeyboardInterrupt')


def test_a_task_that_calls_exit_stops_its_demonstration_alone(session, capsys):
    session.run("import sys\ndef lstm_cell():\n    sys.exit('done')\n")
    told = shown(session, capsys, 'with after("lstm_cell"):\n    lstm_cell()')
    assert told.endswith("SystemExit: done\n")


def run_all(notebook: str, folder: Path) -> str:
    """Run a notebook in a kernel as *Run All* does, and return all that its cells show.

    Raises `CellExecutionError` where a cell stops, as *Run All* does.
    """
    made = nbformat.reads(notebook, as_version=4)
    resources = {"metadata": {"path": folder}}
    NotebookClient(made, kernel_name="python3", timeout=120, resources=resources).execute()
    outputs = [output for cell in made.cells for output in cell.get("outputs", ())]
    return "".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs)


def test_run_all_reaches_the_end_of_a_notebook_with_a_red_card(tmp_path):
    notebook = solved()
    cell_named(notebook, "lstm_cell")["source"] = WRONG
    slow = ("optimizer", "figures.")  # those that train or draw
    notebook["cells"] = [c for c in notebook["cells"] if not any(word in c["source"] for word in slow)]
    told = run_all(json.dumps(notebook), tmp_path)
    assert "`lstm_cell` is not right yet: see its card.\n    In line 2: ValueError: " in told
    assert "7.5 of 9.5 points so far" in told, "the cards below the red one are there"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "body"),
    [
        ("02_rnn_cell", "raise RuntimeError('wrong')"),
        ("03_lstm_cell", "return None"),
        ("06_state", "return torch.zeros(7, 11, 13)"),
        ("10_seq2seq", "return None"),
    ],
)
def test_run_all_reaches_the_end_of_a_release_where_nothing_is_right(folder, body, tmp_path):
    """`autograder validate` runs all ten without their cards, in workers."""
    (path,) = (ROOT / "release" / folder).glob("*.ipynb")
    text = path.read_text(encoding="utf-8").replace("raise NotImplementedError()", body)
    told = run_all(text, tmp_path)
    assert re.search(r"0 of [\d.]+ points so far", told)
    assert "not right yet: see " in told
