"""Cells with lines that only IPython understands, and lines made to take long."""

import ast
import time

import pytest

from autograder.cell_source import parse_cell


@pytest.mark.parametrize(
    "line",
    [
        "%matplotlib inline",
        "!ls",
        "names = !ls",
        "a, b.c = %who_ls",
        "?help",
        "torch.nn?",
        "torch.*Norm*??  ",
    ],
)
def test_a_line_for_ipython_counts_as_pass(line):
    tree = parse_cell(f"if x:\n    y\n    {line}\n")
    assert tree is not None
    assert ast.dump(tree) == ast.dump(ast.parse("if x:\n    y\n    pass\n"))


def test_a_line_of_spaces_takes_no_longer_than_it_has_characters():
    """Two quantifiers that match the same spaces would take minutes; the bound is for that alone."""
    started = time.process_time()
    assert parse_cell("x = (\n" + 200_000 * " " + "y z") is None
    assert time.process_time() - started < 20
