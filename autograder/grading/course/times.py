"""Times as people and programs write them: ISO 8601, as nbgrader writes it, or not read at all.

nbgrader reads whatever it can make a date of: 01.03.2026 as the third of January.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo

from dateutil.tz import gettz

_ZONE = re.compile(r"[A-Za-z]+(?:[/_-][A-Za-z]+)*")
"""The name of a zone."""


def read_time(text: str, zone: tzinfo | None = None, short: tzinfo | None = None) -> datetime | None:
    """Return the time in UTC of a text such as `2026-03-01 10:45`, `None` if it is not written like this.

    Without a zone it is a time of `zone`, by default this machine's. The zone may be a number (`+0100`), a
    zone's name (`Europe/Zurich`), or the abbreviation (`PST`) that the zone `short` uses at that date.
    """
    day, _, rest = text.strip().partition(" ")
    clock, _, name = rest.strip().partition(" ")
    with suppress(ValueError, OverflowError):
        if not name or name[0] in "+-":
            moment = datetime.fromisoformat(f"{day} {clock}{name}".strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
        moment = datetime.fromisoformat(f"{day} {clock}").replace(tzinfo=short)
        # A student may have written the name: dateutil would open a path, and read rules of its own.
        known = gettz(name) if _ZONE.fullmatch(name) else None
        named = short if moment.tzname() == name else known
        return moment.replace(tzinfo=named).astimezone(UTC) if named else None
    return None


def seconds_late(
    handed_in: datetime | None, due: datetime | None, extension: timedelta | None = None
) -> float | None:
    """Return by how many seconds a submission is late, below 0 for early; `None` where a time is unknown."""
    if handed_in is None or due is None:
        return None
    return (handed_in - due - (extension or timedelta())).total_seconds()


def duration(seconds: float) -> str:
    """Return a time span in words, in the largest unit that it fills."""
    units = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))
    unit, size = next((each for each in units if round(seconds / each[1], 1) >= 1), units[-1])
    number = round(seconds / size, 1)
    return f"{number:g} {unit}{'' if number == 1 else 's'}"
