"""The palette: one colour for a dimension everywhere, readable in figures and on cards, and told apart."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

import pytest

from autograder import figures, palette
from autograder.cards import colours
from autograder.checking.inputs.recurrent import RECURRENT
from autograder.palette import DIMENSIONS, GATE
from tests.support.contrast import VISIONS, apart, contrast

EVERY = {**DIMENSIONS, "gate": GATE}


@pytest.mark.parametrize("name", [each.name for each in RECURRENT.values()])
def test_a_dimension_has_one_colour_in_figures_and_on_cards(name):
    assert figures.colour(name) == DIMENSIONS[name]
    assert f"background-color:{DIMENSIONS[name]}" in colours.dimension(name, 3)


@pytest.mark.parametrize("name", EVERY)
def test_a_figures_strokes_and_bold_text_can_be_read_on_its_paper(name):
    assert contrast(figures.colour(name), figures.PAPER) >= 4.5


@pytest.mark.parametrize("name", DIMENSIONS)
@pytest.mark.parametrize("page", ["#ffffff", "#111111", "#1e1e1e"])
def test_a_chip_can_be_read_and_its_edge_seen_on_any_page(name, page):
    assert contrast(colours.INK, DIMENSIONS[name]) >= 4.5
    assert contrast(DIMENSIONS[name], page) >= 3


@pytest.mark.parametrize("vision", VISIONS)
def test_no_two_colours_look_alike(vision):
    """The least that is asked is three times what can just be seen side by side, about 2 on this scale."""
    pairs = itertools.combinations(EVERY.items(), 2)
    alike = {f"{a}, {b}": found for (a, one), (b, two) in pairs if (found := apart(one, two, vision)) < 6}
    assert not alike


def test_distances_are_measured_as_oklab_does():
    assert apart("#000000", "#ffffff") == pytest.approx(100, abs=0.01)
    assert apart("#ff0000", "#00ff00") == pytest.approx(52, abs=0.5)
    assert apart("#a05050", "#64643c", "no red cones") < apart("#a05050", "#64643c") / 2


def test_the_palette_is_plain_text():
    """Students' notebooks import it with the figures, and the fork server of every worker does."""
    statements = ast.walk(ast.parse(Path(palette.__file__).read_text(encoding="utf-8")))
    assert not [each for each in statements if isinstance(each, ast.Import | ast.ImportFrom)]
