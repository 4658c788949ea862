"""The visual voice of the course: tensors as boxes, networks as diagrams, heat maps and curves.

A dimension has one colour in every notebook, and the same one on the cards (see `palette`). A function draws
and returns nothing, so a cell shows only its picture; to put several drawings into one figure, hand each an
`ax` from `panels`.
Importing this module is cheap: the first drawing imports matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch

from autograder.palette import DIMENSIONS, GATE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {**DIMENSIONS, "gate": GATE}
INK, PAPER, FAINT = "#222222", "#FFFFFF", "#999999"
STYLES = ("-", "--", "-.", ":")
Pairs = Sequence[tuple[str, int]]


class Node(NamedTuple):
    """A box of a diagram, centred at (x, y). Without a colour it is bare text."""

    x: float
    y: float
    label: str
    colour: str = ""
    round: bool = False


class Arrow(NamedTuple):
    """An arrow between two nodes: straight, or with one corner, leaving "across" or "up" first."""

    start: str
    end: str
    colour: str = ""
    corner: str = ""


def colour(name: str) -> str:
    """The colour of a dimension; `name` itself where it is a colour ("#888888"), else ink."""
    return COLOURS.get(name, name if name.startswith("#") else INK)


def panels(rows: int = 1, columns: int = 1, width: float = 8.0, height: float = 3.0) -> list[Axes]:
    """Empty drawings of one figure, row by row; `width` and `height` in inches are the whole figure's."""
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(rows, columns, figsize=(width, height), squeeze=False, layout="constrained")
    figure.set_facecolor(PAPER)  # said aloud, so that a dark theme cannot swallow dark ink
    return [_dress(ax) for ax in grid.flat]


def shapes(ax: Axes | None = None, title: str = "", **tensors: Mapping[str, int] | Pairs) -> None:
    """Tensors of one to three dimensions as boxes with named edges.

    `shapes(x={"batch": 4, "time": 6, "features": 3})` draws the last two dimensions as a grid and the first
    as its depth; pairs, `w=[("hidden", 5), ("hidden", 5)]`, allow one name twice. At most eight cells of a
    dimension are drawn; the label tells the true size.
    """
    from matplotlib.patches import Rectangle

    ax = ax or panels(width=2.6 * len(tensors), height=2.9)[0]
    left, top = 0.0, 0.0
    for tensor, dimensions in tensors.items():
        pairs = list(dimensions.items() if isinstance(dimensions, Mapping) else dimensions)
        edges = [("", 1)] * (3 - len(pairs)) + pairs
        depth, height, width = (min(size, 8) for _, size in edges)
        back = 0.4 * (depth - 1)
        left += 2.2  # room for the row label
        right = left + width
        for x in reversed([0.4 * layer for layer in range(depth)]):
            ax.add_patch(Rectangle((left + x, x), width, height, facecolor=PAPER, edgecolor=INK))
        ax.hlines(range(1, height), left, left + width, color=FAINT, lw=0.6)
        ax.vlines([left + i for i in range(1, width)], 0, height, color=FAINT, lw=0.6)
        lines = (((right, right + back), (0, back)), ((left, left), (0, height)), ((left, right), (0, 0)))
        places = ((0.25, -0.1, "left", "top"), (-0.3, 0, "right", "center"), (0, -0.3, "center", "top"))
        for (name, size), (xs, ys), (dx, dy, ha, va) in zip(edges, lines, places, strict=True):
            if name:
                ax.plot(xs, ys, color=colour(name), lw=3.5, solid_capstyle="round")
                x, y, text = sum(xs) / 2 + dx, sum(ys) / 2 + dy, f"{name}\n{size}"
                ax.text(x, y, text, color=colour(name), ha=ha, va=va, fontsize=10, weight="bold")
        ax.text(left, height + back + 0.25, tensor, color=INK, fontsize=12, weight="bold", va="bottom")
        left, top = right + back + (2.4 if edges[0][0] else 0.6), max(top, height + back)
    ax.set(xlim=(-0.2, left), ylim=(-2, top + 1.4), aspect="equal", title=title)
    ax.axis("off")


