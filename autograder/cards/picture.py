"""The picture of a difference: for a page, for a terminal, and in words for those who see neither.

It is a table of signs on coloured grounds, because pictures and drawings do not come through every
notebook's sanitizer; the words stand beneath it, so the table itself is kept from screen readers.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.cards.colours import INK, LEVELS, dimension, marked
from autograder.checking.explain.evidence import Axis, Difference

SIGNS = "·░▒█"
"""The sign of each level: right, then off by a little, more and most. A page has `_PAGE_SIGNS`."""
_PAGE_SIGNS = "·○◐●"


def picture_words(difference: Difference) -> str:
    """The places where the result is wrong, row by row; rows that are wrong alike share one clause."""
    rows, columns = difference.rows, difference.columns
    # Of several indices in one cell, some may be right.
    at = "at" if len(columns.starts) == columns.size else "within"
    alike: dict[tuple[bool, ...], list[int]] = {}
    for row, levels in enumerate(difference.levels):
        alike.setdefault(tuple(level > 0 for level in levels), []).append(row)
    if len(alike) == 1:
        (pattern,) = alike
        return f"Every {_noun(rows)} is wrong {at} {_indices(columns, _wrong(pattern))} and right elsewhere."
    told = []
    for pattern, where in sorted(alike.items(), key=lambda item: item[1]):
        wrong = _wrong(pattern)
        how = "right" if not wrong else "wrong" if all(pattern) else f"wrong {at} {_indices(columns, wrong)}"
        told.append(f"{_indices(rows, where)}: {how}")
    said = "; ".join(told)
    return f"{said[0].upper()}{said[1:]}."


def picture_text(difference: Difference) -> list[str]:
    """The picture as lines for a terminal."""
    lines = [
        "".join(f"{_gap(difference.columns, cell)}{SIGNS[level]}" for cell, level in enumerate(levels))
        for levels in difference.levels
    ]
    labels = _labels(difference.rows)
    width = max(map(len, labels))
    rows = [f"{label:>{width}} {line}" for label, line in zip(labels, lines, strict=True)]
    return [
        f"`{difference.of}`, {_axis_label(difference.rows)} down, {_axis_label(difference.columns)} across "
        f"({SIGNS[0]} right, {SIGNS[1]} off, {SIGNS[2]} more, {SIGNS[3]} most):",
        *rows,
    ]


def picture_html(difference: Difference) -> str:
    """The picture for a page: the table, its key, and the words."""
    rows, columns = difference.rows, difference.columns
    cell = "padding:0;border:0;text-align:center;font-size:85%;line-height:1.3"
    head = "".join(
        f'<td style="{cell};min-width:1.7em;{_edge(columns, at)}">{label}</td>'
        for at, label in enumerate(_labels(columns))
    )
    body = "".join(
        f'<tr style="background-color:transparent"><td style="{cell};padding-right:.5em">{label}</td>'
        + "".join(
            f'<td style="{cell};{_ground(level)}{_edge(columns, at)}">{_PAGE_SIGNS[level]}</td>'
            for at, level in enumerate(levels)
        )
        + "</tr>"
        for label, levels in zip(_labels(rows), difference.levels, strict=True)
    )
    key = " ".join(
        f'<span style="{_ground(level)}padding:0 .4em">{_PAGE_SIGNS[level]}</span> {word}'
        for level, word in enumerate(("right", "off", "more", "most"))
    )
    return (
        f'<div style="margin:.4em 0 .4em 1.4em"><div>Where {marked(f"`{difference.of}`")} is wrong: '
        f"{dimension(rows.name, rows.size)} down, {dimension(columns.name, columns.size)} across</div>"
        f'<table aria-hidden="true" style="border-collapse:collapse;border:0;margin:.3em 0;width:auto">'
        f'<tbody><tr style="background-color:transparent"><td style="{cell}"></td>{head}</tr>{body}</tbody>'
        f'</table><div style="font-size:92%"><span aria-hidden="true">{key}<br></span>'
        f"{marked(picture_words(difference))}</div></div>"
    )


def _wrong(pattern: Sequence[bool]) -> list[int]:
    return [at for at, wrong in enumerate(pattern) if wrong]


def _indices(axis: Axis, cells: Sequence[int]) -> str:
    """The indices of some cells, as "steps 0, 3 to 6 and 9"."""
    runs: list[list[int]] = []
    for index in (index for cell in cells for index in axis.covered(cell)):
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run)
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    many = len(runs) > 1 or len(runs[0]) > 1
    return f"{_noun(axis)}{'s' if many and axis.one else ''} {listed}"


def _noun(axis: Axis) -> str:
    return axis.one or f"{axis.name} index"


def _axis_label(axis: Axis) -> str:
    return f"{axis.name} ({axis.size})"


def _labels(axis: Axis) -> list[str]:
    return [str(start) for start in axis.starts]


def _new_block(axis: Axis, cell: int) -> bool:
    """Return whether a cell begins another of the dimension's equal parts."""
    return cell > 0 and axis.starts[cell] % (axis.size // axis.blocks) == 0


def _gap(axis: Axis, cell: int) -> str:
    return "│" if axis.blocks > 1 and _new_block(axis, cell) else ""


def _edge(axis: Axis, cell: int) -> str:
    return "border-left:2px solid" if axis.blocks > 1 and _new_block(axis, cell) else ""


def _ground(level: int) -> str:
    return f"background-color:{LEVELS[level]};color:{INK};" if level else ""
