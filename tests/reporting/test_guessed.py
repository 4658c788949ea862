"""A class's guesses: read from the text of the cells, beside what happened in the solved notebook."""

from __future__ import annotations

import json
from types import SimpleNamespace

import nbformat
import pytest

from autograder.grading.assignment.bundle import Bundle
from autograder.guesses import HAPPENED
from autograder.reporting.guessed import Guessed, guesses

BUNDLE = Bundle("01_first", "first", "")
HAPPENED_THEN = {"it falls": True, "steps": 125, "shape": [3, 5]}


@pytest.fixture
def course(tmp_path):
    return SimpleNamespace(folder=lambda step, student, assignment: tmp_path / step / student / assignment)


def write(course, step, student, *sources, outputs=()):
    cells = [nbformat.v4.new_code_cell(source, outputs=list(outputs)) for source in sources]
    path = course.folder(step, student, "01_first") / "first.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(nbformat.v4.new_notebook(cells=cells)))


def test_a_class_that_guessed(course):
    shown = nbformat.v4.new_output("display_data", {"text/plain": "…", HAPPENED: HAPPENED_THEN})
    write(course, "solution", ".", "reveal(guess, {})", outputs=[shown])
    answers = {
        "ada": 'guess = {"it falls": True, "steps": 120, "shape": (3, 5)}',
        "ben": 'guess = {"it falls": False, "steps": 40, "shape": [5, 3]}',
        "cem": 'guess = {"it falls": False, "steps": 40, "shape": None, "more": 1}',
        "dee": 'guess = {"it falls": __import__("os")._exit(1)}',
        "eva": "guess = {",
        "fay": "guess = 7",
        "gil": 'guess = {"steps": 1e999, "shape": (...,), "it falls": "yes"}',
        "hal": 'guess = {"steps": 0x' + "f" * 5000 + ', "shape": [[1, 2], [3, 4]]}',
    }
    for student, source in answers.items():
        write(course, "autograded", student, 'guess = {"it falls": None, "steps": None}', source)
    assert guesses(course, BUNDLE, [*answers, "nobody"]) == [
        Guessed("it falls", True, 3, 1, False, 2),
        Guessed("steps", 125, 3, 1, 40, 2),
        Guessed("shape", (3, 5), 3, 1, (5, 3), 1),
    ]


def test_a_notebook_that_asks_nothing_has_no_table(course):
    assert guesses(course, BUNDLE, ["ada"]) == []
    write(course, "solution", ".", "print(1)")
    assert guesses(course, BUNDLE, ["ada"]) == []
