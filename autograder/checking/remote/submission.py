"""The handle through which a check reaches a student's objects, wherever they live.

`submission.rnn_cell(x, h, …)` calls the student's function and returns plain data. In a
notebook the objects are next door; when grading they are behind the wall, and only tensors,
numbers and text ever come back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import torch
from torch import nn

from autograder.checking.diagnosis.fingerprint import Exchange
from autograder.checking.remote.errors import NoAnswer, NotDefined, StudentError, WorkerLost, reading
from autograder.checking.remote.handle import Handle, Returned, outgoing
from autograder.checking.remote.odd_answers import Unreadable
from autograder.checking.remote.prints import Prints, call_in_words, prints_of
from autograder.protocol.values import Opaque, Ref, map_tree, tensors_in
from autograder.protocol.without import Without

_MOST_LATER = 8
"""Requests that may wait for the next one: each may bring a module's parameters, and a frame has limits."""
_MOST_PROMISED = 16
"""Requests that go together: none of them is answered before all are performed."""
_MOST_TENSORS = 256
"""Tensors in them, half of what a frame may have, unless one alone has more."""

Perform = Callable[[dict[str, Any]], dict[str, Any]]
"""Carries one request to the student's objects and brings the answer back."""


@dataclass(eq=False)
class _Asked:
    """A request, and what is to be done before it."""

    request: dict[str, Any]
    first: list[dict[str, Any]]
    begin: dict[str, Any] | None
    answer: dict[str, Any] | None = None
    stopped_by: _Asked | None = None
    """An earlier one that stopped: this was not performed then."""

    @cached_property
    def tensors(self) -> int:
        """How many there are in it."""
        return len(tensors_in(self.whole()))

    def whole(self) -> dict[str, Any]:
        """The request as it is sent."""
        before = {"begin": self.begin, "first": self.first}
        return self.request | {name: what for name, what in before.items() if what}


