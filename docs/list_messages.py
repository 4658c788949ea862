"""Print everything that a student may read, each sentence with its file and line, to be read aloud.

The code is parsed and not run: what a message fills in is shown as `{…}`, and a sentence that only rare wrong
answers meet is in the list like any other.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import signal
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent, wrap

ROOT = Path(__file__).parent.parent
PACKAGE = "autograder"


@dataclass(frozen=True)
class Message:
    """A piece of text, its file from the repository's root on, and its line."""

    file: str
    line: int
    text: str


@dataclass(frozen=True)
class Group:
    """Texts that a student meets in the same place, and how they are read from a file."""

    title: str
    patterns: tuple[str, ...]
    """Files, as patterns from the repository's root on."""
    read: Callable[[str], Iterator[tuple[int, str]]]


def titles(source: str) -> Iterator[tuple[int, str]]:
    """Yield what a file of checks is about, and the titles of its checks.

    These are docstrings, and what `title=` and `hidden` are given.
    """
    tree = ast.parse(source)
    if any(map(_is_check, tree.body)) and ast.get_docstring(tree):
        yield 1, first_paragraph(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and ast.get_docstring(node):
            yield node.body[0].lineno, first_paragraph(node)
        if isinstance(node, ast.Call):
            yield from ((each.lineno, template(each)) for each in _title_arguments(node) if template(each))


def _is_check(node: ast.stmt) -> bool:
    """Return whether a check is defined, by `def` or made from a specification."""
    match node:
        case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
            return name.startswith("test_")
        case ast.Expr(value=ast.Call(func=ast.Name(id="standard"))):
            return True
    return False


def first_paragraph(documented: ast.FunctionDef | ast.Module) -> str:
    """Return the first paragraph of a docstring in one line."""
    return " ".join((ast.get_docstring(documented) or "").partition("\n\n")[0].split())


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """Yield the texts of at least two words, in words: without docstrings, titles, and errors of programs."""
    tree = ast.parse(source)
    unread = set(_never_shown(tree))
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if node in unread:
            continue
        text = template(node) if isinstance(node, ast.expr) else ""
        if is_said(text):
            yield getattr(node, "lineno", 0), without_tags(text)
        # What is filled in may be a text of its own, as the second word in f"{count} {'steps' if …}".
        todo += _filled_in(node) if text else ast.iter_child_nodes(node)


def hints(source: str) -> Iterator[tuple[int, str]]:
    """Yield the hints of a catalogue, each at the line of its mistake's name."""
    lines = source.splitlines()
    for name, mistake in tomllib.loads(source).items():
        if isinstance(mistake, dict) and mistake.get("hint"):
            yield lines.index(f"[{name}]") + 1, f"{name}: {' '.join(mistake['hint'].split())}"


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a notebook's Markdown cells, each at its line of the file."""
    lines = source.splitlines()
    at = 0
    for cell in json.loads(source)["cells"]:
        if cell["cell_type"] != "markdown":
            continue
        for paragraph in "".join(cell["source"]).split("\n\n"):
            start = json.dumps(paragraph.partition("\n")[0], ensure_ascii=False)[:-1]
            at = next((n for n in range(at, len(lines)) if lines[n].lstrip().startswith(start)), at)
            yield at + 1, " ".join(paragraph.split())


def whole(source: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a page."""
    line = 1
    for paragraph in source.split("\n\n"):
        yield line, " ".join(paragraph.split())
        line += paragraph.count("\n") + 2


EXERCISES = f"{PACKAGE}/exercises/**/*.py"
GROUPS = (
    Group("Titles of checks", (EXERCISES, f"{PACKAGE}/checking/specs/*.py"), titles),
    Group("Messages of the exercises", (EXERCISES,), sentences),
    Group(
        "Messages of every check",
        (
            f"{PACKAGE}/checking/**/*.py",
            f"{PACKAGE}/worker/session/**/*.py",
            f"{PACKAGE}/worker/devices/*.py",
        ),
        sentences,
    ),
    Group(
        "Cards, the notebook and the feedback page",
        (
            f"{PACKAGE}/cards/*.py",
            f"{PACKAGE}/jupyter/*.py",
            f"{PACKAGE}/notebook.py",
            f"{PACKAGE}/tasks.py",
            f"{PACKAGE}/beside.py",
            f"{PACKAGE}/grading/feedback/*.py",
        ),
        sentences,
    ),
    Group(
        "Findings about what was handed in",
        (
            f"{PACKAGE}/grading/handed_in/*.py",
            f"{PACKAGE}/grading/judging/*.py",
            f"{PACKAGE}/grading/assignment/rebuild.py",
            f"{PACKAGE}/grading/assignment/matching.py",
            f"{PACKAGE}/grading/batch.py",
        ),
        sentences,
    ),
    Group("Hints", ("solutions/mistakes/*.toml",), hints),
    Group("The students' page", ("source/students.md",), whole),
    Group("Notebooks", ("source/*/*.ipynb",), prose),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="show only groups whose title has one of these words")
    chosen = parser.parse_args().words
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `make messages | head` ends without a traceback
    for group in GROUPS:
        if not chosen or any(word.lower() in group.title.lower() for word in chosen):
            sys.stdout.write(page(group))


def page(group: Group) -> str:
    """Return a group's messages, file by file, in lines that are not too long to read aloud."""
    found = list(messages(group))
    parts = [f"\n== {group.title} ({len(found)}) ==\n"]
    for message in found:
        text = "\n".join(wrap(message.text, 100))
        parts.append(f"{message.file}:{message.line}\n{indent(text, '    ')}\n")
    return "\n".join(parts)


def messages(group: Group) -> Iterator[Message]:
    """Yield a group's messages in the order of files and lines."""
    files = {file for pattern in group.patterns for file in ROOT.glob(pattern)}
    for file in sorted(files):
        place = file.relative_to(ROOT).as_posix()
        found = sorted(set(group.read(file.read_text(encoding="utf-8"))))
        yield from (Message(place, line, text) for line, text in found)


def template(node: ast.AST) -> str:
    """Return the text of a string, of joined strings, or of an f-string with `{…}`; `""` for all else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(template(part) if isinstance(part, ast.Constant) else "{…}" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = template(node.left), template(node.right)
        return f"{left or '{…}'}{right or '{…}'}" if left or right else ""
    return ""


def _filled_in(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a template that are computed."""
    if isinstance(node, ast.JoinedStr):
        yield from (part.value for part in node.values if isinstance(part, ast.FormattedValue))
    elif isinstance(node, ast.BinOp):
        for side in (node.left, node.right):
            yield from _filled_in(side) if template(side) else [side]


_FOR_PROGRAMMERS = {"ValueError", "TypeError", "KeyError", "AttributeError", "RuntimeError", "AssertionError"}
"""Errors that tell the author of a check of a fault."""
_NOT_SHOWN = {"compile", "search", "match", "fullmatch", "sub", "findall", "getattr", "__import__", "TypeVar"}
"""Functions whose texts are patterns and names."""


def _never_shown(tree: ast.Module) -> Iterator[ast.AST]:
    """The parts of a file that students do not read: docstrings, titles (listed apart), faults of a check."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant()):
                yield node
            case ast.Raise(exc=error) if _name(error) in _FOR_PROGRAMMERS:
                yield node
            case ast.Call():
                yield from _title_arguments(node)
                yield from node.args if _name(node) in _NOT_SHOWN else []
            case ast.AnnAssign(annotation=annotation) | ast.arg(annotation=ast.expr() as annotation):
                yield annotation


def _title_arguments(call: ast.Call) -> Iterator[ast.expr]:
    """The titles among the arguments of a call."""
    if _name(call) == "hidden":
        yield from call.args
    if _name(call) == "_check":  # a spec's method: rule, body, usual title, marks
        yield from call.args[2:3]
    for each in call.keywords:
        if each.arg in ("title", "hidden") and template(each.value):
            yield each.value


def _name(node: ast.AST | None) -> str:
    """The last part of the name that is called, as "fail" for `words.fail(…)`."""
    called = node.func if isinstance(node, ast.Call) else node
    return getattr(called, "attr", getattr(called, "id", ""))


def without_tags(text: str) -> str:
    """Return text as a page shows it, in one line."""
    return " ".join(re.sub(r"<[^<>]*>?", " ", text).split())


def is_said(text: str) -> bool:
    """Return whether a text is in words: two or more, and no style sheet, pattern, program or name."""
    plain = re.sub(r"`[^`]*`", "", without_tags(text))
    if re.search(r"[;{]\s*[\w-]+:|^[\w-]+:\S|\\|\(\?", plain) or _is_program(text):
        return False
    words = re.findall(r"(?<!\S)[(\"“]?[A-Za-z][a-z’']*[-a-z]*(?=[\s.,:;?!)\"”]|$)", plain)
    return len(words) >= 2 and any(len(word) > 2 for word in words)


def _is_program(text: str) -> bool:
    """Return whether a text is a piece of Python, which some checks send to the student's side."""
    return "\n" in text and bool(re.search(r"^\s*(class|def|from|import) .*[\w:]$", text, re.MULTILINE))


if __name__ == "__main__":
    main()
