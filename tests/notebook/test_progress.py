"""`check` in a notebook: the points so far, the list of tasks, and which notebook it is that asks."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from IPython.core.interactiveshell import InteractiveShell

from autograder import tasks
from autograder.exercises import HOME
from autograder.notebook import check
from tests.support.environments.session import Session
from tests.support.helpers import ROOT, released

NOTEBOOK = "03_lstm_cell"


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """A student's folder with the released notebook; what a session defines goes into its `__dict__`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    for file in (ROOT / "release" / NOTEBOOK).glob("*.*"):
        shutil.copyfile(file, tmp_path / file.name)
    return Session()


def test_points_are_remembered_and_a_change_is_noticed(notebook, capsys):
    notebook.solve("lstm_gates")
    assert notebook.run("score = check('lstm_gates')") == 2.0
    said = capsys.readouterr().out
    assert "`lstm_gates` 2/2, `lstm_cell`, `LSTMCell` and `copy_from_torch` not checked yet. 2 of 9.5" in said
    notebook.run("def lstm_cell(*_):\n    raise NotImplementedError\n")
    assert notebook.run("score = check('lstm_cell')") == 0.0
    said = capsys.readouterr().out
    assert "lstm_cell: 0 of 2 points, still to do" in said
    assert "`lstm_gates` 2/2, `lstm_cell` 0/2" in said
    notebook.solve("lstm_gates", "\n# another text\n")
    notebook.run("check('lstm_cell')")
    assert "`lstm_gates` changed since its check" in capsys.readouterr().out


def test_the_list_says_the_stars_and_minutes_that_the_headings_say(notebook, capsys):
    notebook.solve("lstm_gates")
    notebook.run("check('lstm_gates')")
    capsys.readouterr()
    notebook.run("check()")
    said = capsys.readouterr().out
    assert re.search(r"lstm_gates: everything holds, 2 of 2 points\n", said)
    assert re.search(r"LSTMCell: not checked yet, 4 points, ★+, \d+ minutes\n", said)


@pytest.mark.parametrize("release", sorted((ROOT / "release").glob("*/*.ipynb")), ids=lambda path: path.stem)
def test_every_task_of_the_course_says_its_stars_and_minutes(release, monkeypatch):
    monkeypatch.chdir(release.parent)
    checks = HOME / release.stem
    found = tasks.efforts_in(checks, {})
    assert found.keys() == {path.stem.removeprefix("test_") for path in checks.glob("test_*.py")}
    assert all(re.fullmatch(r"★{1,5}, \d+ minutes", effort) for effort in found.values())


def test_the_first_card_with_a_mistake_says_where_counting_starts(notebook, capsys):
    def counts(task: str) -> bool:
        notebook.run(f"check('{task}')")
        return "Positions in these messages are counted from 0, as in Python." in capsys.readouterr().out

    notebook.solve("lstm_gates")
    assert not counts("lstm_gates"), "nothing is wrong"
    notebook.run("def lstm_cell(*_):\n    raise NotImplementedError\n")
    assert not counts("lstm_cell"), "nothing is written"
    notebook.run("def lstm_gates(*_):\n    return 1\n")
    assert counts("lstm_gates")
    assert not counts("lstm_gates")
    notebook.solve("lstm_gates")
    assert not counts("lstm_gates")
    notebook.run("def lstm_cell(*_):\n    return 1\n")
    assert not counts("lstm_cell"), "it was said in this session"


def test_what_nbgrader_validates_is_told_in_lines_that_it_does_not_cut(notebook, capsys, monkeypatch):
    monkeypatch.setenv("NBGRADER_VALIDATING", "1")
    notebook.run("def lstm_gates(*_):\n    raise ValueError('a long story ' * 20)\n")
    notebook.run("score = check('lstm_gates')")
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "lstm_gates: 0 of 2 points"
    assert "stopped with an error" in " ".join(" ".join(told[1:3]).split())
    assert len(max(told, key=len)) <= 83
    assert not any("This notebook so far" in line for line in told)
    notebook.solve("lstm_gates")
    notebook.run("score = check('lstm_gates')")
    assert capsys.readouterr().err == "", "what is right must leave nothing that counts as a failure"


def test_the_score_is_what_it_was_with_a_hidden_check(notebook, capsys):
    notebook.solve("LSTMCell")
    score = notebook.run("score = check('LSTMCell')")
    assert score == 4.0
    assert type(score) is float
    said = capsys.readouterr().out
    assert "`LSTMCell` 3.5/3.5" in said
    assert "0.5 more at grading" in said


def test_check_alone_lists_the_tasks_in_their_order(notebook, capsys):
    assert notebook.run("score = check()") is None
    said = capsys.readouterr().out
    places = [
        said.index(f'check("{task}")') for task in ("lstm_gates", "lstm_cell", "LSTMCell", "copy_from_torch")
    ]
    assert places == sorted(places)
    assert said.startswith("lstm_cell: 0 of 9.5 points so far; 0.5 more at grading")
    assert "stays" not in said  # nothing of what a hidden check looks at


