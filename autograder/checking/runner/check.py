"""One check as it was written, and how it went."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from autograder.checking.explain.evidence import Evidence, Prints
from autograder.checking.inputs.dimensions import Dimensions
from autograder.checking.inputs.recurrent import RECURRENT
from autograder.checking.runner.fault import Fault
from autograder.checking.runner.handed_out_file import goes_out
from autograder.checking.runner.marks import Rule
from autograder.protocol.without import Without

if TYPE_CHECKING:  # it needs torch, which takes a second
    from autograder.protocol.messages import OfObjects

PUBLIC_SEED = 2013
"""The seed of the inputs that students see in their notebooks."""
Outcome = Literal["passed", "failed", "error", "timeout", "crashed", "skipped", "fault"]


@dataclass(frozen=True)
class Check:
    """One check as written: `name` is unique in its task, `title` is the sentence people read."""

    task: str
    name: str
    rule: Rule
    title: str
    points: float
    needs: tuple[str, ...]
    instead: str | None
    """Text that students read in place of a hidden check's title and message; `None` if it is not hidden."""
    teaching_only: bool = False
    is_usual: bool = False
    """True if `standard` made it unasked: no known mistake need be there for it alone."""
    without: Without | None = None
    """Parts of torch that do not work where the task is judged."""
    anywhere: bool = False
    """The task may be judged where parts of torch do not work that it may use."""


@dataclass(frozen=True)
class CheckResult:
    """The result of one check."""

    check: Check
    outcome: Outcome
    message: str
    earned: float = 0.0
    """The part of its points that a failed check earns."""
    answers: str | None = None
    """The fingerprint of the answers that a failed check got, where there were any to judge."""
    evidence: Evidence | None = None
    """Evidence that a page can show besides the message."""
    prints: Prints | None = None
    """The output of the student's code in the call that failed."""
    fault: Fault | None = None
    """The fault of the check itself, or of one that it needs: then nothing is known of the answer."""
    unwritten: bool = False
    """True if the check found the task as it was released."""
    call: tuple[OfObjects, ...] = field(default=(), compare=False)
    """The call that failed, behind the messages that make its objects; empty if none did."""
    rounds: bool = False
    """True if the check found numbers that go through a coarser dtype and stay rounded."""

    @property
    def points(self) -> float:
        return self.check.points * (1.0 if self.outcome == "passed" else self.earned)


FIXTURES = ("submission", "sizes", "draw")
"""The fixtures that a check may ask for, by the names of its arguments."""


@dataclass(frozen=True)
class Broken:
    """Something in a check file that keeps its checks from being collected."""

    file: Path
    told: str
    line: int = 0
    """The line that it is about, 0 if none is known."""
    error: BaseException | None = None
    """The exception that ended the file's import, if one did."""


class ChecksBroken(Exception):
    """The check files cannot be collected: a fault of the course, not of a student."""

    def __init__(self, told: str, broken: Sequence[Broken] = ()) -> None:
        super().__init__(told)
        self.broken = tuple(broken)


@dataclass(frozen=True)
class Collected:
    """One check as it was collected, ready to run: one for each set of parameters, if it has any."""

    check: Check
    name: str
    """Its name in the file, parameters included: what its inputs are drawn by."""
    function: Callable[..., object]
    asks: tuple[str, ...]
    """The names of its arguments."""
    parameters: Mapping[str, Any]
    path: Path
    """The file that it was collected from."""

    @property
    def dimensions(self) -> Dimensions:
        """Return the dimensions that its file states, or those that every file has that states none."""
        of_a_specification = getattr(self.function, "autograder_dimensions", None)
        stated = inspect.unwrap(self.function).__globals__.get("DIMENSIONS", RECURRENT)
        return of_a_specification or stated

    def arguments(self, fixtures: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return its arguments by name: its parameters, and those fixtures that it asks for."""
        given = {**fixtures, **self.parameters}
        return {name: given[name] for name in self.asks}


def task_of(path: Path) -> str:
    """Return the task of a check file, `test_<task>.py` or `hidden_<task>.py`."""
    return path.stem.partition("_")[2]


def asked_by(function: Callable[..., object]) -> tuple[str, ...]:
    """Return the names of the arguments that a function has to be given, those with a default left out."""
    arguments = inspect.signature(function).parameters.values()
    return tuple(each.name for each in arguments if each.default is inspect.Parameter.empty)


def broken_check(function: Any, path: Path, told: str) -> ChecksBroken:
    """Return the error of one check, with the line in its file where it is written."""
    return ChecksBroken(told, [Broken(path, told, line_of_check(function, path))])


def line_of_check(function: Any, path: Path) -> int:
    """Return the line of a check's `def`, or of the statement by which a specification made it.

    It is 0 where the function comes from another file.
    """
    file, line = getattr(function, "autograder_written_at", ("", 0))
    if not line:
        written = inspect.unwrap(function)
        file, line = inspect.getsourcefile(written) or "", 0
        with suppress(OSError, TypeError):
            lines, first = inspect.getsourcelines(written)
            heads = (at for at, text in enumerate(lines) if text.lstrip().startswith(("def ", "async def ")))
            line = first + next(heads, 0)
    return line if Path(file) == path else 0


def read_check(function: Any, path: Path, names: Mapping[int, str], parameters: Iterable[str] = ()) -> Check:
    """Return a test function of a file as the check that it is; `ChecksBroken` where it is none.

    `names` are those of the file's checks, by the `id` of their functions: a function that a specification
    made has the name that it was assigned to. `parameters` are the names of its arguments that pytest's
    `parametrize` gives.
    """
    rule = getattr(function, "autograder_rule", None)
    title = " ".join((function.__doc__ or "").split())
    name = f"`{names[id(function)]}` in {path.name}"
    if rule is None or not title:
        raise broken_check(function, path, f"{name} needs a docstring (its title) and a @rule")
    known = {*FIXTURES, *parameters, "self"}
    unknown = [asked for asked in asked_by(function) if asked not in known]
    if unknown:
        raise broken_check(
            function,
            path,
            f"{name} asks for `{unknown[0]}`, which there is not: a check may ask for {', '.join(FIXTURES)}",
        )
    hidden = getattr(function, "autograder_hidden", None)
    if hidden is None and not goes_out(path.name):
        raise broken_check(
            function, path, f"{name} does not say what students read in its place: `@hidden(…)`"
        )
    return Check(
        task=task_of(path),
        name=names[id(function)].removeprefix("test_"),
        rule=rule,
        title=title,
        points=getattr(function, "autograder_points", 0.0),
        needs=tuple(
            (each if isinstance(each, str) else names.get(id(each), each.__name__)).removeprefix("test_")
            for each in getattr(function, "autograder_needs", ())
        ),
        instead=hidden,
        teaching_only=getattr(function, "autograder_teaching_only", False),
        is_usual=getattr(function, "autograder_usual", False),
        without=getattr(function, "autograder_without", None),
        anywhere=getattr(function, "autograder_anywhere", False),
    )
