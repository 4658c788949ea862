"""`make messages` lists what students read: every title and hint, and messages as they are shown."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from autograder.checking.runner.collection import collect
from docs import list_messages
from docs.list_messages import GROUPS, ROOT, hints, messages, prose, sentences, titles

BY_TITLE = {group.title: group for group in GROUPS}
FOLDERS = sorted({file.parent for file in (ROOT / "autograder/exercises").glob("*/test_*.py")})


@pytest.fixture(scope="module")
def listed() -> dict[str, list[str]]:
    """The texts of each group."""
    return {title: [message.text for message in messages(group)] for title, group in BY_TITLE.items()}


def is_listed(said: str, templates: list[str]) -> bool:
    """Return whether one of the templates, with something filled in, is this text."""
    patterns = (".*".join(map(re.escape, template.split("{…}"))) for template in templates)
    return any(re.fullmatch(pattern, said, re.DOTALL) for pattern in patterns)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_every_title_is_listed(folder, listed):
    said = (
        listed["Titles of checks"] + listed["Messages of every check"]
    )  # a spec's usual title is made there
    for check in collect(folder).all:
        for title in filter(None, (check.title, check.instead)):
            assert is_listed(title, said), title


def test_every_hint_is_listed(listed):
    for file in sorted((ROOT / "solutions/mistakes").glob("*.toml")):
        for name, mistake in tomllib.loads(file.read_text(encoding="utf-8")).items():
            assert f"{name}: {' '.join(mistake['hint'].split())}" in listed["Hints"]


@pytest.mark.parametrize(
    ("group", "part"),
    [
        ("Titles of checks", "`lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh)`: one step"),
        ("Messages of the exercises", "`h_0` and `c_0` share memory"),
        ("Messages of the exercises", "with one sequence (B = 1)"),
        ("Messages of every check", "`{…}` has shape {…}; expected {…}."),
        ("Messages of every check", "The smallest input that shows it: {…}."),
        ("Messages of every check", "Not written yet: `{…}`"),
        ("Cards, the notebook and the feedback page", "Your answers are exactly those of a common mistake:"),
        ("Cards, the notebook and the feedback page", 'There is no task "{…}".'),
        (
            "Findings about what was handed in",
            "The cell `{…}` was not found in the notebook; the released one was used.",
        ),
        ("The students' page", "# For students: how these notebooks work"),
        ("Notebooks", "`nn.LSTM`"),
    ],
)
def test_a_known_text_is_listed(group, part, listed):
    assert any(part in text for text in listed[group])


def test_a_place_is_the_texts_own():
    for group in GROUPS:
        for message in list(messages(group))[::40]:
            line = (ROOT / message.file).read_text(encoding="utf-8").splitlines()[message.line - 1 :]
            first = re.findall(r"[A-Za-z]{4,}", message.text.partition(": ")[0])
            near = " ".join(line[:12])
            assert all(word in near for word in first[:1]), f"{message.file}:{message.line} {message.text}"


def test_strings_are_read_as_templates():
    source = '''
def test_x(submission):
    """It returns one number,
    and no other."""
    fail(f"`{name}` is {value:g}, {'too large' if over else 'too small'}. " + more + " Look again.")
    raise ValueError("this is for the author of a check")

def helper():
    """Not shown to anyone."""
    re.compile("not shown either")
    return task.values(title="Its values are right.")
'''
    assert [text for _, text in titles(source)] == [
        "It returns one number, and no other.",
        "Its values are right.",
    ]
    assert sorted(text for _, text in sentences(source)) == [
        "`{…}` is {…}, {…}. {…} Look again.",
        "too large",
        "too small",
    ]


def test_hints_and_prose_have_their_lines():
    assert list(hints('[one]\nhint = """\nSay \\\nthis."""\n')) == [(1, "one: Say this.")]
    page = '{\n "cells": [\n  {\n   "cell_type": "markdown",\n   "source": [\n    "First.\\n",\n    "\\n",\n'
    page += '    "Second line."\n   ]\n  }\n ]\n}'
    assert list(prose(page)) == [(6, "First."), (8, "Second line.")]


def test_the_command_prints_the_groups_that_are_asked_for():
    script = [sys.executable, list_messages.__file__, "cards"]
    told = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    assert told.count("\n== ") == 1
    assert re.search(r"^autograder/cards/card\.py:\d+\n    Your answers are exactly", told, re.MULTILINE)
