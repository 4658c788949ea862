"""Marks of a check: its points, the rule it enforces, the checks it builds on, its secrecy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

if TYPE_CHECKING:  # it imports torch
    from autograder.protocol.without import Without

Check = TypeVar("Check", bound=Callable[..., None])

Rule = Literal[
    "shape", "values", "gradient", "dtype", "device", "mutation", "registration", "dropout",
    "from-scratch", "generality", "error",
]  # fmt: skip
"""The subjects of checks. `from-scratch` is also how a given module is driven, call by call; `error` is
for checks that only ask whether the code runs."""
RULES = get_args(Rule)
RULE_OF_METHOD: dict[str, Rule] = {
    "from_scratch": "from-scratch",
    "registered": "registration",
    "shape": "shape",
    "values": "values",
    "follows": "values",
    "any_size": "generality",
    "gradients": "gradient",
    "dtypes": "dtype",
    "devices": "device",
    "leaves_arguments": "mutation",
}
"""The rule of each check that a specification makes (`checking/specs`), by the method that makes it."""


def points(value: float) -> Callable[[Check], Check]:
    """Give a check points: a whole or half number."""
    if value < 0 or value * 2 != int(value * 2):
        raise ValueError("points are whole or half numbers")
    return _attach("autograder_points", float(value))


def rule(name: Rule) -> Callable[[Check], Check]:
    """The rule the check enforces, one of `RULES`."""
    if name not in RULES:
        raise ValueError(f"{name!r} is no rule; the rules are {', '.join(RULES)}")
    return _attach("autograder_rule", name)


def needs(*checks: str | Callable[..., None]) -> Callable[[Check], Check]:
    """Skip the check until the named ones of the same task have passed."""
    return _attach("autograder_needs", checks)


def hidden(instead: str) -> Callable[[Check], Check]:
    """Run the check when grading only; students read `instead` and not its title or message."""
    return _attach("autograder_hidden", instead)


def without(parts: Without) -> Callable[[Check], Check]:
    """Have the task judged, by all of its checks, where these parts of torch do not work."""
    return _attach("autograder_without", parts)


def anywhere(check: Check) -> Check:
    """Have the task judged beside others of the assignment, also where parts of torch do not work for these.

    That saves running the notebook once more. An answer that fails there is judged again where all works.
    """
    return _attach("autograder_anywhere", True)(check)


def teaching_only(check: Check) -> Check:
    """The check only says more of what others catch, too: no mistake is known that it alone finds.

    `autograder validate` asks of every other check that some mistake fails it and nothing else. A check
    that only teaches is worth no points.
    """
    return _attach("autograder_teaching_only", True)(check)


def _attach(name: str, value: Any) -> Callable[[Check], Check]:
    def decorate(check: Check) -> Check:
        setattr(check, name, value)
        return check

    return decorate
