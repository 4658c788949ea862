"""Notebooks as a class has them, with a known mistake in several tasks: fewer to judge than a mistake each.

A mistake that is not judged there as it is alone is judged in a notebook of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from autograder.checking.diagnosis.match import Known
from autograder.checking.expectations.source import cells_used
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.catalogue import Mistake
from autograder.grading.validating.findings import JudgedMistake
from autograder.verdict import Verdict


def mistaken_together(bundle: Bundle) -> Iterator[list[Mistake]]:
    """Yield the mistakes of each notebook, at most one a task, until every mistake is in one.

    Of tasks that build on each other one at most is mistaken: what a mistake does to a right answer that
    uses the wrong one is to be seen.
    """
    left: dict[str, list[Mistake]] = {}
    for mistake in bundle.mistakes:
        left.setdefault(mistake.task, []).append(mistake)
    uses = {task: cells_used(bundle.solution, task) for task in left}
    while any(left.values()):
        chosen: list[str] = []
        for task in sorted(left, key=lambda task: -len(left[task])):
            if left[task] and not any(task in uses[other] or other in uses[task] for other in chosen):
                chosen.append(task)
        yield [left[task].pop(0) for task in chosen]


def judged_together(
    together: Mapping[str, Sequence[Mistake]],
    verdicts: Mapping[str, Verdict],
    known: Mapping[str, Sequence[Known]],
) -> tuple[dict[str, JudgedMistake], dict[str, Mistake]]:
    """Return the mistakes that were judged beside others as each is alone, and those that were not.

    `together` has the mistakes of each notebook under the name of its verdict. Those of a notebook are to be
    judged alone, under the names that the second dictionary gives them, where one is not caught and named as
    it should be, and where one may have had a part in how another task was judged: its checks then ended
    otherwise than, by what is `known`, in the otherwise solved notebook, or it lost points.
    """
    judged: dict[str, JudgedMistake] = {}
    alone: dict[str, Mistake] = {}
    outcomes = {each.mistake: dict(each.outcomes) for task in known.values() for each in task}
    for name, mistakes in together.items():
        tasks = {mistake.task for mistake in mistakes}
        found = [
            JudgedMistake.of(each, verdicts[name], verdicts["solution"], beside=tasks) for each in mistakes
        ]
        if all(outcomes[each.mistake.name] == each.outcomes and not any(each.complaints()) for each in found):
            judged |= {each.mistake.name: each for each in found}
        else:
            alone |= {f"mistake {mistake.name}": mistake for mistake in mistakes}
    return judged, alone