class Submission:
    """A student's objects by name: `submission.rnn_cell` is the function, ready to be called."""

    def __init__(
        self,
        perform: Perform,
        sources: Mapping[str, str] | None = None,
        cell_errors: Mapping[str, StudentError] | None = None,
        *,
        on_gpu: bool = False,
        without: Without | None = None,
    ) -> None:
        self._perform = perform
        self.on_gpu = on_gpu
        """Whether the objects' process has a real GPU, on which checks of devices are made, too."""
        self.without = without
        """What does not work in the objects' process."""
        self.sources: Mapping[str, str] = sources or {}
        """The student's cells as they were read on the trusted side, in order, by task or name."""
        self.cell_errors: Mapping[str, StudentError] = cell_errors or {}
        """What stopped a solution cell, by task, where it did not run to its end."""
        self.exchanges: list[Exchange] = []
        """What was asked and answered since the check began."""
        self.remarks: list[str] = []
        """What the check has to say if it passes."""
        self.printed = False
        """True if the student's code has printed anything in a call."""
        self._lost = False
        """True if the last request was not answered."""
        self._begin: dict[str, Any] | None = None
        """What the next request is to begin with."""
        self._later: list[dict[str, Any]] = []
        """What is to be done before the next request."""
        self._promised: list[_Asked] = []
        """What is to be performed with the next request whose answer is asked for."""
        self._refuse: dict[int, Callable[[Any], object]] = {}
        """For each module that this check has made, by its number: what raises if it is none."""
        self._names: dict[int, str] = {}
        """The class names of the objects made in this check, by the objects' numbers."""
        self._last_named = 0
        """The number given last: -1, -2 and so on."""

    def __getattr__(self, name: str) -> Handle:
        if name.startswith("__"):
            raise AttributeError(name)
        return Handle(self, {"name": name})

    def begin(self, name: str, seed: int) -> None:
        """Begin a check: let go of what earlier calls left behind, and seed the student's generator.

        That goes with the check's first request, which raises `NotDefined` unless the submission defines
        the name that the check is about.
        """
        self.exchanges.clear()
        self.remarks.clear()
        self._later.clear()
        self._promised.clear()
        self._refuse.clear()
        self._names.clear()
        self._last_named = 0
        self._begin = {"name": name, "seed": seed}

    def finish(self) -> None:
        """End a check: have done what was left for later, and raise what that or the beginning raises."""
        if self._begin is not None or self._later or self._promised:
            self.ask({"op": "nothing"})

    def given(
        self,
        name: str,
        *args: Any,
        source: str | None = None,
        state: Mapping[str, torch.Tensor] | None = None,
        dtype: torch.dtype | None = torch.float64,
        **kwargs: Any,
    ) -> Handle:
        """What a task is given: `nn.<name>`, or what `source` defines by that name, on the student's side.

        It is there with the next request.
        """
        request: dict[str, Any] = {
            "op": "build",
            "name": name,
            "args": outgoing(args, copies=True),
            "kwargs": outgoing(kwargs, copies=True),
            "dtype": dtype,
        }
        if source is not None:
            request["source"] = source
        if state is not None:
            request["state"] = outgoing(dict(state), copies=True)
        if self.without is not None and source is None and state is not None:
            request |= _kept(name, args, tuple(kwargs.items()))
        return self.named(request, name)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Have one request performed; what the student's code raises there is a `StudentError` here."""
        return self.promise(request)()

    def promise(self, request: dict[str, Any]) -> Callable[[], dict[str, Any]]:
        """Have a request performed together with others, as soon as the answer to one of them is asked for.

        Returns what gives the answer, or raises what was raised there, or by an earlier one that stopped.
        """
        asked = _Asked(request, self._later, self._begin)
        self._later, self._begin = [], None
        if self._promised and sum(each.tensors for each in (*self._promised, asked)) > _MOST_TENSORS:
            self._send()
        self._promised.append(asked)
        if len(self._promised) == _MOST_PROMISED:
            self._send()
        return partial(self._told, asked)

    def _send(self) -> None:
        """Have all that is promised performed, up to the first that stops."""
        sent, self._promised = self._promised, []
        self._lost = True  # until there is an answer
        if len(sent) == 1:
            answers = [self._perform(sent[0].whole())]
        else:
            told = self._perform({"op": "each", "requests": [asked.whole() for asked in sent]})
            each = told.get("each", [told])
            answers = each if isinstance(each, list) else []
        self._lost = False
        self.printed |= any(isinstance(answer, dict) and "printed" in answer for answer in answers)
        for asked, answer in zip(sent, answers, strict=False):
            asked.answer = answer
        stopped = sent[: len(answers)][-1:]
        for asked in sent[len(answers) :]:
            asked.stopped_by = stopped[0] if stopped else None

    def _told(self, asked: _Asked) -> dict[str, Any]:
        """Its answer, or what stopped it or one before it raised; that it was asked is written down now."""
        if any(asked is other for other in self._promised):
            self._send()
        if asked.stopped_by is not None:
            self._told(asked.stopped_by)
        answer, request, done = asked.answer, asked.request, asked.first
        if not isinstance(answer, dict):
            raise NoAnswer("none")
        if asked.begin and "missing" in answer:
            raise NotDefined(asked.begin["name"])
        with reading():
            if "at" in answer:
                done, (request, *_) = asked.first[: answer["at"]], asked.first[answer["at"] :]
            refuse = self._refuse[request["as"]] if "made" in answer else None
            made = self.incoming(answer.get("made"))
            raised = StudentError(answer["raised"]) if "raised" in answer else None
        self.exchanges += [(each, {"done": True}) for each in done]
        self.exchanges.append((request, answer))
        if "late" in answer:
            with reading():
                late = _late(call_in_words(request, self._names), **answer["late"])
            raise WorkerLost("timeout", late)
        if raised is not None:
            raise raised
        if refuse is not None:
            refuse(made)
        return answer

    def remark(self, text: str) -> None:
        """Say something on the card if the check passes, each thing once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def prints(self) -> Prints | None:
        """Return the output of the student's code in the call whose answer the check got last."""
        return None if self._lost else prints_of(self.exchanges, self._names)

    def later(self, request: dict[str, Any]) -> None:
        """Have a request performed before the next one, in one go; what it raises is raised then."""
        if len(self._later) == _MOST_LATER:
            self.promise({"op": "nothing"})
        self._later.append(request)

    def named(
        self, request: dict[str, Any], kind: str, refuse: Callable[[Any], object] | None = None
    ) -> Handle:
        """What a request makes before the next one, under a number that it is given from here.

        The student's side numbers what it hands out from 1 upwards. `refuse` raises for what is no module.
        """
        self._last_named -= 1
        if refuse is not None:
            self._refuse[self._last_named] = refuse
        self._names[self._last_named] = kind
        self.later(request | {"as": self._last_named})
        return Handle(self, {"object": self._last_named}, kind, is_module=refuse is not None)

    def incoming(self, value: Any) -> Any:
        """An answer's value, the student's objects in it as targets."""

        def leaf(item: Any) -> Any:
            if isinstance(item, Ref):
                return Returned(self, {"object": item.id}, item.type, item.is_module)
            return Unreadable(item.what, item.own) if isinstance(item, Opaque) else item

        return map_tree(value, leaf)

    def tensor(self, value: Any) -> Any:
        """An answer's tensor, `None` where there is none, or what says of itself that it is no tensor.

        Raises `TypeError` for anything else.
        """
        if value is None or isinstance(value, torch.Tensor):
            return value
        if not isinstance(value, Opaque):
            raise TypeError("no tensor")
        return self.incoming(value)


@lru_cache(maxsize=64)
def _kept(name: str, args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """Return what one of torch's modules keeps, to make it without its constructor."""
    module: nn.Module = getattr(nn, name)(*args, **dict(kwargs), device="meta")
    names = {id(parameter): name for name, parameter in module.named_parameters()}
    kept = {name: value for name, value in vars(module).items() if name not in vars(nn.Module())}
    lists = {
        name: [names[id(each)] for each in value]
        for name, value in kept.items()
        if isinstance(value, list) and value and all(id(each) in names for each in value)
    }
    plain = {name: value for name, value in kept.items() if _is_plain(value)}
    absent = [name for name, value in module._parameters.items() if value is None]
    return {"settings": plain, "lists": lists, "absent": absent}


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return isinstance(value, (str, bool, int, float))


def _late(call: str, seconds: float, line: str) -> str:
    """Return the message that a call was stopped, and at which of the student's lines."""
    said = f"{call} had not returned after {seconds:g} seconds: look for a loop that never ends."
    return f"{said[:1].upper()}{said[1:]}{f' When it was stopped it was at {line}' if line else ''}"
