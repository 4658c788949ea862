"""Cells are matched with released ones, whatever front ends do to names, ids and layout."""

from __future__ import annotations

import json
from typing import Any

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.rebuild import Rebuilt, rebuild
from tests.grading.judging.test_own_tests import marked
from tests.support.helpers import code_cell

STUB = "def f(x):\n    raise NotImplementedError"
ANSWER = "def f(x):\n    return g(x)"
TEST = "assert f(1) == 'a'  # the first"


def text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source, "metadata": {}}


def essay() -> dict[str, Any]:
    cell = marked("YOUR ANSWER HERE", "why", grade=True, solution=True, points=1)
    return {name: cell[name] for name in ("source", "metadata")} | {"cell_type": "markdown"}


def cells() -> list[dict[str, Any]]:
    """A plain notebook: a task with a name of nbgrader's, its test, an essay and a value to compute."""
    return [
        text("# One"),
        marked(STUB, "cell-1f", solution=True),
        marked(TEST, "test_f", grade=True, locked=True, points=1),
        text("# Why?"),
        essay(),
        text("# A value"),
        marked("# YOUR CODE HERE", "value", solution=True),
    ]


def of(*submitted: dict[str, Any], bare: bool = False) -> Rebuilt:
    """Rebuild a submission; a `bare` one has lost nbgrader's metadata and all ids."""
    released = [{name: each for name, each in cell.items() if name != "id"} for cell in cells()]
    if bare:
        submitted = tuple({**cell, "metadata": {}, "id": f"new-{i}"} for i, cell in enumerate(submitted))
    notebook = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}}
    bundle = Bundle("plain", "plain", json.dumps({**notebook, "cells": released}), {"test_f": TEST})
    return rebuild(json.dumps({**notebook, "nbformat_minor": 5, "cells": list(submitted)}).encode(), bundle)


def solved() -> list[dict[str, Any]]:
    made = cells()
    for number, source in ((1, ANSWER), (4, "Because."), (6, "y = 3")):
        made[number]["source"] = source
    return made


def kinds(rebuilt: Rebuilt) -> list[str]:
    return [finding.kind for finding in rebuilt.findings]


def sources(rebuilt: Rebuilt) -> list[str]:
    return [cell["source"] for cell in rebuilt.notebook.cells]


def test_without_any_names_cells_are_known_by_what_they_define_and_where_they_stand():
    rebuilt = of(*solved(), bare=True)
    assert kinds(rebuilt) == []
    assert sources(rebuilt) == [cell["source"] for cell in solved()]
    assert rebuilt.sources == {"cell-1f": ANSWER, "value": "y = 3"}


def test_a_cell_of_another_notebook_is_nobodys_answer():
    rebuilt = of(code_cell("print('knitting')"), bare=True)
    assert kinds(rebuilt) == ["missing_cell"] * 3
    assert sources(rebuilt)[0] == "print('knitting')"


def test_of_two_cells_in_a_place_neither_is_taken_for_the_answer():
    made = solved()
    made[6:] = [code_cell("a = 1"), code_cell("y = a + 2")]
    rebuilt = of(*made, bare=True)
    assert kinds(rebuilt) == ["missing_cell"]
    assert [step.source for step in rebuilt.steps][-3:] == ["a = 1", "y = a + 2", "# YOUR CODE HERE"]


def test_an_essay_in_two_cells_without_names_waits_for_a_person():
    made = solved()
    made[4:5] = [text("Because."), text("And so.")]
    assert kinds(of(*made, bare=True)) == ["missing_cell", "answer_beside"]


def test_a_test_that_binds_the_name_is_no_answer():
    made = solved()
    del made[1]
    made[1]["source"] = "old = f\ntry:\n    pass\nfinally:\n    f = old"
    assert kinds(of(*made)) == ["missing_cell", "edited_check"]


def test_parts_of_an_answer_run_in_their_order():
    made = solved()
    made[1:2] = [
        {**made[1], "source": "def g(x):\n    return 'a'"},
        {**made[1], "id": "b"},
        {**made[1], "source": "f(1)", "id": "c"},
    ]
    rebuilt = of(*made)
    assert [step.source for step in rebuilt.steps[:3]] == ["def g(x):\n    return 'a'", ANSWER, "f(1)"]
    assert kinds(rebuilt) == ["duplicate_cell"]
    assert rebuilt.findings[0].message.endswith("the last one changed counts, and those before it ran, too.")


def test_of_an_essay_that_is_there_twice_the_other_version_can_be_read():
    made = solved()
    made.insert(4, {**made[4], "source": "An older answer."})
    rebuilt = of(*made)
    assert "An older answer." in "".join(sources(rebuilt))
    assert rebuilt.findings[0].message.endswith("2 times; the last one changed counts.")


def test_a_test_that_an_editor_has_laid_out_anew_is_not_changed():
    made = solved()
    made[2]["source"] = 'assert f( 1 )=="a" # the first\n'
    assert kinds(of(*made)) == []
    made[2]["source"] = f"{TEST} # but why?"
    assert kinds(of(*made)) == ["edited_check"]


def test_a_copy_of_a_test_to_try_things_in_is_not_a_changed_test():
    made = solved()
    made.insert(3, {**made[2], "source": "f(2)", "id": "copy"})
    rebuilt = of(*made)
    assert kinds(rebuilt) == []
    assert any("f(2)" in source for source in sources(rebuilt)), "what students write stays"