def test_a_course_lists_its_own_checks(tmp_path, monkeypatch, capsys):
    (tmp_path / "checks").mkdir()
    for name in ("a", "b"):
        text = f'"""What {name} is about.\n\nMore of it."""\nfrom autograder.checking import points, rule\n'
        text += (
            f'@points(1)\n@rule("values")\ndef test_one(submission, sizes, draw):\n    """{name} is one."""\n'
        )
        (tmp_path / "checks" / f"test_{name}.py").write_text(text)
    cells = [{"source": [f'check("{name}")']} for name in ("b", "a")]
    (tmp_path / "gru.ipynb").write_text(json.dumps({"cells": cells}))
    monkeypatch.chdir(tmp_path)
    session = Session()
    session.run("check()")
    said = capsys.readouterr().out
    assert said.startswith("gru: 0 of 2 points so far.")
    assert said.index("What b is about.") < said.index("What a is about.")
    assert "More of it" not in said
    session.run("a = 1")
    session.run("check('a')")
    assert "`a` 1/1, `b` not checked yet. 1 of 2 points" in capsys.readouterr().out


def test_the_notebook_is_told_by_name_by_what_lies_beside_it_or_by_what_it_defines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    with pytest.raises(ValueError, match="cannot tell which notebook"):
        tasks.home_here(None, {})
    assert tasks.home_here(None, {"rnn_cell": 1}).name == "rnn_cell"
    assert tasks.home_here(None, {"__vsc_ipynb_file__": "/home/ada/state.ipynb"}).name == "state"
    assert tasks.home_here("stacking", {"rnn_cell": 1}).name == "stacking"
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/ada/lstm_layer.ipynb")
    assert tasks.home_here(None, {}).name == "lstm_layer"
    monkeypatch.delenv("JPY_SESSION_NAME")
    (tmp_path / "shapes.ipynb").write_text("not even JSON")
    assert tasks.home_here(None, {}).name == "shapes"


def test_tasks_are_in_the_order_of_every_release(tmp_path, monkeypatch):
    for folder in sorted((ROOT / "release").iterdir()):
        if not folder.is_dir():
            continue
        monkeypatch.chdir(folder)
        cells = released(folder.name)["cells"]
        sources = [cell["source"] for cell in cells if cell["source"].startswith('check("')]
        order = [source.split('"')[1] for source in sources]
        home = tasks.home_here(None, {})
        assert tasks.in_order(home, sorted(order)) == order
        assert all(tasks.about(home, task).startswith("`") for task in order), folder
        (tmp_path / "hints.json").write_bytes((folder / "hints.json").read_bytes())
        monkeypatch.chdir(tmp_path)  # without the notebook, the hints tell
        assert tasks.in_order(home, sorted(order)) == order


def said_of(notebook, call: str) -> str:
    with pytest.raises(tasks.Unknown) as caught:
        notebook.run(call)
    return str(caught.value)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            "check('lstm_gate')",
            'There is no task "lstm_gate". Did you mean "lstm_gates"? ',
        ),
        ("check('lstmcell')", 'There is no task "lstmcell". Did you mean "LSTMCell"? '),
        ("check('nix')", 'There is no task "nix". '),
        ("check('')", 'There is no task "". '),
    ],
)
def test_a_name_that_is_no_task_is_one_sentence_with_the_nearest(notebook, call, said):
    told = said_of(notebook, call)
    assert told == f"{said}Tasks of lstm_cell: lstm_gates, lstm_cell, LSTMCell and copy_from_torch."


def test_a_function_in_place_of_its_name_is_told_how(notebook):
    notebook.solve("lstm_gates")
    assert said_of(notebook, "check(lstm_gates)") == (
        '`check` takes the name of a task, in quotes: check("lstm_gates").'
    )
    assert said_of(notebook, "check(3)") == "`check` takes the name of a task, in quotes."


def test_two_tasks_at_once_are_told_how(notebook, capsys):
    """The second name is that of a notebook, or of nothing but a task."""
    notebook.solve("lstm_gates")
    assert said_of(notebook, "check('lstm_gates', 'LSTMCell')") == (
        '`check` takes one task at a time: check("lstm_gates"), then check("LSTMCell").'
    )
    assert notebook.run("score = check('lstm_gates', 'lstm_cell')") == 2.0
    said = capsys.readouterr().out
    assert "lstm_gates: 2 of 2 points" in said
    assert '`check` takes one task at a time: for `lstm_cell`, check("lstm_cell").' in said
    notebook.run("check('lstm_gates'); check('lstm_cell', 'lstm_cell')")
    assert "at a time" not in capsys.readouterr().out


