"""Dimensions that a check file states for itself: their sizes, and the words of messages."""

from __future__ import annotations

import random
import re
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from autograder.checking.inputs.dimensions import Dimension, Dimensions
from autograder.checking.inputs.recurrent import RECURRENT
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.runner.collection import collect
from autograder.checking.wrong_values.shrink import ladder
from tests.support.checking import submission

CONVOLUTION = '''
"""`smooth(x, kernel)`: a convolution along the width, channel by channel."""
import torch
import torch.nn.functional as F
from autograder.checking import Dimension, Dimensions, FunctionSpec, expect, hidden, points, rule, sized

DIMENSIONS = Dimensions(
    N=Dimension("batch", one="image", sizes=(5, 7, 11), small=(1, 2), independent=True),
    C=Dimension("channels", sizes=(3,), small=(1, 3)),
    W=Dimension("width", one="column", sizes=(13, 17), small=(4, 5), ordered=True, across=True),
    K=Dimension("kernel", sizes=(2, 4), small=(2,)),
)

def right(x, kernel):
    return F.conv1d(x, kernel[:, None], groups=x.shape[1])

task = FunctionSpec(
    "smooth",
    inputs={"x": "N C W", "kernel": "C K"},
    outputs={"y": "N C W"},
    reference=lambda x, kernel: right(F.pad(x, (kernel.shape[1] - 1, 0)), kernel),
)
test_shape = task.shape()
test_values = task.values(sized("", W=16), points=1, needs=[test_shape])

@points(1)
@rule("generality")
@hidden("More sizes are tried.")
def test_plain(submission, sizes, draw):
    """A check of one's own uses the same letters."""
    x, kernel = draw("N C W"), draw("C K")
    expect(submission.smooth(x, kernel), task.reference(x, kernel), names="y", dims="N C W", sizes=sizes)
'''


def smooth(x, kernel):
    padded = F.pad(x, (kernel.shape[1] - 1, 0))
    return F.conv1d(padded, kernel[:, None], groups=x.shape[1])


def told(folder: Path, answer, text: str = CONVOLUTION) -> list[str]:
    (folder / "test_smooth.py").write_text(textwrap.dedent(text))
    checks = collect(folder)
    results = checks.run("smooth", submission(smooth=answer), seed=1, include_hidden=True, renew=lambda: None)
    assert not any(result.fault for result in results), [result.fault for result in results]
    return [result.message for result in results if result.outcome not in ("passed", "skipped")]


def test_a_right_answer_passes(tmp_path):
    assert not told(tmp_path, smooth)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda x, kernel: smooth(x, kernel).transpose(1, 2), "(batch, width, channels)"),
        (lambda x, kernel: smooth(x, kernel)[:, :, 1:], "One is missing along width"),
        (lambda x, kernel: smooth(x, kernel).flip(2), "in reverse order along width"),
        (lambda x, kernel: smooth(x, kernel)[:, [1, 2, 0]], "in another order along channels"),
        (lambda x, kernel: smooth(x, kernel) + torch.arange(x.shape[2]).clamp(3) - 3, "from column 4 on"),
        (lambda x, kernel: smooth(x.cumsum(0), kernel).square(), "are images mixed somewhere?"),
        (lambda x, kernel: x + torch.zeros(len(kernel) + 1, 1), "channels = 3"),
    ],
)
def test_messages_use_the_names_that_the_file_states(tmp_path, wrong, said):
    (first, *_) = told(tmp_path, wrong)
    assert said in first
    assert not re.search(r"\b(hidden|sequence|time|features|layer)s?\b", first)


def test_the_title_that_is_made_uses_them(tmp_path):
    (tmp_path / "test_smooth.py").write_text(CONVOLUTION)
    (shape, *_) = collect(tmp_path).all
    assert shape.title == "It returns y (batch, channels, width)."


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '"x": "N C W"',
            '"x": "N C H"',
            "no dimension `H` in 'N C H'. The letters are N (batch), C",
        ),
        ("DIMENSIONS = Dimensions(", "DIMENSIONS = dict(", "has to be `Dimensions(…)`"),
        ("    C=Dim", "    Ch=Dim", "a dimension has one letter, not 'Ch'"),
        ('"channels"', '"width"', "two dimensions are called 'width'"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(tmp_path, old, new, said):
    with pytest.raises(Exception, match=r"test_smooth\.py stops with") as caught:
        told(tmp_path, smooth, CONVOLUTION.replace(old, new))
    assert said in str(caught.value)


def test_sizes_are_all_different_where_they_can_be():
    mine = Dimensions(A="a", B="b", C="c", D=Dimension("d", sizes=(2, 3)), E=Dimension("e", ordered=True))
    for seed in range(50):
        sizes = mine.drawn(random.Random(seed), 5)
        assert len({sizes[letter] for letter in "ABCD"}) == 4
        assert sizes["D"] in (2, 3)


def test_those_of_recurrent_networks_pass_for_no_number_that_is_written_by_habit():
    for seed in range(20):
        drawn = Sizes.drawn(random.Random(seed), 5).by_letter()
        apart = sorted(drawn[letter] for letter in "BDHV")
        assert apart[0] > 10, "examples have smaller ones"
        assert not set(apart) & {12, 16, 20, 24, 32}
        assert all(two - one > 1 and two % one for one, two in pairwise(apart))
        assert (drawn["T"], drawn["L"]) == (5, 3)


def test_the_smallest_sizes_of_recurrent_networks_are_tried_in_order():
    small = [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert [tuple(sizes.by_letter().values()) for sizes in ladder(RECURRENT)] == [
        (batch, time, 11, 13, layers, 17) for layers in (1, 2) for batch, time in small
    ]


def test_sizes_cannot_be_changed():
    sizes = Sizes(B=5, T=2, D=7, H=11, L=3, V=13)
    with pytest.raises(AttributeError, match=r"sizes\.but"):
        sizes.B = 6
    assert sizes.but(B=6).B == 6
    assert sizes.but(B=5) == sizes
    assert hash(sizes.but(B=5)) == hash(sizes)
    with pytest.raises(ValueError, match="there is a size for each of"):
        sizes.but(X=1)
    with pytest.raises(AttributeError, match="no dimension"):
        sizes.X  # noqa: B018  # reading it is what raises


@pytest.mark.parametrize(
    ("one", "said"),
    [
        ("query", "two queries"),
        ("key", "two keys"),
        ("box", "two boxes"),
        ("batch", "two batches"),
        ("time step", "two time steps"),
        ("", "two width indices"),
    ],
)
def test_several_of_a_dimension_have_their_plural(one, said):
    assert Dimension("width", one=one).counted(2) == said
