"""The handle through which a check reaches a student's objects, wherever they live.

`submission.rnn_cell(x, h, …)` calls the student's function and returns plain data. In a
notebook the objects are next door; when grading they are behind the wall, and only tensors,
numbers and text ever come back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from autograder.checking.answers import Exchange
from autograder.checking.errors import NotDefined, StudentError
from autograder.checking.target import Target, outgoing
from autograder.worker.frames import Ref
from autograder.worker.nested import map_tree

_MOST_LATER = 8
"""Requests that may wait for the next one: each may bring a module's parameters, and a frame has limits."""

Perform = Callable[[dict[str, Any]], dict[str, Any]]
"""Carries one request to the student's objects and brings the answer back."""


class Submission:
    """A student's objects by name: `submission.rnn_cell` is the function, ready to be called."""

    def __init__(
        self,
        perform: Perform,
        sources: Mapping[str, str] | None = None,
        cell_errors: Mapping[str, StudentError] | None = None,
        *,
        on_gpu: bool = False,
    ) -> None:
        self._perform = perform
        self.on_gpu = on_gpu
        """Whether the objects' process has a real GPU, on which checks of devices are made, too."""
        self.sources: Mapping[str, str] = sources or {}
        """The student's cells as they were read on the trusted side, in order, by task or name."""
        self.cell_errors: Mapping[str, StudentError] = cell_errors or {}
        """What stopped a solution cell, by task, where it did not run to its end."""
        self.exchanges: list[Exchange] = []
        """What was asked and answered since the check began."""
        self._begin: dict[str, Any] | None = None
        """What the next request is to begin with."""
        self._later: list[dict[str, Any]] = []
        """What is to be done before the next request."""
        self._refuse: dict[int, Callable[[Any], object]] = {}
        """For each module that this check has made, by its number: what raises if it is none."""
        self._last_named = 0
        """The number given last: -1, -2 and so on."""

    def __getattr__(self, name: str) -> Target:
        if name.startswith("__"):
            raise AttributeError(name)
        return Target(self, {"name": name})

    def begin(self, name: str, seed: int) -> None:
        """Begin a check: let go of what earlier calls left behind, and seed the student's generator.

        That goes with the check's first request, which raises `NotDefined` unless the submission defines
        the name that the check is about.
        """
        self.exchanges.clear()
        self._later.clear()
        self._refuse.clear()
        self._last_named = 0
        self._begin = {"name": name, "seed": seed}

    def finish(self) -> None:
        """End a check: have done what was left for later, and raise what that or the beginning raises."""
        if self._begin is not None or self._later:
            self.ask({"op": "nothing"})

    def given(
        self,
        name: str,
        *args: Any,
        source: str | None = None,
        state: Mapping[str, torch.Tensor] | None = None,
        dtype: torch.dtype | None = torch.float64,
        **kwargs: Any,
    ) -> Target:
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
        return self.named(request, name)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Have one request performed; what the student's code raises there is a `StudentError` here."""
        begin, self._begin = self._begin, None
        first, self._later = self._later, []
        answer = self._perform(
            request | ({"begin": begin} if begin else {}) | ({"first": first} if first else {})
        )
        if begin and "missing" in answer:
            raise NotDefined(begin["name"])
        done = first
        if "at" in answer:
            done, (request, *_) = first[: answer["at"]], first[answer["at"] :]
        self.exchanges += [(each, {"done": True}) for each in done]
        self.exchanges.append((request, answer))
        if "raised" in answer:
            raise StudentError(answer["raised"])
        if "made" in answer:
            self._refuse[request["as"]](self.incoming(answer["made"]))
        return answer

    def ask_each(self, requests: Sequence[dict[str, Any]]) -> list[Callable[[], dict[str, Any]]]:
        """Have several requests performed, one after the other in one go, up to the first that raises.

        Returns for each what gives its answer, or raises what the student's code raised there.
        """
        # It stands for all of them: what is seen of a check are the requests whose answers it looks at.
        told = self.ask({"op": "each", "requests": list(requests)})
        self.exchanges.pop()
        answers: list[dict[str, Any]] = told["each"]

        def taken(place: int) -> dict[str, Any]:
            answer = answers[place]
            self.exchanges.append((requests[place], answer))
            if "raised" in answer:
                raise StudentError(answer["raised"])
            return answer

        return [partial(taken, place) for place in range(len(requests))]

    def later(self, request: dict[str, Any]) -> None:
        """Have a request performed before the next one, in one go; what it raises is raised then."""
        if len(self._later) == _MOST_LATER:
            self.ask({"op": "nothing"})
        self._later.append(request)

    def named(
        self, request: dict[str, Any], kind: str, refuse: Callable[[Any], object] | None = None
    ) -> Target:
        """What a request makes before the next one, under a number that it is given from here.

        The student's side numbers what it hands out from 1 upwards. `refuse` raises for what is no module.
        """
        self._last_named -= 1
        if refuse is not None:
            self._refuse[self._last_named] = refuse
        self.later(request | {"as": self._last_named})
        return Target(self, {"object": self._last_named}, kind, is_module=refuse is not None)

    def incoming(self, value: Any) -> Any:
        """An answer's value, the student's objects in it as targets."""

        def leaf(item: Any) -> Any:
            return (
                Target(self, {"object": item.id}, item.type, item.is_module)
                if isinstance(item, Ref)
                else item
            )

        return map_tree(value, leaf)
