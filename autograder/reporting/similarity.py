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
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy

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
MOST_REMEMBERED = 1 << 12
"""The answers that are remembered in case others are equal."""

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
    """An answer as runs: `runs[i]` begins at token `i`, which stands in line `lines[i]`.

    A run is kept as its hash of 64 bits, and an answer's text not at all: 100,000 students have thirty
    million runs.
    """

    lines: array[int]
    runs: array[int]

    def covered(self, weight_of: Callable[[int], float | None]) -> list[float]:
        """The weight of each token: the largest of the runs that it is in."""
        found = [0.0] * len(self.lines)
        for start, run in enumerate(self.runs):
            weight = weight_of(run)
            if weight:
                for position in range(start, start + RUN):
                    found[position] = max(found[position], weight)
        return found


@dataclass(frozen=True)
class _Weights:
    """The weights of a task's runs: 2/n if n answers have it, at most 1; given and common runs have none."""

    none: frozenset[int]
    shared: Mapping[int, int]
    """The number of answers that have a run, of runs that several have."""

    def of(self, run: int) -> float:
        return 0.0 if run in self.none else 2 / self.shared.get(run, 2)


_Cells = Mapping[str, Mapping[str, _Cell]]
"""Each student's answers by task; the students, and the tasks of each, in order."""


def similar_pairs(
    answers: Mapping[str, Mapping[str, str]], released: Mapping[str, str], solution: Mapping[str, str]
) -> list[Pair]:
    """The pairs of a class, the most alike first. Time and memory grow as the class does.

    `answers` has each student's solution cells by task, `released` and `solution` those everybody was
    given and those of the course. Raises nothing: a cell that is no Python is compared as it stands.
    """
    cells = {
        student: {task: _cell(source) for task, source in sorted(answers[student].items())}
        for student in sorted(answers)
    }
    weights = {
        task: _weights(
            (mine[task] for mine in cells.values() if task in mine),
            [_cell(source) for source in (released.get(task, ""), solution.get(task, ""))],
            len(cells),
        )
        for task in {task for mine in cells.values() for task in mine}
    }
    found = (_pair(left, right, cells, weights, answers) for left, right in _candidates(cells, weights))
    pairs = [pair for pair in found if pair is not None]
    return sorted(pairs, key=lambda pair: (-pair.tokens * pair.share, pair.left, pair.right))


def _candidates(cells: _Cells, weights: Mapping[str, _Weights]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of students who share enough runs to be compared; most pairs of a class share none.

    Each student is compared with those before, of whom it is known by then which runs they have.
    """
    holders: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for student, mine in cells.items():
        met: Counter[str] = Counter()
        for task, cell in mine.items():
            for run in weights[task].shared.keys() & set(cell.runs):
                met.update(holders[task][run])
                holders[task][run].append(student)
        for other, runs in met.items():
            if runs + RUN - 1 >= LEAST_TOKENS / 2:
                yield other, student


def _own(mine: Mapping[str, _Cell], weights: Mapping[str, _Weights]) -> int:
    """The number of tokens that are a student's own: not given, and not common to the class."""
    return sum(sum(w > 0 for w in cell.covered(weights[task].of)) for task, cell in mine.items())


def _pair(
    left: str,
    right: str,
    cells: _Cells,
    weights: Mapping[str, _Weights],
    answers: Mapping[str, Mapping[str, str]],
) -> Pair | None:
    own = min(_own(cells[student], weights) for student in (left, right))
    if own < LEAST_TOKENS:
        return None
    found, alike = [], 0
    for task in cells[left]:
        if task in cells[right]:
            mine, yours = cells[left][task], cells[right][task]
            weight = {run: weights[task].of(run) for run in set(mine.runs) & set(yours.runs)}
            here, there = (cell.covered(weight.get) for cell in (mine, yours))
            if any(weight.values()):
                alike += min(sum(weight > 0 for weight in side) for side in (here, there))
                found.append((min(sum(here), sum(there)), task, here, there))
    tokens = sum(tokens for tokens, *_ in found)
    share = alike / own
    if tokens < LEAST_TOKENS or share < LEAST_SHARE:
        return None
    one, other = answers[left], answers[right]
    tasks = [
        AlikeTask(
            task,
            tokens,
            _side(cells[left][task], one[task], here),
            _side(cells[right][task], other[task], there),
        )
        for tokens, task, here, there in found
    ]
    return Pair(left, right, tokens, share, tuple(sorted(tasks, key=lambda task: -task.tokens)))


def _side(cell: _Cell, source: str, covered: Iterable[float]) -> Side:
    alike = {line for line, weight in zip(cell.lines, covered, strict=True) if weight}
    return Side(source, tuple(sorted(alike)))


def _weights(cells: Iterable[_Cell], given: Sequence[_Cell], students: int) -> _Weights:
    fewer = min(MOST_HOLDERS, students * SHARED_BY)
    every = chain.from_iterable(set(cell.runs) for cell in cells)
    runs, counts = numpy.unique(numpy.fromiter(every, dtype=numpy.int64), return_counts=True)
    common = (counts > 2) & (counts >= fewer)
    none = frozenset({*runs[common].tolist(), *(run for cell in given for run in cell.runs)})
    several = (counts >= 2) & ~common
    shared = dict(zip(runs[several].tolist(), counts[several].tolist(), strict=True))
    return _Weights(none, {run: count for run, count in shared.items() if run not in none})


@lru_cache(MOST_REMEMBERED)
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
    runs = (hash(tuple(symbols[i : i + RUN])) for i in range(len(symbols) - RUN + 1))
    return _Cell(array("L", lines), array("q", runs))


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
