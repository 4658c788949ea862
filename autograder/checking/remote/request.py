"""Requests to a student's objects: what a check may ask for, one by one or many in one exchange.

    expect(cell(x), right)                                     # one exchange for one call

    calls = [(cell.request(x), x, words) for words, x in …]    # described, and not made yet
    for answer, x, words in asked(calls):                      # one exchange for all of them
        with case(words):
            expect(answer(), right(x))

An exchange costs more than most of what students' code does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from autograder.checking.remote.errors import NoAnswer
from autograder.protocol.answers import AnyAnswer
from autograder.protocol.messages import OfObjects

Value = TypeVar("Value")
Kind = TypeVar("Kind")


class Connection(Protocol):
    """The way to a student's objects."""

    on_gpu: bool

    def remark(self, text: str) -> None:
        """Have the card say something of a check that passes."""

    def new_number(self) -> int:
        """Return a number for what the next message makes."""

    def describe(self, message: OfObjects, read: Callable[[AnyAnswer], Value]) -> Request[Value]:
        """Return a request, which takes along what has been put off so far."""

    def defer(self, message: OfObjects, read: Callable[[AnyAnswer], object] | None = None) -> None:
        """Put something off until the next request; what it raises is raised when that one is read."""

    def ask_all(self, requests: Sequence[Request[Value]]) -> list[Callable[[], Value]]:
        """Make requests; return what gives each answer, or raises what was raised there or before."""

    def name(self, number: int, kind: str) -> None:
        """Say of what class the object is that gets a number: for calls in words."""

    def incoming(self, value: Any) -> Any:
        """Return an answer's value, with handles to the student's objects in it."""

    def tensor(self, value: Any) -> Any:
        """Return an answer's tensor, or what says of itself that it is none."""


@dataclass(frozen=True, eq=False)
class Request(Generic[Value]):
    """A message that is not sent yet, and how the answer to it is read."""

    connection: Connection
    message: OfObjects
    read: Callable[[AnyAnswer], Value]
    before: tuple[Request[Any], ...] = ()
    """The requests that were put off until this one."""

    def ask(self) -> Value:
        """Make the request, unless it was made with another one, and return what it is answered."""
        (answer,) = self.connection.ask_all([self])
        return answer()


def ask_all(requests: Iterable[Request[Value]]) -> list[Callable[[], Value]]:
    """Make requests in one exchange, with all that were described before them.

    Returns for each what gives its answer, or raises what was raised there or before.
    """
    every = list(requests)
    return every[0].connection.ask_all(every) if every else []


def asked(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Make the requests that rows begin with in one exchange; return the rows with what gives the answers."""
    table = list(rows)
    answers = ask_all(request for request, *_ in table)
    return [(answer, *rest) for answer, (_, *rest) in zip(answers, table, strict=True)]


def expected(answer: AnyAnswer, kind: type[Kind]) -> Kind:
    """Return an answer of just this kind; any other is none to the message that was sent."""
    if not isinstance(answer, kind):
        raise NoAnswer(type(answer).__name__)
    return answer
