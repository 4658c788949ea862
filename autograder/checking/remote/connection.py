"""The connection to a student's objects, and the requests over it, one by one or many in one exchange.

    expect(cell(x), right)                                     # one exchange for one call

    calls = [(cell.request(x), x, words) for words, x in …]    # described, and not made yet
    for answer, x, words in asked(calls):                      # one exchange for all of them
        with case(words):
            expect(answer(), right(x))

An exchange costs more than most of what students' code does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, Generic, TypeVar

from autograder.checking.remote.errors import NoAnswer, NotDefined, StudentError, WorkerLost
from autograder.checking.remote.prints import Prints, call_in_words, prints_of
from autograder.protocol import answers
from autograder.protocol.answers import AnyAnswer, Exchange
from autograder.protocol.messages import Begin, Call, Make, OfObjects, ProbeCall
from autograder.protocol.tensors import tensors_in

Value = TypeVar("Value")
Kind = TypeVar("Kind")

_MOST_MESSAGES = 64
"""Messages that go together: none is answered before all are done, and they share the time for one."""
_MOST_TENSORS = 256
"""Tensors in them, half of what a frame may have, unless one request alone has more."""

Perform = Callable[[Sequence[OfObjects]], Sequence[AnyAnswer]]
"""Carries messages to the student's objects and brings the answers back, up to the first that stopped."""


@dataclass(frozen=True, eq=False)
class Request(Generic[Value]):
    """A call that is described and not made yet, and how the answer to it is read.

    `request`, `run_request` and `state_request` of a `Handle` give one; `asked` makes many in one
    exchange. Describing a call raises nothing.

        first, second = cell.request(x), cell.request(x)
        expect(second.ask(), first.ask(), names="h", dims="B H", sizes=sizes)  # one exchange for both
    """

    connection: Connection
    message: OfObjects
    read: Callable[[AnyAnswer], Value]
    before: tuple[Request[Any], ...] = ()
    """The requests that were put off until this one."""

    def ask(self) -> Value:
        """Make the request, unless it was made with another one, and return the answer.

        Raises `StudentError` where the student's code stopped there, or in a request before it.
        """
        (answer,) = self.connection.ask_all([self])
        return answer()


class Connection:
    """The way to a student's objects in one check, and what has gone over it since the check began."""

    def __init__(self, perform: Perform, *, on_gpu: bool = False) -> None:
        self._perform = perform
        self.on_gpu = on_gpu
        """True if the objects' process has a real GPU, on which checks of devices are made, too."""
        self.exchanges: list[Exchange] = []
        """The messages and the answers to them since the check began."""
        self.remarks: list[str] = []
        """Remarks for the card if the check passes."""
        self.own = ""
        """The source of the cell that the check is about, where it is known."""
        self.called: set[str] = set()
        """The names of the objects that were called, since there is the connection."""
        self.printed = ""
        """The first thing that the student's code has printed in a call."""
        self._lost = False
        """True if the last request was not answered."""
        self._deferred: list[Request[Any]] = []
        """Requests that go with the next one."""
        self._described: list[Request[Any]] = []
        """The requests that are not made yet."""
        self._made: dict[Request[Any], Callable[[], Any]] = {}
        """For each request that is made, what gives its answer."""
        self._names: dict[int, str] = {}
        """The class names of the objects made in this check, by the objects' numbers."""
        self._last_named = 0
        """The number given last: -1, -2 and so on. The student's side numbers from 1 upwards."""

    def begin(self, name: str, seed: int) -> None:
        """Begin a check: let go of what earlier calls left behind, and seed the student's generator.

        That goes with the check's first request, which raises `NotDefined` unless the submission defines
        the name that the check is about.
        """
        self.exchanges.clear()
        self.remarks.clear()
        self._deferred.clear()
        self._described.clear()
        self._made.clear()
        self._names.clear()
        self._last_named = 0
        self.defer(Begin(name=name, seed=seed))

    def finish(self) -> None:
        """End a check: have done what is not done yet, and raise what that or the beginning raises."""
        if self._described or self._deferred:
            self._described += self._deferred
            last, self._deferred = self._described[-1], []
            self._send()
            self._made[last]()

    def request(self, message: OfObjects, read: Callable[[AnyAnswer], Value]) -> Request[Value]:
        """Return a request, which takes along what has been put off so far."""
        request = Request(self, message, read, tuple(self._deferred))
        self._deferred = []
        self._described.append(request)
        return request

    def defer(self, message: OfObjects, read: Callable[[AnyAnswer], object] | None = None) -> None:
        """Put something off until the next request; what it raises is raised when that one is read."""
        self._deferred.append(Request(self, message, read or _done))

    def ask_all(self, requests: Sequence[Request[Value]]) -> list[Callable[[], Value]]:
        """Make requests; return what gives each answer, or raises what was raised there or before.

        With them goes all that was described before: what one request leaves behind, another may need.
        """
        if any(request not in self._made for request in requests):
            self._send()
        if any(request not in self._made for request in requests):
            raise NoAnswer("none")  # the exchange that they went in was not answered
        return [self._made[request] for request in requests]

    def _send(self) -> None:
        """Make the requests that are described, up to the first that stops."""
        described, self._described = self._described, []
        requests = [each for request in described for each in (*request.before, request)]
        received: list[AnyAnswer] = []
        for chunk in _chunks(requests):
            batch = [request.message for request in chunk]
            self.called |= {each.target.name for each in batch if isinstance(each, (Call, Make, ProbeCall))}
            self._lost = True  # until there is an answer
            part = self._perform(batch)
            self._lost = False
            self.printed = self.printed or next((answer.printed for answer in part if answer.printed), "")
            received += part[: len(batch)]
            if len(part) < len(batch) or isinstance(part[-1], answers.Stop):
                break
        sent = _Sent(self, requests, received)
        ends = list(accumulate(len(request.before) + 1 for request in described))
        for request, first, end in zip(described, [0, *ends], ends, strict=False):
            self._made[request] = partial(sent.read, first, end - 1)

    def answered(self, message: OfObjects, answer: AnyAnswer) -> None:
        """Write down an exchange, and raise what was raised there."""
        if isinstance(answer, answers.Missing) and isinstance(message, Begin):
            raise NotDefined(message.name)
        if not isinstance(message, Begin):
            self.exchanges.append((message, answer))
        if isinstance(answer, answers.Raised):
            raise StudentError(answer)
        if isinstance(answer, answers.Late):
            raise WorkerLost("timeout", _late(call_in_words(message, self._names), answer))

    def remark(self, text: str) -> None:
        """Say something on the card if the check passes, each thing once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def prints(self) -> Prints | None:
        """Return the output of the student's code in the call whose answer the check got last."""
        return None if self._lost else prints_of(self.exchanges, self._names)

    def new_number(self) -> int:
        """Return a number for what the next message makes."""
        self._last_named -= 1
        return self._last_named

    def name(self, number: int, kind: str) -> None:
        """Say of what class the object is that gets a number: for calls in words."""
        self._names[number] = kind


