"""docs/reference.md is what the code says, and says of every name what an author needs."""

from __future__ import annotations

import ast
import inspect
import re
from textwrap import dedent

import pytest

from autograder import checking
from docs import make_reference

CONSTANTS = {"DTYPES", "EXTREMES", "USUAL"}
"""Names of something that is no function or class of its own: they need no example."""


def test_the_page_is_made_from_the_code_as_it_is():
    written = make_reference.PAGE.read_text(encoding="utf-8")
    assert written == make_reference.page(), "run `make reference`, and commit docs/reference.md"


def test_every_name_is_on_the_page_once():
    headings = re.findall(r"^### `(\w+)`$", make_reference.page(), re.MULTILINE)
    assert sorted(headings) == sorted(checking.__all__)


@pytest.mark.parametrize("name", sorted(set(checking.__all__) - CONSTANTS))
def test_a_name_has_an_example_that_compiles(name):
    told = inspect.getdoc(getattr(checking, name)) or ""
    examples = examples_in(told)
    assert examples, f"{name} has no example"
    ast.parse(examples)


@pytest.mark.parametrize("name", sorted(set(checking.__all__) - CONSTANTS))
def test_a_name_says_what_it_raises(name):
    told = inspect.getdoc(getattr(checking, name)) or ""
    assert re.search(r"\b([Rr]aise[sd]?|raising)\b", told), (
        f"{name} does not say what it raises, or that it does not"
    )


def test_examples_are_of_more_than_recurrent_networks():
    """Most authors of checks teach something else, so most examples are not recurrent."""
    names = sorted(set(checking.__all__) - CONSTANTS)
    examples = {name: examples_in(inspect.getdoc(getattr(checking, name)) or "") for name in names}
    recurrent = [name for name, text in examples.items() if re.search("rnn|gru|lstm|h_next|h_n", text, re.I)]
    assert len(recurrent) < len(names) / 3, recurrent


@pytest.mark.parametrize("name", sorted(set(checking.__all__) - CONSTANTS))
def test_what_a_name_is_begins_plainly(name):
    """With a verb or a thing: on the page, the first words are what people look for."""
    first = (inspect.getdoc(getattr(checking, name)) or "").partition("\n")[0]
    assert first.endswith((".", ":")), first
    assert first.split()[0] not in {"What", "Whether", "Of", "As", "Do", "This"}, first


@pytest.mark.parametrize("name", sorted(set(checking.__all__) - CONSTANTS))
def test_an_example_calls_what_there_is(name):
    """An argument that is spelt wrongly, or is gone, would be copied."""
    for node in ast.walk(ast.parse(examples_in(inspect.getdoc(getattr(checking, name)) or ""))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        called = node.func.id
        if called.startswith("expect"):
            assert called in checking.__all__
        unpacked = any(isinstance(each, ast.Starred) for each in node.args)
        if called in checking.__all__ and not unpacked:
            named = {each.arg: None for each in node.keywords if each.arg}
            inspect.signature(getattr(checking, called)).bind(*node.args, **named)


def test_the_links_in_the_page_lead_somewhere():
    page = make_reference.page()
    anchors = []
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page, flags=re.DOTALL), re.MULTILINE):
        slug = heading.strip("`").lower().replace(" ", "-")
        seen = sum(re.fullmatch(rf"{re.escape(slug)}(-\d+)?", other) is not None for other in anchors)
        anchors.append(f"{slug}-{seen}" if seen else slug)
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= set(anchors)
    files = set(re.findall(r"\]\(([\w-]+\.md)", page))
    assert files
    assert not [file for file in files if not (make_reference.PAGE.parent / file).exists()]


def examples_in(docstring: str) -> str:
    """Return the lines of a docstring's indented blocks, as one piece of code."""
    return "\n".join(dedent(block[0]) for block in re.finditer(r"(?m)(?:^    .*\n?|^\n(?=    ))+", docstring))
