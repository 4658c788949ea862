"""Answers that are alike: copies are found under other names, people who think alike are left alone."""

from __future__ import annotations

import ast

import pytest

from autograder.reporting.similarity import Pair, similar_pairs
from tests.support.helpers import cell_named, released, solved
from tests.support.reports import OWN_STYLE, RENAMED
from tests.variants import NOTEBOOKS

Class = dict[str, dict[str, str]]
ASSIGNMENTS = [f"{number:02}_{name}" for number, name in enumerate(NOTEBOOKS)]


class Rename(ast.NodeTransformer):
    """Every name a cell gives itself becomes another one."""

    def __init__(self, names: set[str]) -> None:
        self.names = {name: f"other_{number}" for number, name in enumerate(sorted(names))}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.names.get(node.id, node.id)
        return node


def copied(source: str) -> str:
    """A cell as a careful copier leaves it: other names, another layout, no comments."""
    tree = ast.parse(source)
    own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return ast.unparse(Rename(own).visit(tree))


def cells(assignment: str, notebook: dict) -> dict[str, str]:
    return {task: cell_named(notebook, task)["source"] for task in NOTEBOOKS[assignment[3:]].SOLUTIONS}


def invented_class(assignment: str) -> Class:
    """A student for each style that `tests/variants` has right answers in."""
    correct = {task: list(styles.values()) for task, styles in NOTEBOOKS[assignment[3:]].CORRECT.items()}
    expected = cells(assignment, solved(assignment))
    return {
        f"student{number:02}": {
            task: correct[task][number] if number < len(correct.get(task, ())) else cell
            for task, cell in expected.items()
        }
        for number in range(max(map(len, correct.values())))
    }


def pairs(assignment: str, answers: Class) -> list[Pair]:
    return similar_pairs(
        answers, cells(assignment, released(assignment)), cells(assignment, solved(assignment))
    )


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_right_answers_of_different_people_make_no_pair(assignment):
    assert pairs(assignment, invented_class(assignment)) == []


@pytest.mark.parametrize("assignment", ASSIGNMENTS[1:])  # answers to the first are a line or two
def test_copies_under_other_names_are_found(assignment):
    """All but those of answers that are the course's own solution but for a few lines."""
    answers, given = invented_class(assignment), cells(assignment, solved(assignment))
    of_their_own = {
        student: mine
        for student, mine in answers.items()
        if sum(cell != given[task] for task, cell in mine.items()) > 1
    }
    found = 0
    for student, mine in of_their_own.items():
        copier = {task: copied(cell) for task, cell in mine.items()}
        told = pairs(assignment, {**answers, "zoe": copier})
        found += (student, "zoe") in {(pair.left, pair.right) for pair in told}
    assert len(of_their_own) >= 6
    assert found >= 0.85 * len(of_their_own)


def test_a_pair_shows_which_lines_are_alike():
    solution = cells("03_lstm_cell", solved())
    answers = {f"s{number}": dict(solution) for number in range(6)}
    answers["ann"] = {**solution, "lstm_gates": OWN_STYLE}
    answers["bob"] = {**solution, "lstm_gates": RENAMED}
    (pair,) = pairs("03_lstm_cell", answers)
    assert (pair.left, pair.right) == ("ann", "bob")
    assert [task.task for task in pair.tasks] == ["lstm_gates"]
    (task,) = pair.tasks
    assert 0.8 < pair.share <= 1
    lines = RENAMED.split("\n")
    alike = [lines[number].strip() for number in task.right.alike]
    assert alike[-2:] == [
        "p, q, r, s = c.unbind(-2)",
        "return [p.sigmoid(), q.sigmoid(), r.tanh(), s.sigmoid()]",
    ]
    assert "# my own idea" not in alike


def test_what_a_third_of_the_class_writes_is_no_pair():
    solution = cells("03_lstm_cell", solved())
    answers = {f"s{number}": dict(solution) for number in range(8)}
    answers |= {f"t{number}": {**solution, "lstm_gates": OWN_STYLE} for number in range(4)}
    assert pairs("03_lstm_cell", answers) == []


def test_the_released_stub_and_the_solution_are_nobodys_own():
    for given in (released(), solved()):
        both = cells("03_lstm_cell", given)
        assert pairs("03_lstm_cell", {"ann": both, "bob": both}) == []


@pytest.mark.parametrize(
    "broken",
    [
        "def f(:\n" + "    x = = 1\n" * 40,
        "'''never closed\n" * 9,
        "\0",
        "x = (\n" * 90,
        "\t\n  a\n b",
        "∂ß ¿\n" * 30,
    ],
)
def test_code_that_is_no_python_is_compared_as_far_as_it_goes(broken):
    found = similar_pairs({"ann": {"f": broken}, "bob": {"f": broken}}, {}, {})
    assert all((pair.left, pair.right) == ("ann", "bob") for pair in found)


def test_nobody_is_alike_alone():
    assert similar_pairs({}, {}, {}) == []
    assert similar_pairs({"ann": {"f": OWN_STYLE}}, {}, {}) == []
