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
for calls that must stop, and for checks that only ask whether the code runs."""
RULES = get_args(Rule)
RULE_OF_METHOD: dict[str, Rule] = {
    "from_scratch": "from-scratch",
    "registered": "registration",
    "shape": "shape",
    "values": "values",
    "follows": "values",
    "updates": "values",
    "any_size": "generality",
    "raises": "error",
    "gradients": "gradient",
    "dtypes": "dtype",
    "devices": "device",
    "leaves_arguments": "mutation",
}
"""The rule of each check that a specification makes (`checking/specs`), by the method that makes it."""
NAME_OF_METHOD = {
    "from_scratch": "from_scratch",
    "registered": "parameters",
    "shape": "shape",
    "values": "values",
    "updates": "updates",
    "any_size": "any_size",
    "raises": "raises",
    "follows": "follows_its_parameters",
    "gradients": "gradients",
    "dtypes": "dtype",
    "devices": "device",
    "leaves_arguments": "arguments_untouched",
}
"""The usual name of each such check, in the order in which `standard` makes them."""


def points(value: float) -> Callable[[Check], Check]:
    """Give a check points: a whole or half number. Without the mark a check has none.

    Raises `ValueError` for any other number, `TypeError` for what is none.

        @points(0.5)
        @rule("values")
        def test_matches_torch(submission, sizes, draw):
            "It gives what F.conv1d gives."
    """
    if not isinstance(value, (int, float)):
        raise TypeError(f"points are a number, not an object of type {type(value).__name__}")
    if value < 0 or value * 2 != int(value * 2):
        raise ValueError(f"{value:g} points: points are whole or half numbers, and not less than 0")
    return _attach("autograder_points", float(value))


def rule(name: Rule) -> Callable[[Check], Check]:
    """Say which rule a check enforces. Every check has one.

    There are `shape`, `values`, `gradient`, `dtype`, `device`, `mutation`, `registration`, `dropout`,
    `from-scratch`, `generality` and `error`; docs/verdict.md says what each means. Raises `ValueError` for
    any other.

        @rule("shape")
        def test_shape(submission, sizes, draw):
            "It returns y (batch, filters, width)."
    """
    if not isinstance(name, str):
        raise TypeError('`@rule` stands without its argument: write it as `@rule("values")`')
    if name not in RULES:
        raise ValueError(f"{name!r} is no rule; the rules are {', '.join(RULES)}")
    return _attach("autograder_rule", name)


def needs(*checks: str | Callable[..., None]) -> Callable[[Check], Check]:
    """Skip the check until the named ones of the same task have passed.

    `checks` are functions, or names of them. Raises nothing: `autograder build` refuses a name that no check
    of the file has.

        @rule("values")
        @needs(test_shape, "test_from_scratch")
        def test_matches_torch(submission, sizes, draw):
            "It gives what F.conv1d gives."
    """
    return _attach("autograder_needs", checks)


def hidden(instead: str) -> Callable[[Check], Check]:
    """Run the check when grading only; students read `instead` and not its title or message.

    `instead` is a sentence. They do not get the check's text either, nor what only it uses. Its points are
    written out as a number, and no other check needs it. Raises nothing: `autograder build` refuses what
    cannot be kept back.

        @points(0.5)
        @rule("generality")
        @hidden("It works with large images, too.")
        def test_large(submission, sizes, draw):
            "It works with four hundred rows."
    """
    return _attach("autograder_hidden", instead)


def without(parts: Without) -> Callable[[Check], Check]:
    """Have the task judged, by all of its checks, where these parts of torch do not work.

    `parts` say which; a specification does this by `forbidden`. Raises nothing.

        @rule("from-scratch")
        @without(Without(operators="conv|unfold", say="Write the sums yourself."))
        def test_from_scratch(submission, sizes, draw):
            "The sums are written by you."
    """
    return _attach("autograder_without", parts)


def anywhere(check: Check) -> Check:
    """Let the task share a worker with tasks that disable parts of torch.

    That saves running the notebook once more. An answer that fails there is judged again where all works.
    Takes the check alone and raises nothing.

        @rule("values")
        @anywhere
        def test_same_weights(submission, sizes, draw):
            "After the copy both have the same weights."
    """
    return _attach("autograder_anywhere", True)(check)


def teaching_only(check: Check) -> Check:
    """Say that a check only explains what others catch, too: no mistake is known that it alone finds.

    `autograder validate` asks of every other check that some mistake fails it and nothing else. A check that
    only teaches is worth no points. Takes the check alone and raises nothing: `validate` refuses points.

        @points(0)
        @rule("shape")
        @teaching_only
        def test_every_claim_is_answered(submission, sizes, draw):
            "Every claim has an answer."
    """
    return _attach("autograder_teaching_only", True)(check)


def _attach(name: str, value: Any) -> Callable[[Check], Check]:
    def decorate(check: Check) -> Check:
        setattr(check, name, value)
        return check

    return decorate
