"""The files of an assignment with several notebooks, told apart as they come in."""

from __future__ import annotations

import json
from dataclasses import replace

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.collecting.incoming import Incoming, choose_notebooks
from autograder.grading.collecting.layouts import place
from tests.grading.judging.test_own_tests import marked
from tests.support.helpers import code_cell


def notebook(about: str, *answers: str) -> bytes:
    """A notebook whose cells are called as those of the other one: nbgrader allows it."""
    text = {"cell_type": "markdown", "source": about, "metadata": {}, "id": "text"}
    cells = [marked(answer, f"q{number}", solution=True) for number, answer in enumerate(answers, 1)]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [text, *cells]}).encode()


def bundle() -> Bundle:
    first, second = (Bundle("ps", name, notebook(f"# {name}", "", "").decode()) for name in ("one", "two"))
    return replace(first, others=(second,))


def chosen(**files: bytes) -> dict[str, str]:
    """Return the file that is taken for each notebook."""
    incoming = [
        Incoming(f"ada/{name}.ipynb", raw, place(f"ada/{name}.ipynb"), None) for name, raw in files.items()
    ]
    found, _, _ = choose_notebooks(incoming, bundle())
    return {name: each.placed.path for name, each in found.items()}


def test_notebooks_with_equal_names_of_cells_are_told_apart_by_their_text():
    files = {"one": notebook("# one", "1", "1"), "two": notebook("# two", "2", "2")}
    assert chosen(**files) == {"one": "one.ipynb", "two": "two.ipynb"}
    assert chosen(my_two=files["two"], my_one=files["one"]) == {"one": "my_one.ipynb", "two": "my_two.ipynb"}


def test_a_notebook_of_the_students_own_is_not_taken_for_the_one_that_is_missing():
    own = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [code_cell("1 + 1")]})
    assert chosen(one=notebook("# one", "1", "1"), scratch=own.encode()) == {"one": "one.ipynb"}
