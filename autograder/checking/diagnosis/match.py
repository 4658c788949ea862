"""Names the mistake that a submission's wrong answers are equal to. No match, no diagnosis.

A catalogued mistake explains a task when everything that it breaks is broken: the submission fails each
check that the mistake fails, and gives the same answers in those that show the mistake itself. Checks of
consequences, such as the gradient of a wrong value, may answer otherwise: the submission may compute the same
wrong numbers in a way that breaks the gradient, too. What else is wrong with it may be a mistake of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

RAISED = "raised-"
"""The beginning of a fingerprint of answers that ended with an exception: any mistake may raise the same."""

_ASIDE = ("gradient", "dtype", "device", "mutation", "registration", "from-scratch")
"""The rules of checks that judge how an answer comes about: one wrong answer may break them in many ways."""


@dataclass(frozen=True)
class Known:
    """The answers of one known mistake to the checks of its task, under one seed."""

    mistake: str
    hint: str
    """`""` for one that is never named."""
    answers: Mapping[str, str]
    """The fingerprint of its answers, by check, for every check that it fails."""
    outcomes: Mapping[str, str]
    """The outcome of every check of the task."""
    shown_in: Collection[str]
    """The checks, of those that it fails, in which answers have to be equal."""


def shows_in(rule_by_check: Mapping[str, str], caught_by: str) -> list[str]:
    """Return the checks that show a mistake itself, sorted, of those that it fails, given with their rules.

    `caught_by` is the rule that the mistake breaks. What was written into an argument shows in the checks of
    `mutation` alone, whatever else is returned.
    """
    if caught_by == "mutation":
        shown = [check for check, rule in rule_by_check.items() if rule == caught_by]
    else:
        shown = [check for check, rule in rule_by_check.items() if rule == caught_by or rule not in _ASIDE]
    return sorted(shown or rule_by_check)


@dataclass(frozen=True)
class Answered:
    """The result of one check for a submission; `answers` is the fingerprint where it failed."""

    check: str
    outcome: str
    answers: str | None


def explain(checks: Sequence[Answered], known: Sequence[Known]) -> dict[str, Known]:
    """Return the mistake behind each failed check of one task, by check, where there is exactly one to name.

    Of several that fit, it is one whose answers are all the submission's, and of these the one that agrees
    with it on most checks.
    """
    answers = {check.check: check.answers for check in checks if check.answers is not None}
    outcomes = {check.check: check.outcome for check in checks}
    fitting = [mistake for mistake in known if mistake.hint and _fits(mistake, answers, outcomes)]
    found: dict[str, Known] = {}
    for check in answers:
        candidates = [mistake for mistake in fitting if mistake.answers.get(check) == answers[check]]
        agreed = [_agreement(mistake, answers, outcomes) for mistake in candidates]
        if candidates and agreed.count(max(agreed)) == 1:
            found[check] = candidates[agreed.index(max(agreed))]
    return found


def _fits(mistake: Known, answers: Mapping[str, str], outcomes: Mapping[str, str]) -> bool:
    shown = {check: mistake.answers[check] for check in mistake.shown_in}
    if not shown or not mistake.answers.keys() <= answers.keys():
        return False
    if any(answers[check] != told for check, told in shown.items()):
        return False
    if all(told.startswith(RAISED) for told in shown.values()):
        # The same exception has many causes: nothing else may be different.
        return mistake.outcomes == outcomes and all(
            answers[check] == told for check, told in mistake.answers.items()
        )
    return True


def _agreement(mistake: Known, answers: Mapping[str, str], outcomes: Mapping[str, str]) -> tuple[bool, int]:
    """Return whether all that the mistake breaks answers alike, and how many checks have one outcome."""
    whole = all(answers[check] == told for check, told in mistake.answers.items())
    return whole, sum(outcomes.get(check) == outcome for check, outcome in mistake.outcomes.items())
