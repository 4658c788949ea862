"""Remarks on habits that cost nothing: prints, and graphs that are kept."""

import pytest

from autograder.checking.explain.habits import habits
from tests.support.helpers import make_bundle, outputs_text, run_judge, solved, submission
from tests.variants import NOTEBOOKS

PRINTS = """
def f(x):
    y = x + 1
    {}
    return y
"""


@pytest.mark.parametrize(
    ("line", "printed", "told"),
    [
        ("print(y.shape)", "torch.Size([2])", "`f` prints when it is called in line 4."),
        ("display(y)", "tensor([2.])", "`f` prints when it is called in line 4."),
        ("print(1); print(2)", "1", "`f` prints when it is called in line 4."),
        ("print(y.shape)", "", ""),  # it was not reached
        ("pass", "anything", ""),
        ("if y.isnan().any(): print('nan')", "nan", ""),
        ("print(y)", "UserWarning: dropout expects …", ""),  # what was printed may be the warning alone
        ("y.print()", "1", ""),
    ],
)
def test_what_prints_is_told(line, printed, told):
    (said, *_) = [*(habit.message for habit in habits("f", PRINTS.format(line), printed)), ""]
    assert said.startswith(told)
    assert bool(said) == bool(told)


def test_of_several_lines_none_is_named():
    source = PRINTS.format("print(1)\n    print(2)")
    assert habits("f", source, "1")[0].message.startswith("`f` prints when it is called. That costs no")


def test_a_test_below_the_definition_is_no_habit():
    assert habits("f", PRINTS.format("pass") + "\nprint(f(1))\nloss.backward(retain_graph=True)", "1") == []


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("y.backward(retain_graph=True)", True),
        ("torch.autograd.grad(y, x, retain_graph=True)", True),
        ("y.backward()", False),
        ("y.backward(retain_graph=False)", False),
        ("y.backward(retain_graph=again)", False),
        ("y.keep(retain_graph=True)", False),
    ],
)
def test_a_graph_that_is_kept_is_told(line, kept):
    found = habits("f", PRINTS.format(line), "")
    assert [habit.kind for habit in found] == ["retain_graph"] * kept
    assert not kept or found[0].message.startswith("Line 4 of `f` keeps the graph")


def test_a_cell_that_is_no_python_has_no_habits():
    assert habits("f", "def f(:", "1") == []


@pytest.mark.slow
def test_in_a_graded_notebook_they_cost_nothing_and_are_told(workers):
    bundle = make_bundle("06_state")
    solution = NOTEBOOKS["state"].SOLUTIONS["tbptt_step"]
    step = solution.replace("loss.backward()", "print(loss.item())\n    loss.backward(retain_graph=True)")
    graded = run_judge(submission({"tbptt_step": step}, base=solved("06_state")), workers, bundle)
    assert graded.verdict.score == graded.verdict.max_score
    assert [finding.kind for finding in graded.verdict.findings] == ["prints", "retain_graph"]
    (note,) = [task.note for task in graded.verdict.tasks if task.note]
    assert note.startswith("`tbptt_step` prints when it is called in line ")
    assert "keeps the graph after the backward pass" in outputs_text(graded)
