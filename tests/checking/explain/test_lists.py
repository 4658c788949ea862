"""The remark on lists that a tensor is taken apart into."""

from __future__ import annotations

import pytest

from autograder.checking.explain.lists import taken_apart

CELL = """
def steps(x):
    first, found = 0, []
    for step in x:
        {}
    return found
"""


@pytest.mark.parametrize(
    ("line", "how"),
    [
        ("found += step", "`+=`"),
        ("found += step[None]", "`+=`"),
        ("found.extend(step)", "`extend`"),
        ("found += model(step)", "`+=`"),
        ("found.append(step)", ""),
        ("found += [step]", ""),
        ("found += (step, step)", ""),
        ("found += [each for each in step]", ""),
        ("found += step.tolist()", ""),
        ("found.extend(list(step))", ""),
        ("found.extend(step.unbind(0))", ""),
        ("first += step", ""),
        ("x += step", ""),
        ("found += 3 * [step]", ""),
    ],
)
def test_it_is_said_where_a_list_may_take_a_tensor_apart(line, how):
    told = taken_apart(CELL.format(line))
    if how:
        assert told.startswith(f"Line 5 adds to the list `found` by {how}, which takes a tensor apart")
    else:
        assert told == ""


def test_of_a_cell_that_cannot_be_read_nothing_is_said():
    assert taken_apart("def steps(x:\n") == ""
