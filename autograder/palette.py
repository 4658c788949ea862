"""The colour of each dimension, the same in a notebook's figures and on the card below a cell.

A figure has them as strokes and bold text on white paper. A card has them as grounds of white text, on a page
that may be white or black. One shade serves both, because each lies in the narrow band of lightness that
contrasts enough with all of these (WCAG AA: 4.5 for text, 3 for a ground's edge on its page).
The hues are as far apart as that band allows, for colour-blind readers too, and a name always stands beside
its colour. `tests/cards/test_palette.py` measures all of this.
"""

DIMENSIONS = {
    "batch": "#126bfd",
    "time": "#b94c00",
    "features": "#50773a",
    "hidden": "#a63ccc",
    "layers": "#e3027a",
    "vocabulary": "#227b98",
}
"""The colour of each name that dimensions have in messages."""
GATE = "#3e388c"
"""The colour of a gate in a diagram: no dimension, so it is on no card and may be darker."""
