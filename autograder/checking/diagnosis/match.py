"""Names the mistake that a submission's wrong answers are equal to. No match, no diagnosis.

A catalogued mistake explains a task when everything that it breaks is broken in the same way: the
submission fails each check that the mistake fails, with the same answers. What else is wrong
with the submission may be a mistake of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RAISED = "raised-"
"""The beginning of a fingerprint of answers that ended with an exception: any mistake may raise the same."""


@dataclass(frozen=True)
class Known:
    """The answers of one known mistake to the checks of its task, under one seed."""

    mistake: str
    hint: str
    answers: Mapping[str, str]
    """The fingerprint of its answers, by check, for every check that it fails."""
    outcomes: Mapping[str, str]
    """The outcome of every check of the task."""


@dataclass(frozen=True)
class Answered:
    """The result of one check for a submission; `answers` is the fingerprint where it failed."""

    check: str
    outcome: str
    answers: str | None


def explain(checks: Sequence[Answered], known: Sequence[Known]) -> dict[str, Known]:
    """The mistake behind each failed check of one task, by check, where there is exactly one to name.

    Of several that answer alike, it is the one that agrees with the submission on most checks.
    """
    answers = {check.check: check.answers for check in checks if check.answers is not None}
    outcomes = {check.check: check.outcome for check in checks}
    fitting = [mistake for mistake in known if _fits(mistake, answers, outcomes)]
    found: dict[str, Known] = {}
    for check in answers:
        candidates = [mistake for mistake in fitting if check in mistake.answers]
        agreed = [_agreement(mistake, outcomes) for mistake in candidates]
        if candidates and agreed.count(max(agreed)) == 1:
            found[check] = candidates[agreed.index(max(agreed))]
    return found


def _fits(mistake: Known, answers: Mapping[str, str], outcomes: Mapping[str, str]) -> bool:
    if not mistake.answers or any(answers.get(check) != told for check, told in mistake.answers.items()):
        return False
    if all(told.startswith(RAISED) for told in mistake.answers.values()):
        # The same exception has many causes: nothing else may be different.
        return mistake.outcomes == outcomes
    return True


def _agreement(mistake: Known, outcomes: Mapping[str, str]) -> int:
    """Checks that go alike; where both fail, `_fits` has seen to it that they answer alike."""
    return sum(outcomes.get(check) == outcome for check, outcome in mistake.outcomes.items())
