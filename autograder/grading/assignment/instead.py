"""A mark in a solution: below it stands, as comments, what students are given in place of the stub."""

from __future__ import annotations

import re

INSTEAD = "RELEASED INSTEAD"
COMMENT = re.compile(r"(?P<indent>\s*)#(?: |$)(?P<code>.*)")
"""A line below the mark. Its code stands as far in as the comment does."""
_BLOCK = re.compile(rf"^.*{INSTEAD}.*\n(?:[ \t]*(?:#(?: .*)?)?\n)*", re.MULTILINE)


def released_instead(source: str, begin: str, end: str) -> str:
    """Return a cell with each solution that has the mark replaced by what stands below the mark.

    `begin` and `end` are the course's marks around a solution.
    """
    lines: list[str] = []
    solution: list[str] | None = None
    for line in source.split("\n"):
        if begin in line:
            solution = []
        if solution is None:
            lines.append(line)
            continue
        solution.append(line)
        if end in line:
            marked = [number for number, each in enumerate(solution) if INSTEAD in each]
            lines += map(_uncommented, solution[marked[0] + 1 : -1]) if marked else solution
            solution = None
    return "\n".join(lines + (solution or []))


def without_instead(source: str) -> str:
    """Return a solution without the mark and the comments below it."""
    return _BLOCK.sub("", source)


def _uncommented(line: str) -> str:
    found = COMMENT.fullmatch(line)
    return f"{found['indent']}{found['code']}".rstrip() if found else line
