"""Shapes of any sizes are read by names that mean those sizes, and said in a sentence."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autograder.checking.explain.evidence import Shape
from autograder.checking.explain.shapes import explain_shape, read_shapes
from autograder.checking.inputs.recurrent import RECURRENT
from autograder.checking.inputs.sizes import Sizes, spell
from tests.support.properties import QUICK

LETTERS = "BTDHLV"
NAMES = {letter: each.name for letter, each in RECURRENT.items()}
CALLED = {word: letter for letter, word in NAMES.items()}

DRAWN = st.builds(
    lambda seed, time: Sizes.drawn(random.Random(seed), time), st.integers(0, 999), st.sampled_from([2, 5])
)
SIZES = DRAWN | st.builds(
    lambda sizes, letter, size: sizes.but(**{letter: size}),
    DRAWN,
    st.sampled_from(LETTERS),
    st.integers(0, 12),
)
"""Sizes as checks draw them, and with one of them changed, as for one sequence alone."""

DIM = st.one_of(
    st.sampled_from(LETTERS),
    st.builds("{}{}".format, st.integers(0, 5), st.sampled_from(LETTERS)),
    st.integers(0, 24).map(str),
)
DIMS = st.lists(DIM, max_size=4).map(" ".join) | st.sampled_from(
    ["", "B T D", "4H D", "L B H", "2L B H", "B T 2H", "1 B H", "H H", "3", "B", "T B", "B T V"]
)


@st.composite
def shapes(draw: st.DrawFn, sizes: Sizes, dims: str) -> tuple[int, ...]:
    """Shapes of any sizes, and such as a slip makes of the right one."""
    known = st.sampled_from([getattr(sizes, letter) for letter in LETTERS])
    size = st.integers(0, 30) | known | st.builds(int.__mul__, known, st.sampled_from([2, 3, 4]) | known)
    shape = list(sizes.shape(dims))
    if draw(st.booleans()):
        return tuple(draw(st.lists(size, max_size=5)))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(shape) - 1)) if shape else 0
        match draw(st.sampled_from(["moved", "lost", "gained", "merged", "longer", "other", "other"])):
            case "moved":
                shape = draw(st.permutations(shape))
            case "lost":
                del shape[at : at + 1]
            case "gained" if len(shape) < 5:
                shape.insert(at, draw(size))
            case "merged":
                shape[at : at + 2] = [shape[at] * shape[at + 1]] if len(shape) > at + 1 else []
            case "longer" if shape:
                shape[at] = max(0, shape[at] + draw(st.sampled_from([-1, 1])))
            case "other" if shape:
                shape[at] = draw(size)
    return tuple(shape)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Sizes, str, tuple[int, ...]]:
    sizes, dims = draw(SIZES), draw(DIMS)
    return sizes, dims, draw(shapes(sizes, dims))


def meant(name: str, sizes: Sizes) -> int:
    """The size that a dimension's name in words stands for, read without the code under test."""
    factor, _, word = name.rpartition("·")
    return int(factor or 1) * int(getattr(sizes, CALLED[word]))


def assert_names_mean_their_sizes(shape: Shape, sizes: Sizes) -> None:
    for dimension in shape.dimensions:
        assert not dimension.name or meant(dimension.name, sizes) == dimension.size


@settings(QUICK, max_examples=500)
@given(cases(), st.sampled_from(["h", "output", "the 2nd of `f`"]))
@example((Sizes(B=0, T=5, D=7, H=11, L=3, V=13), "B H", (2, 6)), "h")
def test_any_shape_is_told_in_a_sentence_with_the_result_and_what_was_seen(case, name):
    sizes, dims, seen = case
    said = explain_shape(name, seen, dims, sizes)
    first, _, rest = said.partition("; expected ")
    assert first.startswith(f"`{name}` has shape ")
    assert first.endswith(str(seen))
    assert str(sizes.shape(dims)) in rest
    assert said.endswith((".", "?"))
    assert "  " not in said


@settings(QUICK, max_examples=200)
@given(cases())
def test_each_name_in_what_is_read_means_the_size_that_it_stands_at(case):
    sizes, dims, seen = case
    read, expected = read_shapes("h", seen, dims, sizes)
    assert tuple(each.size for each in read.dimensions) == seen
    assert tuple(each.size for each in expected.dimensions) == sizes.shape(dims)
    assert_names_mean_their_sizes(read, sizes)
    assert_names_mean_their_sizes(expected, sizes)


@settings(QUICK, max_examples=200)
@given(SIZES, DIMS)
def test_the_right_shape_is_read_as_the_one_expected(sizes: Sizes, dims: str):
    read, expected = read_shapes("h", sizes.shape(dims), dims, sizes)
    assert read == expected
    for dim, dimension in zip(dims.split(), read.dimensions, strict=True):
        assert dimension.name == ("" if dim.isdecimal() else spell(dim))


@settings(QUICK, max_examples=200)
@given(cases())
def test_sizes_are_named_by_the_only_dimension_that_has_them(case):
    sizes, dims, seen = case
    found = sizes.dims(seen, dims)
    for dim, size in zip(found, seen, strict=True):
        if dim:
            assert sizes.shape(dim) == (size,)
            assert {letter for letter in "BTDH" if getattr(sizes, letter) == size} <= {dim}
    names = sizes.names(seen, dims)
    for dim, name, size in zip(found, names, seen, strict=True):
        assert name == (spell(dim) if dim else str(size))
    assert sizes.name(seen, dims) == (f"({', '.join(names)})" if seen else "(a single number)")


@settings(QUICK, max_examples=100)
@given(DRAWN, st.lists(st.sampled_from("BTDH"), min_size=1, max_size=5))
def test_sizes_that_were_drawn_are_always_known_by_name(sizes: Sizes, letters: list[str]):
    """Drawn sizes are all different, so that none of them is left a number."""
    seen = tuple(getattr(sizes, letter) for letter in letters)
    assert sizes.dims(seen, "B T D") == letters
    assert sizes.names(seen, "B T D") == [NAMES[letter] for letter in letters]


WRONG = st.text(max_size=4).filter(lambda text: text.split() == [text] and not right(text)) | st.sampled_from(
    ["²", "²H", "H2", "b", "-1", "1.5", "HH", "2 ,", "C", "4h", "½", "1_0", "+3", "batch"]
)


def right(dim: str) -> bool:
    """Return whether a text without spaces is a dimension: a number, or a letter with or without one."""
    return dim.isdecimal() or (dim[-1] in LETTERS and (dim[:-1].isdecimal() or not dim[:-1]))


@settings(QUICK, max_examples=150)
@given(SIZES, st.lists(DIM, max_size=2), WRONG, st.lists(DIM, max_size=2))
@example(Sizes(B=5, T=2, D=7, H=11, L=3, V=13), [], "²", [])
def test_what_is_no_dimension_is_refused_with_the_letters_that_there_are(sizes, before, wrong, after):
    dims = " ".join([*before, wrong, *after])
    for read in (
        sizes.shape,
        lambda dims: explain_shape("h", (2, 3), dims, sizes),
        lambda dims: read_shapes("h", (2, 3), dims, sizes),
        lambda dims: read_shapes("h", (), dims, sizes),
    ):
        with pytest.raises(ValueError) as told:
            read(dims)
        said = str(told.value)
        assert wrong.split()[-1] in said
        for letter, name in NAMES.items():
            assert f"{letter} ({name})" in said