def diagram(
    nodes: Mapping[str, Node], arrows: Sequence[Arrow], title: str = "", ax: Axes | None = None
) -> None:
    """Labelled boxes and arrows between them, at the nodes' own coordinates; a box is about one unit high."""
    from matplotlib.patches import FancyArrowPatch

    xs, ys = [node.x for node in nodes.values()], [node.y for node in nodes.values()]
    low, high = (min(xs) - 1, min(ys) - 0.7), (max(xs) + 1, max(ys) + 0.7)
    ax = ax or panels(width=0.68 * (high[0] - low[0]), height=0.68 * (high[1] - low[1]) + 0.3)[0]
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), title=title, aspect="equal")
    ax.axis("off")
    patches = {}
    for key, node in nodes.items():
        edge = colour(node.colour) if node.colour else PAPER
        style = "circle,pad=0.35" if node.round else "round,pad=0.35"
        box = {"boxstyle": style, "fc": edge + "30" if node.colour else PAPER, "ec": edge, "lw": 1.6}
        text = ax.text(node.x, node.y, node.label, ha="center", va="center", fontsize=11, color=INK, bbox=box)
        patches[key] = text.get_bbox_patch()
    corners = {"across": "angle,angleA=0,angleB=90", "up": "angle,angleA=90,angleB=0"}
    for arrow in arrows:
        start, end = nodes[arrow.start], nodes[arrow.end]
        line = FancyArrowPatch(
            (start.x, start.y), (end.x, end.y), patchA=patches[arrow.start], patchB=patches[arrow.end],
            arrowstyle="-|>", mutation_scale=13, lw=1.6, color=colour(arrow.colour),
            connectionstyle=corners.get(arrow.corner, "arc3"), zorder=4,  # after the boxes it ends at
        )  # fmt: skip
        ax.add_patch(line)


def unrolled(
    steps: int, layers: int = 1, cell: str = "cell", title: str = "", ax: Axes | None = None
) -> None:
    """A network unrolled: time runs right, layers are stacked upwards, `steps * layers` copies of a cell."""
    nodes, arrows = {}, []
    for layer in range(layers):
        suffix = f"[{layer}]" if layers > 1 else ""
        nodes[f"{layer} -1"] = Node(0, 1.7 * layer, f"h_0{suffix}")
        nodes[f"{layer} {steps}"] = Node(2.3 * (steps + 1), 1.7 * layer, f"h_n{suffix}")
        arrows += [Arrow(f"{layer} {step - 1}", f"{layer} {step}", "time") for step in range(steps + 1)]
    for step in range(steps):
        x = 2.3 * (step + 1)
        nodes[f"-1 {step}"] = Node(x, -1.6, f"x[:, {step}]")
        nodes[f"{layers} {step}"] = Node(x, 1.7 * layers - 0.1, f"output[:, {step}]")
        nodes |= {f"{layer} {step}": Node(x, 1.7 * layer, cell, "hidden") for layer in range(layers)}
        for layer in range(layers + 1):
            ink = "features" if layer == 0 else "hidden" if layer == layers else "layers"
            arrows.append(Arrow(f"{layer - 1} {step}", f"{layer} {step}", ink))
    diagram(nodes, arrows, title, ax)


def backward(ax: Axes | None = None) -> None:
    """One time step on the way back: what arrives at a state, from above and the right, and where it goes."""
    nodes = {
        "above": Node(4, 2.1, "from above:\nd_output[:, t]"),
        "right": Node(9.2, 0, "from the right:\nd_h of step t + 1"),
        "state": Node(4, 0, "+", "hidden", round=True),
        "slope": Node(4, -1.8, "times 1 − h_next²", "gate"),
        "left": Node(-1.2, -1.8, "to the left:\nd_h for step t − 1"),
        "below": Node(4, -3.8, "down:\nd_x[:, t]"),
        "weights": Node(9.2, -1.8, "added up over time:\nd_w_ih, d_w_hh, d_b"),
    }
    arrows = [
        Arrow("above", "state", "layers"),
        Arrow("right", "state", "time"),
        Arrow("state", "slope", "hidden"),
        Arrow("slope", "left", "time"),
        Arrow("slope", "below", "features"),
        Arrow("slope", "weights", "gate"),
    ]
    diagram(nodes, arrows, "step t, backwards", ax)


