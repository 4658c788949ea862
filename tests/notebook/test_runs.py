"""A card is about what the task's cell says: real kernels, with front ends that name cells and without."""

from __future__ import annotations

import shutil

import pytest

from tests.support.environments.kernels import Kernel, Shown, kernel
from tests.support.helpers import ROOT, answer

RIGHT = answer("lstm_gates")
BROKEN = {
    "indentation": RIGHT.replace("    return", "      return", 1) + "\n  x = 1",
    "parenthesis": RIGHT.replace("return", "print(", 1),
    "error before it": f"import no_such_module\n{RIGHT}",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("student")
    for file in (ROOT / "release" / "03_lstm_cell").glob("*.*"):
        shutil.copyfile(file, folder / file.name)
    with kernel(folder) as started:
        started.run("import torch\nfrom torch import nn\nfrom autograder import after, check")
        yield started


def checked(session: Kernel, *cells: str, ids: bool, named: str = "task") -> Shown:
    """Run the cells of one task, each an edit of the one before, and return what `check` shows."""
    for source in cells:
        session.run(source, cell=named if ids else "")
    return session.run('check("lstm_gates")', cell="check" if ids else "")


@pytest.mark.parametrize("ids", [True, False], ids=["cell ids", "no ids"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_cell_that_stopped_gets_no_points_for_the_version_before(session, name, ids):
    card = checked(session, RIGHT, BROKEN[name], ids=ids).text
    assert card.startswith("lstm_gates: not judged")
    assert "stopped with a" in card
    assert "un it again" in card
    assert "points" not in card
    assert "lstm_gates: 2 of 2 points" in checked(session, RIGHT, ids=ids).text


def test_a_function_that_was_renamed_gets_no_points(session):
    renamed = RIGHT.replace("def lstm_gates", "def lstm_gate")
    for named in ("task", "vscode-notebook-cell:/home/ada/lstm_cell.ipynb#W4sZmlsZQ%3D%3D"):
        card = checked(session, RIGHT, renamed, ids=True, named=named).text
        assert card.startswith("lstm_gates: not judged")
        assert "does not define it" in card
    assert "`lstm_gates` as run in [" in checked(session, RIGHT, renamed, ids=False).text


def test_without_ids_a_run_has_the_number_that_stands_beside_its_cell(session):
    session.run(f"{RIGHT}\n# once")
    (number,) = session.run("next(n for n, cell in enumerate(In) if cell.endswith('# ' + 'once'))").results
    assert f"`lstm_gates` as run in [{number}]" in session.run('check("lstm_gates")').text


def test_a_version_of_another_cell_is_named(session):
    session.run("del lstm_gates")
    checked(session, RIGHT, ids=True)
    session.run("lstm_gates = lambda *tensors: tensors", cell="experiment")
    card = session.run('check("lstm_gates")', cell="check").text
    assert "the version in the task's own cell counts" in card
    assert "the task's own cell" not in checked(session, RIGHT, ids=True).text


@pytest.mark.parametrize("ids", [True, False], ids=["cell ids", "no ids"])
def test_an_answer_in_a_cell_of_its_own_is_judged(session, ids):
    session.run(RIGHT.replace("def lstm_gates", "def my_gates"), cell="mine" if ids else "")
    assert "lstm_gates: 2 of 2 points" in checked(session, "lstm_gates = my_gates", ids=ids).text
    session.run(RIGHT, cell="mine" if ids else "")
    assert "lstm_gates: 2 of 2 points" in checked(session, "lstm_gates = lstm_gates", ids=ids).text


def test_an_error_below_the_function_does_not_matter(session):
    card = checked(session, f"{RIGHT}\n1 / 0", ids=True).text
    assert "lstm_gates: 2 of 2 points" in card


def test_the_list_of_tasks_counts_no_version_that_is_gone(session):
    assert "lstm_gates: everything holds" in checked_list(session, RIGHT)
    told = checked_list(session, BROKEN["parenthesis"])
    assert "lstm_gates: changed since its check" in told
    assert "lstm_cell: 0 of 9.5 points" in told


def checked_list(session: Kernel, source: str) -> str:
    session.run(source, cell="task")
    if source == RIGHT:
        session.run('check("lstm_gates")', cell="check")
    return session.run("check()", cell="list").text


def test_a_cell_that_checks_itself_is_judged(session):
    card = session.run(f'{RIGHT}\ncheck("lstm_gates")', cell="task").text
    assert "lstm_gates: 2 of 2 points" in card
