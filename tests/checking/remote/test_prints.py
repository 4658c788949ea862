"""Output of a student's code while it is checked: under the check that fails, and nowhere else."""

from __future__ import annotations

import json
import shutil

import pytest

from autograder.cards.card import as_student_sees, card_brief, card_html, card_text
from autograder.checking.remote.prints import MAX_LINE, MAX_LINES, Prints, readable
from autograder.grading.judging.carried_errors import merged
from autograder.worker.session.calls.printed import KEPT_AT_EITHER_END, Printed
from tests.support.cards import Page, card, verdict
from tests.support.environments.kernels import kernel
from tests.support.helpers import ASSIGNMENT, ROOT, answer, cell_named, run_judge, submission

PRINTING = """
import logging, sys, warnings
from IPython.display import display
import matplotlib.pyplot as plt
logging.basicConfig()

def lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh):
    print("shape", tuple(x.shape))
    print("\\x1b[31mred\\x1b[0m <b>bold</b>", file=sys.stderr)
    warnings.warn("a warning")
    logging.warning("a log")
    display(x.dtype)
    plt.plot([1, 2])
    plt.show()
"""
WRONG = PRINTING + "    return x\n"
RIGHT = PRINTING + "    return _gates(x, h, w_ih, w_hh, b_ih, b_hh)\n"
SAID = [
    "shape (",
    "red <b>bold</b>",
    "UserWarning: a warning",
    "WARNING:root:a log",
    "torch.float",
    "<Figure",
]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("student")
    for file in (ROOT / "release" / ASSIGNMENT).glob("*.*"):
        shutil.copyfile(file, folder / file.name)
    with kernel(folder) as session:
        session.run(
            "import torch, math\nfrom torch import nn\nfrom autograder import check\n%matplotlib inline"
        )
        yield session


def test_the_failing_call_is_shown_under_its_check_and_nothing_above_the_card(session):
    session.run(WRONG)
    shown = session.run('check("lstm_gates")')
    assert shown.printed == ""
    assert len(shown.cards) == 1, "nothing that was displayed, and no figure"
    lines = shown.text.splitlines()
    (at,) = (number for number, line in enumerate(lines) if "Printed in this call" in line)
    assert lines[1].startswith("  ✗ It returns four gates")
    assert "`lstm_gates` with inputs of shape (" in lines[at]
    printed = [line.strip() for line in lines[at + 1 :] if line.startswith("    | ")]
    for said in SAID:
        assert sum(said in line for line in printed) == 1, said
    assert "\x1b" not in shown.text
    page = Page(shown.cards[0]["text/html"])
    assert "red <b>bold</b>" in page.text
    assert "b" not in page.tags


def test_nothing_is_shown_where_all_is_right_but_where_it_would_be(session):
    session.run(answer("lstm_gates") + "\n_gates = lstm_gates\n")
    session.run(RIGHT)
    shown = session.run('check("lstm_gates")')
    assert "everything holds" in shown.text
    (note,) = (line.strip() for line in shown.text.splitlines() if "prints" in line)
    assert note.startswith("What your code prints is shown here where a check fails; to see it otherwise, ")
    assert shown.printed == ""
    assert len(shown.cards) == 1, "no figure either"
    assert not any(said in shown.text for said in SAID)


def test_the_next_cell_prints_and_warns_as_ever(session):
    session.run(RIGHT)
    session.run('check("lstm_gates")')
    shown = session.run("y = lstm_gates(torch.zeros(1, 1), *[torch.zeros(1, 1)] * 5)")
    for said in ("shape (1, 1)", "bold", "UserWarning: a warning", "WARNING:root:a log"):
        assert said in shown.printed
    assert len(shown.cards) == 2, "the dtype and the figure"


@pytest.mark.slow
def test_grading_shows_the_same_and_it_costs_nothing(quick_workers):
    graded = run_judge(submission({"lstm_gates": WRONG}), quick_workers)
    cell = cell_named(json.loads(graded.notebook), "check_lstm_gates")
    page = Page("".join(cell["outputs"][0]["data"]["text/html"]))
    for said in SAID:
        assert said in page.text
    told, *_ = (check for task in graded.verdict.tasks for check in task.checks if check.printed)
    assert told.printed.text.startswith("shape (")
    right = answer("lstm_gates").replace("def lstm_gates", "def _gates") + RIGHT
    loud = run_judge(submission({"lstm_gates": right}), quick_workers)
    assert loud.verdict.score == loud.verdict.max_score
    assert not any(check.printed for task in loud.verdict.tasks for check in task.checks)


FLOODS = {
    "lines": "for n in range(100_000): print(n)",
    "one line": "print('x' * 10_000_000)",
    "a bar": "for n in range(1000): print(f'\\r{n}%', end='')",
    "steering": "print('\\x1b]0;title\\x07\\x1b[2J\\u202eabc\\x00')",
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_is_bounded(name, quick_workers):
    loud = f"def lstm_gates(x, *_):\n    {FLOODS[name]}\n    return x\n"
    graded = run_judge(submission({"lstm_gates": loud}), quick_workers)
    told, *_ = (check.printed for task in graded.verdict.tasks for check in task.checks if check.printed)
    assert len(told.text.splitlines()) <= MAX_LINES + 1
    assert max(map(len, told.text.splitlines())) <= MAX_LINE + 2
    assert all(c.isprintable() or c == "\n" for c in told.text)
    if name == "lines":
        assert told.text.startswith("0\n1\n2\n")
        assert told.text.endswith("\n99998\n99999")
    elif name == "a bar":
        assert told.text == "999%"


def test_what_is_kept_is_bounded_while_it_is_printed():
    with Printed() as printed:
        for _ in range(100):
            print("y" * 1_000_000)
    assert len(printed.text) < 2 * KEPT_AT_EITHER_END + 100


def test_lines_are_as_a_terminal_leaves_them():
    assert readable("a\tb\r\nc\n\n") == "a   b\nc"
    assert readable("10%\r20%\r30%") == "30%"
    assert readable("\x1b[1;31mred\x1b[0m\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\") == "redlink"


HOSTILE = Prints("`f`", "<script>alert(1)</script>\n</pre></div>")


def test_prints_stay_text_and_those_of_a_hidden_check_are_not_shown():
    task = card(verdict(printed=HOSTILE), verdict("error", printed=Prints("`g`", "second")))
    page = Page(card_html(task))
    assert "<script>alert(1)</script>" in page.text
    assert "script" not in page.tags
    assert "| </pre></div>" in card_text(task)
    assert "second" in card_text(task)
    assert "alert" not in card_brief(task, 80), "there is no room for them"
    hidden = verdict(printed=HOSTILE, hidden=True, instead="More is asked.")
    assert as_student_sees(hidden).printed is None
    assert "alert" not in card_html(card(hidden)) + card_text(card(hidden))


def test_a_second_judging_that_has_seen_solutions_shows_no_prints():
    secret = Prints("`f`", "SOLUTION")
    first = card(verdict(), verdict("skipped"), verdict("passed"))
    second = card(verdict("passed", points=1.0), verdict(printed=secret), verdict(printed=secret))
    third = card(verdict("failed", points=0.5, printed=secret))
    joined = [*merged(first, second, ["a"]).checks, *merged(card(verdict()), third, ["a"]).checks]
    assert not any(check.printed for check in joined)