class _Sent:
    """Requests that went together, and the answers that came back."""

    def __init__(
        self, connection: Connection, requests: Sequence[Request[Any]], received: Sequence[AnyAnswer]
    ) -> None:
        self._connection, self._requests, self._answers = connection, requests, received

    def read(self, first: int, last: int) -> Any:
        """Read the answers to some of the requests, and return what the last one gives.

        Raises what one of them raised, or an earlier one after which they were not done.
        """
        value = None
        done = len(self._answers)
        for at in range(min(first, done - 1), min(last + 1, done)) if done else ():
            request, answer = self._requests[at], self._answers[at]
            self._connection.answered(request.message, answer)
            value = request.read(answer)
        if last >= done:
            raise NoAnswer("none")
        return value


def _chunks(requests: Sequence[Request[Any]]) -> Iterator[list[Request[Any]]]:
    """Return requests in parts that fit into one batch."""
    chunk: list[Request[Any]] = []
    tensors = 0
    for request in requests:
        count = len(tensors_in(request.message))
        if chunk and (len(chunk) == _MOST_MESSAGES or tensors + count > _MOST_TENSORS):
            yield chunk
            chunk, tensors = [], 0
        chunk.append(request)
        tensors += count
    if chunk:
        yield chunk


def ask_all(requests: Iterable[Request[Value]]) -> list[Callable[[], Value]]:
    """Make requests in one exchange, with all that were described before them.

    Returns a list with a function for each, which gives the answer when it is called, or raises what was
    raised there or before (`StudentError`). Raises nothing itself where the student's code stops.

        first, second = ask_all([cell.request(x), cell.request(x)])
        expect(second(), first(), names="h", dims="B H", sizes=sizes)
    """
    every = list(requests)
    return every[0].connection.ask_all(every) if every else []


def asked(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Make the requests that rows begin with in one exchange; return the rows with what gives the answers.

    In place of the request each row has a function, which gives the answer when it is called, or raises what
    was raised there or before (`StudentError`).

        calls = [(cell.request(x), x, "once"), (cell.request(y), y, "a second time")]
        for answer, given, words in asked(calls):
            with case(words):
                expect(answer(), step(given), names="h", dims="B H", sizes=sizes)
    """
    table = list(rows)
    answers = table[0][0].connection.ask_all([request for request, *_ in table]) if table else []
    return [(answer, *rest) for answer, (_, *rest) in zip(answers, table, strict=True)]


def expected(answer: AnyAnswer, kind: type[Kind]) -> Kind:
    """Return an answer of just this kind; any other is none to the message that was sent."""
    if not isinstance(answer, kind):
        raise NoAnswer(type(answer).__name__)
    return answer


def _done(answer: AnyAnswer) -> None:
    expected(answer, answers.Done)


def _late(call: str, late: answers.Late) -> str:
    """Return the message that a call was stopped, and at which of the student's lines."""
    said = f"{call} had not returned after {late.seconds:g} seconds: look for a loop that never ends."
    return f"{said[:1].upper()}{said[1:]}{f' When it was stopped it was at {late.line}' if late.line else ''}"
