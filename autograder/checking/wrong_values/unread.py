"""Inputs that a task's function never reads: often a variable of the notebook stands in their place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autograder.checking.expectations.wording import listed
from autograder.checking.wrong_values.wrong_call import definition, parameters_of
from autograder.protocol.answers import Exchange
from autograder.protocol.messages import Call, Make


def never_read(task: str, source: str, exchanges: Sequence[Exchange]) -> str:
    """Return a sentence about the inputs that the task's function gets and never reads; `""` if it reads all.

    Numbers and texts are left out: what they say can be read from a tensor's shape as well.
    """
    function = definition(task, [source])
    if function is None:
        return ""
    names, given = parameters_of(function), _given(task, exchanges)
    if len(names) < len(given):
        return ""  # which of them is which is not known
    read = {name for node in ast.walk(function) for name in _read(node)}
    unread = [
        name
        for name, value in zip(names, given, strict=False)
        if name not in read and not isinstance(value, (int, float, str, type(None)))
    ]
    return f"You never use {listed(unread)}." if unread and "locals" not in read else ""


def _read(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Load()) | ast.AugAssign(target=ast.Name(id=name)):
            yield name


def _given(task: str, exchanges: Sequence[Exchange]) -> tuple[object, ...]:
    """Return the arguments of the last call of the task's function, or of a module that its class made."""
    made = {
        message.number
        for message, _ in exchanges
        if isinstance(message, Make) and message.target.name == task
    }
    for message, _ in reversed(exchanges):
        if isinstance(message, Call) and (message.target.name == task or message.target.number in made):
            return message.args if message.target.path in ((), ("forward",)) else ()
    return ()
