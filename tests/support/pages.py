"""Pages of the documentation as steps that a test can follow: commands, and the files they say to write."""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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


@dataclass
class Followed:
    """The course that comes out of following steps from top to bottom, and what the commands said."""

    course: Path
    said: dict[str, str] = field(default_factory=dict)


def follow(every: Iterable[Step], home: Path) -> Followed:
    """Write the files and run the commands, beginning in a folder; skip what they say."""
    found = Followed(home)
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    for step in every:
        if step.language == "text":
            continue
        if step.language != "console":
            assert step.file, "every listing on the page says which file it is"
            (found.course / step.file).parent.mkdir(parents=True, exist_ok=True)
            (found.course / step.file).write_text(step.text, encoding="utf-8")
            continue
        for line in step.text.splitlines():
            if line.startswith("cd "):
                found.course /= line.removeprefix("cd ")
                continue
            told = subprocess.run(
                line, shell=True, cwd=found.course, env=environment, capture_output=True, text=True
            )
            assert told.returncode == 0, f"{line}\n{told.stdout}\n{told.stderr}"
            found.said[line] = told.stdout
    return found


def lines_of_code(text: str) -> int:
    """Return the lines of a Python file that hold code: no blank ones, no comments, no docstring."""
    module = ast.parse(text)
    assert ast.get_docstring(module)
    nothing = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER)
    tokens = (
        each for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type not in nothing
    )
    return len({each.start[0] for each in tokens} - set(range(1, (module.body[0].end_lineno or 0) + 1)))