def heat_map(
    values: torch.Tensor, rows: str = "hidden", columns: str = "time", title: str = "",
    ax: Axes | None = None, limit: float | None = None, numbers: bool = False,
    row_labels: Sequence[str] | None = None, column_labels: Sequence[str] | None = None,
) -> None:  # fmt: skip
    """A matrix as colours: white is 0, blue below and red above; not-a-number (padding, say) is grey.

    `limit` is the size of a value in full colour (default: the largest), `numbers` writes the values in.
    """
    import matplotlib

    table = values.detach().to("cpu", torch.float64)
    height, width = table.shape
    ax = ax or panels(width=min(10, 2.6 + 0.42 * width), height=min(6, 1.3 + 0.34 * height))[0]
    limit = limit or float(table.nan_to_num().abs().max()) or 1.0
    low = -limit if bool((table < 0).any()) else 0.0
    colours = matplotlib.colormaps["RdBu_r" if low else "Reds"].with_extremes(bad="#CCCCCC")
    image = ax.imshow(table.numpy(), cmap=colours, vmin=low, vmax=limit, aspect="auto")
    ax.set_title(title)
    ax.set_ylabel(rows, color=colour(rows), weight="bold")
    ax.set_xlabel(columns, color=colour(columns), weight="bold")
    ax.locator_params(integer=True)
    for axis, size, labels in ((ax.yaxis, height, row_labels), (ax.xaxis, width, column_labels)):
        if labels is not None or size <= 12:
            axis.set_ticks(range(size), labels)
    for row, column in (~table.isnan()).nonzero().tolist() if numbers else ():
        value = float(table[row, column])
        ink = PAPER if abs(value) > 0.65 * limit else INK
        ax.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=9, color=ink)
    ax.figure.colorbar(image, ax=ax, shrink=0.9).ax.tick_params(colors=INK, labelsize=9)


def curves(
    lines: Mapping[str, torch.Tensor], across: str = "time", title: str = "", ax: Axes | None = None,
    low: float | None = None, high: float | None = None, steps: bool = False, log: bool = False,
) -> None:  # fmt: skip
    """One-dimensional tensors as lines; `steps` draws them as flat pieces, for values that jump.

    With `log` the values' axis is logarithmic.
    """
    ax = ax or panels(width=8, height=2.6)[0]
    wheel, drawn = list(COLOURS.values()), "steps-mid" if steps else "default"
    for number, (name, values) in enumerate(lines.items()):
        style, ink = STYLES[number % len(STYLES)], wheel[number % len(wheel)]
        points = values.detach().cpu().double().tolist()
        ax.plot(points, style, label=name, color=ink, lw=2, drawstyle=drawn)
    ax.locator_params(axis="x", integer=True)
    ax.set(title=title, yscale="log" if log else "linear")
    ax.set_ylim(low, high)
    ax.set_xlabel(across, color=colour(across), weight="bold")
    ax.margins(x=0.5 / max(1, len(next(iter(lines.values()))) - 1))  # as wide as a heat map
    ax.grid(color="#E5E5E5")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=10, labelcolor=INK)


def coloured_text(
    text: str, values: torch.Tensor, title: str = "", ax: Axes | None = None,
    columns: int = 80, limit: float | None = None,
) -> None:  # fmt: skip
    """A text in lines of `columns` characters, each on the colour of its number in `values`.

    White is 0, blue below, red above; `limit` is the size of a value in full colour (default: the largest).
    """
    numbers = values.detach().to("cpu", torch.float64)
    rows = -(-len(text) // columns)
    table = torch.nn.functional.pad(numbers, (0, rows * columns - len(text))).view(rows, columns)
    limit = limit or float(numbers.abs().max()) or 1.0
    ax = ax or panels(width=10, height=0.27 * rows + 0.7)[0]
    image = ax.imshow(table.numpy(), cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto", alpha=0.75)
    for place, character in enumerate(text):
        row, column = divmod(place, columns)
        ax.text(column, row, character, ha="center", va="center", family="monospace", fontsize=10, color=INK)
    ax.set(title=title, xticks=[], yticks=[])
    ax.figure.colorbar(image, ax=ax, shrink=0.9, pad=0.01).ax.tick_params(colors=INK, labelsize=9)


def _dress(ax: Axes) -> Axes:
    ax.set_facecolor(PAPER)
    ax.tick_params(colors=INK, labelsize=9)
    for spine in ax.spines.values():
        spine.set_color(FAINT)
    ax.title.set(color=INK, fontsize=11)
    return ax
