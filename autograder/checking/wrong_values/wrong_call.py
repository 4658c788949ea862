"""The call that failed, found among all that a check asked, so that it can be made again."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from autograder.cell_source import parse_cell
from autograder.checking.remote.connection import Connection, expected
from autograder.checking.remote.errors import NoAnswer, NotDefined, StudentError
from autograder.protocol.answers import AnyAnswer, Called, Exchange, Stop
from autograder.protocol.messages import Call, Construct, Make, OfObjects
from autograder.protocol.tensors import tensors_in
from autograder.protocol.values import Ref, tree_leaves


class BudgetSpent(Exception):
    """No call is left that might explain the answer."""


@dataclass
class Budget:
    """The calls that may still be made to explain a wrong answer."""

    left: int

    def spend(self) -> None:
        """Take one call off. Raises `BudgetSpent` if none is left."""
        if self.left <= 0:
            raise BudgetSpent
        self.left -= 1


@dataclass(frozen=True)
class WrongCall:
    """The call whose answer was found wrong, and what has to be done before it can be made again."""

    task: str
    seed: int
    """The seed of the student's generator."""
    messages: tuple[OfObjects, ...]
    """The messages that make and fill the objects of the call, and the call itself at the end."""
    stated: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The task's names of the arguments, in order, each with those of its parts."""
    buffers: Collection[str] = ()
    """The buffers of the task's module: a right answer need not depend on them in training mode."""

    @property
    def call(self) -> Call:
        """Return the call itself."""
        (*_, last) = self.messages
        assert isinstance(last, Call)
        return last

    def changed(self, at: int, message: OfObjects) -> WrongCall:
        """Return it with another message in one place."""
        messages = (*self.messages[:at], message, *self.messages[at + 1 :])
        return dataclasses.replace(self, messages=messages)

    def part(self, place: int, name: str, at: int) -> str:
        """Return the task's name of a part of an argument, or the argument's own `name` with an index."""
        parts = [*self.stated.values()][place : place + 1]
        return parts[0][at] if parts and at < len(parts[0]) else f"{name}[{at}]"

    def answer(self, connection: Connection) -> Any:
        """Make it again, and return its answer's value; `None` if the student's code gave none."""
        connection.begin(self.task, self.seed)
        for message in self.messages[:-1]:
            connection.defer(message, _anything)
        request = connection.request(self.call, lambda answer: expected(answer, Called).value)
        try:
            return request.ask()
        except (NoAnswer, NotDefined, StudentError):
            return None


def _anything(answer: AnyAnswer) -> None:
    """Read an answer that nobody needs."""


def wrong_call(
    task: str,
    seed: int,
    exchanges: Sequence[Exchange],
    wrong: torch.Tensor,
    stated: Mapping[str, Sequence[str]],
    buffers: Collection[str] = (),
) -> WrongCall | None:
    """Return the call that gave a wrong tensor, `None` if none of them certainly did."""
    found = _that_gave(exchanges, wrong)
    if len(found) != 1:
        return None
    return WrongCall(task, seed, _with_its_objects(exchanges, found[0]), stated, buffers)


def failed_call(
    task: str, exchanges: Sequence[Exchange], wrong: torch.Tensor | None
) -> tuple[OfObjects, ...]:
    """Return the call of a task that failed, behind the messages that make its objects.

    It is the one that stopped, that gave the `wrong` tensor, or the only one; `()` if none certainly is.
    """
    made = {each.number for each, _ in exchanges if isinstance(each, Make) and each.target.name == task}
    calls = [
        at
        for at, (message, _) in enumerate(exchanges)
        if isinstance(message, Call) and (message.target.name == task or message.target.number in made)
    ]
    if not calls:
        return ()
    stopped = isinstance(exchanges[-1][1], Stop) and calls[-1] == len(exchanges) - 1
    found = calls[-1:] if stopped else calls
    if wrong is not None and not stopped:
        found = [at for at in _that_gave(exchanges, wrong) if at in calls]
    return _with_its_objects(exchanges, found[0]) if len(found) == 1 else ()


def _that_gave(exchanges: Sequence[Exchange], wrong: torch.Tensor) -> list[int]:
    """Return the places of the calls whose answers hold this very tensor."""
    return [
        at
        for at, (message, answer) in enumerate(exchanges)
        if isinstance(message, Call)
        and isinstance(answer, Called)
        and any(_is_same(each, wrong) for each in tensors_in(answer.value))
    ]


def _with_its_objects(exchanges: Sequence[Exchange], at: int) -> tuple[OfObjects, ...]:
    """Return the messages that make and fill the objects of a call, and the call itself at the end."""
    messages = [message for message, _ in exchanges[: at + 1]]
    needed = _numbers_in(messages[-1])
    kept: list[OfObjects] = [messages.pop()]
    for message in reversed(messages):
        if _numbers_in(message) & needed and not isinstance(message, Call):
            needed |= _numbers_in(message)
            kept.append(message)
    return tuple(reversed(kept))


def _is_same(tensor: torch.Tensor, wrong: torch.Tensor) -> bool:
    return tensor.shape == wrong.shape and tensor.data_ptr() == wrong.data_ptr() != 0


def _numbers_in(message: OfObjects) -> set[int]:
    """Return the numbers of the objects that a message makes or speaks of."""
    target = getattr(message, "target", None)
    told = {target.number} if target is not None else set()
    if isinstance(message, (Construct, Make)):
        told.add(message.number)
    if isinstance(message, (Construct, Make, Call)):
        leaves = [*tree_leaves(message.args), *tree_leaves(dict(message.kwargs or {}))]
        told |= {leaf.id for leaf in leaves if isinstance(leaf, Ref)}
    return told - {0}


def argument_names(call: WrongCall, sources: Mapping[str, str]) -> list[str]:
    """Return the names that the student gave the arguments, or else the task's."""
    target = call.call.target
    made = next((each for each in call.messages if isinstance(each, Make)), None)
    name = target.name or (made.target.name if made else "")
    found = definition(name, sources.values(), target.path[0] if target.path else "forward")
    named = parameters_of(found) if found is not None else []
    return [*named, *[*call.stated][len(named) :]]


def definition(name: str, sources: Iterable[str], method: str = "forward") -> ast.FunctionDef | None:
    """Return the last function of a name in some cells, or the method of a class of that name."""
    found: ast.stmt | None = None
    for source in sources:
        tree = parse_cell(source)
        for node in tree.body if tree is not None else ():
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
                found = node
    if isinstance(found, ast.ClassDef):
        methods = [each for each in found.body if isinstance(each, ast.FunctionDef) and each.name == method]
        return methods[-1] if methods else None
    return found if isinstance(found, ast.FunctionDef) else None


def parameters_of(function: ast.FunctionDef) -> list[str]:
    """Return the names of the parameters that a caller passes by place."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] == ["self"] else names
