"""Tables as CSV that a spreadsheet opens as what it is: text stays text, whoever wrote it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The first characters by which a spreadsheet runs a cell instead of showing it; four are full-width."""


MARK = "\ufeff"
"""The beginning of a file that Excel is to read as UTF-8; else it takes the system's old code page."""


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV (RFC 4180); `None` is an empty field, and a whole number is written without a point.

    Text that a spreadsheet would take for a formula gets an apostrophe in front, as OWASP advises.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)  # quotes what needs it; lines end in CR LF
    writer.writerows([_field(value) for value in row] for row in rows)
    return buffer.getvalue()


def _field(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:.10g}"
    text = str(value).replace("\0", "")
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text