def test_two_tasks_of_checks_beside_the_notebook_are_told_how(tmp_path, monkeypatch, capsys):
    (tmp_path / "checks").mkdir()
    for name in ("a", "b"):
        text = "from autograder.checking import points, rule\n@points(1)\n@rule('values')\n"
        text += f"def test_one(submission, sizes, draw):\n    'One of {name}.'\n"
        (tmp_path / "checks" / f"test_{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    session = Session()
    session.run("a = b = 1")
    assert session.run("score = check('a', 'b')") == 1.0
    assert 'at a time: for `b`, check("b").' in capsys.readouterr().out


def test_the_assignment_that_says_which_notebook_is_meant_is_no_second_task(tmp_path, monkeypatch, capsys):
    """`copy_from_torch` is a task of two notebooks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    session = Session()
    home = {tasks.home_of("copy_from_torch", name, {}) for name in ("lstm_cell", "stacking")}
    assert len(home) == 2
    session.run("from autograder import tasks\nclass StackedLSTM: pass\nMultiLayerLSTM = StackedLSTM")
    session.run("def copy_from_torch(*_):\n    raise NotImplementedError")
    assert session.run("score = check('copy_from_torch', 'lstm_cell')") == 0.0
    assert "at a time" not in capsys.readouterr().out


def test_a_notebook_that_there_is_none_of(notebook):
    told = said_of(notebook, "check(assignment='03_lstm_cell')")
    assert told.startswith('There is no notebook "03_lstm_cell". Did you mean "lstm_cell"? Notebooks: ')
    assert said_of(notebook, "check('lstm_gates', assignment='03_lstm_cell')") == told


def test_where_the_notebook_cannot_be_told_tasks_stand_by_notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    with pytest.raises(tasks.Unknown) as caught:
        tasks.home_of("lstm_gate", None, {})
    first, *lines = str(caught.value).splitlines()
    assert first == 'There is no task "lstm_gate". Did you mean "lstm_gates"? Tasks by notebook:'
    assert len(lines) == 13
    (line,) = (line for line in lines if line.startswith("  lstm_cell: "))
    assert set(re.findall(r"\w+", line)) == {
        "lstm_gates", "lstm_cell", "LSTMCell", "and", "copy_from_torch",
    }  # fmt: skip


def test_a_notebook_shows_the_sentence_alone(notebook, capsys):
    """As IPython does it in every kernel: the cell ends in an error, without a traceback."""
    shell = InteractiveShell()
    shell.user_ns["check"] = check
    ended = shell.run_cell("check('nix')\nprint('went on')", store_history=False)
    told = capsys.readouterr().out
    assert isinstance(ended.error_in_exec, tasks.Unknown)
    assert told.strip().startswith('There is no task "nix".')
    assert "Traceback" not in told
    assert "went on" not in told
    assert len(told.strip().splitlines()) == 1


WRONG = """
_right = lstm_gates
def lstm_gates(*tensors):
    i, f, g, o = _right(*tensors)
    return f, i, g, o
"""


@pytest.mark.parametrize("seen_before", [True, False])
def test_what_may_follow_from_an_earlier_task_is_open(notebook, capsys, seen_before):
    notebook.solve("lstm_gates", WRONG)
    notebook.solve("lstm_cell")
    if seen_before:
        notebook.run("check('lstm_gates')")
        assert "lstm_gates: 0 of 2 points" in capsys.readouterr().out
    score = notebook.run("score = check('lstm_cell')")
    card = capsys.readouterr().out
    assert card.startswith("lstm_cell: open")
    assert "(passed" in card
    assert "`lstm_gates` does not hold yet, and what is open here may follow from that." in card
    assert "known mistake" not in card
    assert score == 0


def test_what_may_follow_from_a_task_that_only_the_checks_use_is_open(notebook, capsys):
    notebook.solve(
        "LSTMCell",
        "\n_right = LSTMCell.__init__\ndef _frozen(self, *sizes):\n"
        "    _right(self, *sizes)\n    self.requires_grad_(False)\nLSTMCell.__init__ = _frozen\n",
    )
    notebook.solve("copy_from_torch")
    notebook.run("check('copy_from_torch')")
    card = capsys.readouterr().out
    assert card.startswith("copy_from_torch: 1.5 of 2 points so far, open")
    assert "`LSTMCell` does not hold yet, and what is open here may follow from that." in card


def test_a_mistake_beside_earlier_tasks_that_hold_is_told(notebook, capsys):
    notebook.solve("lstm_gates")
    notebook.solve(
        "lstm_cell", "\n_right = lstm_cell\ndef lstm_cell(*tensors):\n    return _right(*tensors)[::-1]\n"
    )
    notebook.run("check('lstm_cell')")
    card = capsys.readouterr().out
    assert "open" not in card
    assert "✗" in card
