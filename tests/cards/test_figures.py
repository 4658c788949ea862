"""Figures draw what they are asked to, in ink that shows on a light and on a dark theme."""

import subprocess
import sys

import pytest
import torch

from autograder import figures

plt = pytest.importorskip("matplotlib.pyplot", reason="there is nothing to draw with (matplotlib)")


@pytest.fixture(autouse=True)
def dark_theme():
    with plt.style.context("dark_background"):
        yield
    plt.close("all")


def words(ax):
    return {text.get_text() for text in ax.texts}


@pytest.mark.slow
def test_importing_costs_no_matplotlib():
    code = "import sys, autograder.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_shapes_name_every_dimension_with_its_true_size():
    (ax,) = figures.panels()
    figures.shapes(ax, x={"batch": 4, "time": 300, "features": 3}, w=[("hidden", 5), ("hidden", 5)])
    assert words(ax) == {"x", "batch\n4", "time\n300", "features\n3", "w", "hidden\n5"}


@pytest.mark.parametrize("layers", [1, 3])
def test_unrolled_has_a_cell_for_every_step_of_every_layer(layers):
    (ax,) = figures.panels()
    figures.unrolled(4, layers, cell="unit", ax=ax)
    assert sum(text.get_text() == "unit" for text in ax.texts) == 4 * layers
    assert {"x[:, 0]", "output[:, 3]"} <= words(ax)
    ax.figure.canvas.draw()  # arrows find their boxes only here


def test_heat_map_takes_any_dtype_and_graph_and_leaves_padding_grey():
    (ax,) = figures.panels()
    values = torch.tensor([[0.5, -1.0], [0.25, float("nan")]], dtype=torch.bfloat16, requires_grad=True)
    figures.heat_map(values, "batch", "time", ax=ax, numbers=True, column_labels=["first", "last"])
    assert words(ax) == {"0.5", "-1", "0.25"}
    assert [label.get_text() for label in ax.get_xticklabels()] == ["first", "last"]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("batch", "time")
    assert ax.images[0].get_clim() == (-1.0, 1.0)


def test_curves_are_named_and_differ_in_more_than_colour():
    (ax,) = figures.panels()
    figures.curves({"i": torch.rand(9), "f": torch.rand(9)}, ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["i", "f"]
    assert len({line.get_linestyle() for line in ax.lines}) == 2


def test_logarithmic_curves_show_every_value():
    (ax,) = figures.panels()
    figures.curves(
        {"small": torch.tensor([1e-14, 1e-3]), "large": torch.tensor([30.0, 2.0])}, ax=ax, log=True
    )
    low, high = ax.get_ylim()
    assert ax.get_yscale() == "log"
    assert 1e-16 < low < 1e-14 < 30 < high < 3000


def test_a_step_backwards_has_two_gradients_arriving():
    (ax,) = figures.panels()
    figures.backward(ax)
    ax.figure.canvas.draw()
    assert {word.split(":")[0] for word in words(ax)} >= {
        "from above",
        "from the right",
        "to the left",
        "down",
    }


def test_coloured_text_writes_every_character_on_its_number():
    (ax,) = figures.panels()
    figures.coloured_text("Mr. Darcy", torch.arange(9.0, requires_grad=True) - 4, ax=ax, columns=4)
    places = {(text.get_position(), text.get_text()) for text in ax.texts}
    assert {((0, 0), "M"), ((3, 0), " "), ((0, 1), "D"), ((0, 2), "y")} <= places
    assert ax.images[0].get_array().tolist() == [[-4, -3, -2, -1], [0, 1, 2, 3], [4, 0, 0, 0]]
    assert ax.images[0].get_clim() == (-4, 4)


def test_every_drawing_is_dark_ink_on_white():
    figures.shapes(x={"batch": 2, "hidden": 3})
    figures.unrolled(2)
    figures.backward()
    figures.heat_map(torch.rand(3, 20), title="title")
    figures.curves({"i": torch.rand(20)}, title="title", steps=True)
    for number in plt.get_fignums():
        figure = plt.figure(number)
        figure.canvas.draw()  # writes the tick labels
        assert figure.get_facecolor() == (1, 1, 1, 1)
        for ax in figure.axes:
            texts = [ax.title, *ax.get_xticklabels(), *ax.get_yticklabels()]
            inks = {text.get_color() for text in texts if text.get_text()}
            assert inks <= {figures.INK}, "a theme's own ink would be white on white"
