"""Pages of the documentation as steps that a test can follow: commands, and the files they say to write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_STEP = re.compile(r"(?:<!-- (?P<mark>[^>]*) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Step:
    """One fenced block of a page."""

    section: str
    """The heading above it."""
    language: str
    text: str
    mark: str
    """The comment above it, such as `file: NAME`; `""` without one."""

    @property
    def file(self) -> str:
        """The file that the block is to be written to; `""` for commands."""
        return self.mark.removeprefix("file: ") if self.mark.startswith("file: ") else ""


def steps(page: Path, others: Mapping[str, str]) -> Iterator[Step]:
    """The steps of a page from top to bottom, with `others` for the names that it tells to replace."""
    text = page.read_text(encoding="utf-8")
    for name, other in others.items():
        assert name in text, f"{page.name} does not speak of {name}"
        text = text.replace(name, other)
    for section in re.split(r"(?m)^(?=## )", text):
        heading = section.partition("\n")[0].removeprefix("## ")
        for found in _STEP.finditer(section):
            yield Step(heading, found["language"], found["text"], found["mark"] or "")
