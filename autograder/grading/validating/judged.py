"""The notebooks of a validation, judged: the solution, the release, known mistakes and right answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.checking.runner.check import PUBLIC_SEED
from autograder.grading.assignment.catalogue import Mistake
from autograder.grading.judging.jobs import Job, Setting
from autograder.grading.judging.submitted import Submitted
from autograder.grading.judging.trial import Trial
from autograder.grading.records.known import KnownMistakes, mistaken
from autograder.grading.validating.findings import JudgedMistake, first_loss
from autograder.grading.validating.mistaken import judged_together, mistaken_together
from autograder.grading.validating.right import Variants, mixed, mixtures_of
from autograder.grading.validating.run_all import WRONG, RunAll
from autograder.grading.validating.work import SmallSizes, results_of, verdicts_in
from autograder.verdict import TaskVerdict, Verdict


@dataclass(frozen=True)
class Judged:
    """The judged notebooks of an assignment, each under a name, and what was tried beside them."""

    verdicts: Mapping[str, Verdict]
    together: Mapping[str, Sequence[Mistake]]
    """The mistakes of the notebooks that several share."""
    mixtures: Mapping[str, Mapping[str, str]]
    """The right answers of the notebooks that several share: the name of each, by task."""
    suspects: Mapping[str, Mapping[str, str]]
    """The right answers judged by themselves because they lost something beside others, in the same form."""
    mistakes: Mapping[str, JudgedMistake]
    """Each mistake as it is to be judged, by name."""
    public: KnownMistakes
    """The mistakes' answers to the checks that students have, by task."""
    unfit: Mapping[str, Sequence[str]]
    """The checks of values that fail the solution at the smallest sizes, by task."""
    stopped: Mapping[RunAll, Mapping[int, Any]]
    """The cells that stop where all tasks are wrong in the same way."""
    again: Sequence[Verdict] = ()
    """The solution under further seeds."""

    def named_tasks(self) -> Iterator[tuple[str, TaskVerdict]]:
        """Yield the tasks in which a check may have met a fault, with words for what was judged."""
        answers = {**self.mixtures, **self.suspects}
        for name, verdict in self.verdicts.items():
            if name in self.together:
                continue
            for task in verdict.tasks:
                style = answers.get(name, {}).get(task.task)
                yield f"the {name}" if style is None else f"the right answer {style!r}", task
        for name, mistake in self.mistakes.items():
            yield f"the mistake {name}", mistake.own
        for name, mistakes in self.together.items():
            others = f"the solution beside {', '.join(mistake.name for mistake in mistakes)}"
            for task in self.verdicts[name].tasks:
                if task.task not in {mistake.task for mistake in mistakes}:
                    yield others, task


def judge(
    setting: Setting,
    variants: Variants,
    jobs: int,
    say: Callable[[str], None],
    advance: Callable[[int, int], None],
    further_seeds: Sequence[int] = (),
) -> Judged:
    """Judge an assignment's notebooks, and by itself what was not judged beside others as it is alone.

    What is right is judged under further seeds, too: an answer may be right by luck of one.
    """
    bundle = setting.bundle
    together = {f"mistakes {k}": mistakes for k, mistakes in enumerate(mistaken_together(bundle))}
    mixtures, seeds = {}, dict[str, int]()
    for seed in (setting.seed, *further_seeds):
        for k, mixture in enumerate(mixtures_of(variants)):
            name = f"variants {k}" if seed == setting.seed else f"variants {k}, seed {seed}"
            mixtures[name], seeds[name] = mixture, seed
    todo = [
        Submitted("solution", bundle.with_answers(bundle.solution)),
        Submitted("release", bundle.released.encode()),
        *(Submitted(name, mistaken(bundle, *mistakes), explain=False) for name, mistakes in together.items()),
        *(
            Submitted(f"solution, seed {seed}", bundle.with_answers(bundle.solution), seed=seed)
            for seed in further_seeds
        ),
        *(
            Submitted(name, mixed(bundle, variants, mixture), seed=seeds[name])
            for name, mixture in mixtures.items()
        ),
    ]
    small = SmallSizes()
    tasks = dict.fromkeys(mistake.task for mistake in bundle.mistakes)
    here = {task: Trial(task, setting.seed) for task in tasks}
    public = {task: Trial(task, PUBLIC_SEED, include_hidden=False) for task in tasks}
    say(f"{bundle.assignment}: judging {len(todo)} notebooks")
    runs = [RunAll(way) for way in ("", *WRONG)]
    longest_first: list[Job[Any]] = [small, *here.values(), *public.values(), *todo, *runs]
    results = results_of(longest_first, jobs, setting, advance)
    known = {task: results[trial][0] for task, trial in here.items()}
    verdicts = verdicts_in(results, known)
    # A right answer may build on another task's in a way that only some answers to that one allow.
    suspects = {}
    for key, mixture in mixtures.items():
        for task in verdicts[key].tasks:
            if (style := mixture.get(task.task)) and first_loss(task):
                name = f"alone {task.task} {style}, seed {seeds[key]}"
                suspects[name], seeds[name] = {task.task: style}, seeds[key]
    mistakes, apart = judged_together(together, verdicts, known)
    alone = [
        *(
            Submitted(key, mixed(bundle, variants, mixture), seed=seeds[key])
            for key, mixture in suspects.items()
        ),
        *(Submitted(key, mistaken(bundle, mistake), explain=False) for key, mistake in apart.items()),
    ]
    verdicts |= verdicts_in(results_of(alone, jobs, setting), known)
    for key, mistake in apart.items():
        mistakes[mistake.name] = JudgedMistake.of(mistake, verdicts[key], verdicts["solution"])
    return Judged(
        verdicts,
        together,
        mixtures,
        suspects,
        mistakes,
        {task: results[trial][0] for task, trial in public.items()},
        results[small],
        {run: results[run] for run in runs},
        [verdicts[f"solution, seed {seed}"] for seed in further_seeds],
    )
