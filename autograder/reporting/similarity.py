"""Pairs of submissions whose answers are alike where the rest of the class writes otherwise.

A place to look, never a verdict: short functions have few ways to be written, and people learn together.
Answers are compared as runs of `RUN` tokens, with the names they choose themselves taken out, and without
comments, docstrings and layout. A run that n submissions have counts 2/n; one that was released, that
stands in the course's own solution or that a third of the class has counts for nothing.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

RUN = 10
"""Tokens in a run. Shorter ones are idioms, longer ones are broken by each small change."""
SHARED_BY = 1 / 3
"""The share of the class that must have a run for it to count as common to the class."""
LEAST_TOKENS = 40
"""The fewest tokens that must be alike, about four lines: fewer are alike by chance."""
LEAST_SHARE = 0.5
"""The smallest share of the shorter one's own code that must be alike."""
MOST_HOLDERS = 20
"""The number of submissions that makes a run common to the class, however large the class is."""

_LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip


@dataclass(frozen=True)
class Side:
    """One student's answer to a task, and which of its lines (from 0) the other has as well."""

    cell: str
    alike: tuple[int, ...]


@dataclass(frozen=True)
class AlikeTask:
    """One task of a pair, side by side."""

    task: str
    tokens: float
    left: Side
    right: Side


@dataclass(frozen=True)
class Pair:
    """Two submissions to be read side by side."""

    left: str
    right: str
    tokens: float
    """The number of tokens that are alike, each weighted less the more of the class has it."""
    share: float
    """The part that is alike of the own code of whoever has less of it, from 0 to 1."""
    tasks: tuple[AlikeTask, ...]


@dataclass(frozen=True)
class _Cell:
    """An answer as runs: `runs[i]` begins at token `i`, which stands in line `lines[i]`."""

    source: str
    lines: tuple[int, ...]
    runs: tuple[tuple[str, ...], ...]

    def covered(self, weights: Mapping[tuple[str, ...], float]) -> list[float]:
        """The weight of each token: the largest of the runs that it is in."""
        found = [0.0] * len(self.lines)
        for start, run in enumerate(self.runs):
            weight = weights.get(run, 0.0)
            if weight:
                for position in range(start, start + RUN):
                    found[position] = max(found[position], weight)
        return found


def similar_pairs(
    answers: Mapping[str, Mapping[str, str]], released: Mapping[str, str], solution: Mapping[str, str]
) -> list[Pair]:
    """The pairs of a class, the most alike first.

    `answers` has each student's solution cells by task, `released` and `solution` those everybody was
    given and those of the course. Raises nothing: a cell that is no Python is compared as it stands.
    """
    cells = {
        student: {task: _cell(source) for task, source in sorted(mine.items())}
        for student, mine in sorted(answers.items())
    }
    weights = {
        task: _weights(
            [mine[task] for mine in cells.values() if task in mine],
            [_cell(source) for source in (released.get(task, ""), solution.get(task, ""))],
            len(cells),
        )
        for task in {task for mine in cells.values() for task in mine}
    }
    own = {
        student: sum(sum(w > 0 for w in cell.covered(weights[task])) for task, cell in mine.items())
        for student, mine in cells.items()
    }
    pairs = [
        pair
        for left, right in _candidates(cells, weights)
        if min(own[left], own[right]) >= LEAST_TOKENS
        and (pair := _pair(left, right, cells, weights, min(own[left], own[right]))) is not None
    ]
    return sorted(pairs, key=lambda pair: (-pair.tokens * pair.share, pair.left, pair.right))


def _candidates(
    cells: Mapping[str, Mapping[str, _Cell]], weights: Mapping[str, Mapping[tuple[str, ...], float]]
) -> list[tuple[str, str]]:
    """The pairs of students who share enough runs to be compared; most pairs of a class share none."""
    holders: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for student, mine in cells.items():
        for task, cell in mine.items():
            for run in set(cell.runs):
                if weights[task].get(run):
                    holders[task, run].append(student)
    shared: Counter[tuple[str, str]] = Counter()
    for students in holders.values():
        shared.update(combinations(students, 2))
    return sorted(pair for pair, runs in shared.items() if runs + RUN - 1 >= LEAST_TOKENS / 2)


def _pair(
    left: str,
    right: str,
    cells: Mapping[str, Mapping[str, _Cell]],
    weights: Mapping[str, Mapping[tuple[str, ...], float]],
    own: int,
) -> Pair | None:
    tasks, alike = [], 0
    for task in cells[left]:
        if task in cells[right]:
            mine, yours = cells[left][task], cells[right][task]
            both = {
                run: weights[task][run] for run in set(mine.runs) & set(yours.runs) if weights[task].get(run)
            }
            here, there = mine.covered(both), yours.covered(both)
            if both:
                alike += min(sum(weight > 0 for weight in side) for side in (here, there))
                tokens = min(sum(here), sum(there))
                tasks.append(AlikeTask(task, tokens, _side(mine, here), _side(yours, there)))
    tokens = sum(task.tokens for task in tasks)
    share = alike / own
    if tokens < LEAST_TOKENS or share < LEAST_SHARE:
        return None
    return Pair(left, right, tokens, share, tuple(sorted(tasks, key=lambda task: -task.tokens)))


def _side(cell: _Cell, covered: Iterable[float]) -> Side:
    alike = {line for line, weight in zip(cell.lines, covered, strict=True) if weight}
    return Side(cell.source, tuple(sorted(alike)))


def _weights(cells: list[_Cell], given: list[_Cell], students: int) -> dict[tuple[str, ...], float]:
    """The weight of each run: 2/n if n answers have it, at most 1; given and common runs have none."""
    fewer = min(MOST_HOLDERS, students * SHARED_BY)
    known = {run for cell in given for run in cell.runs}
    count = Counter(run for cell in cells for run in set(cell.runs))
    return {
        run: min(1.0, 2 / number)
        for run, number in count.items()
        if (number <= 2 or number < fewer) and run not in known
    }


def _cell(source: str) -> _Cell:
    chosen, docstrings = _chosen(source)
    symbols: list[str] = []
    lines: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            line = token.start[0] - 1
            if token.type not in _LAYOUT and not (token.type == tokenize.STRING and line in docstrings):
                symbols.append("·" if token.string in chosen else token.string)
                lines.append(line)
    except (tokenize.TokenError, SyntaxError):
        pass  # code that cannot be read to its end: what stands before it is compared
    runs = tuple(tuple(symbols[i : i + RUN]) for i in range(len(symbols) - RUN + 1))
    return _Cell(source, tuple(lines), runs)


def _chosen(source: str) -> tuple[set[str], set[int]]:
    """The names that a cell gives itself, and the lines (from 0) of its docstrings."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(), set()
    names: set[str] = set()
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                names.add(name)
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.alias(asname=str(name)):
                names.add(name)
        match node:
            case ast.Expr(value=ast.Constant(value=str()), lineno=first, end_lineno=int(last)):
                docstrings.update(range(first - 1, last))
    return names, docstrings
