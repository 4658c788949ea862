"""The inputs of the call that failed in a check, for the student to try."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.checking.wrong_values.wrong_call import definition, parameters_of
from autograder.protocol.answers import Stop
from autograder.protocol.messages import Begin, Call, OfObjects, Target
from autograder.tasks import Unknown
from autograder.worker.session.executor import Executor


def inputs_of(task: str, messages: Sequence[OfObjects], namespace: dict[str, Any]) -> tuple[Any, ...]:
    """Return the inputs of a call, given behind the messages that make its objects.

    An instance of the task's class comes first. Raises `Unknown` where there is no call, or the class cannot
    be made.
    """
    if not messages:
        raise Unknown(
            f"There are no inputs to show for `{task}`: check it first. A check that fails before your code "
            "is called has none, nor has one that compares several calls."
        )
    *before, call = messages
    assert isinstance(call, Call)
    executor = Executor(namespace)
    if isinstance(executor.perform([Begin(name=task, seed=0), *before])[-1], Stop):
        raise Unknown(f"`{task}` cannot be made as in the check any more: run the check again.")
    args, kwargs = executor.objects.arguments(call.args, call.kwargs, call.packed)
    made = [executor.objects.target(Target(number=call.target.number))] if call.target.number else []
    return (*made, *args, *kwargs.values())


def how_to_get(task: str, source: str, messages: Sequence[OfObjects]) -> str:
    """Return the note that says how to get the inputs of a call, `""` where there are none."""
    if not messages or not isinstance(call := messages[-1], Call):
        return ""
    function = definition(task, [source], call.target.path[0] if call.target.path else "forward")
    given = len(call.args) + len(call.kwargs or {})
    names = parameters_of(function)[:given] if function is not None else []
    made = ["module"] if call.target.number else []
    left = "inputs" if len(names) < given or not given else ", ".join([*made, *names])
    left += "," if len(made) + given == 1 and left != "inputs" else ""
    line = f'`{left} = failing("{task}")`'
    return f"To try the call that failed: `from autograder import failing`, then {line} gives its inputs."
