"""Every check against right answers in many styles, and against answers with one fault each.

The solution gets every point on several seeds, a right answer in another style on one of them (and on that of
`autograder validate`); every fault must be found by a check of its own rule.
The solutions are judged in `make test`, the faults and right answers in other styles in `make test-all`.
"""

import linecache
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.checking.expectations.comparing import ROUNDED
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.check import PUBLIC_SEED, CheckResult
from autograder.checking.runner.checks import Checks
from autograder.checking.runner.collection import collect
from autograder.checking.runner.marks import RULES
from autograder.protocol.without import Without
from autograder.worker.session.executor import Executor
from tests.variants import NOTEBOOKS

EXERCISES = Path(__file__).parents[2] / "autograder" / "exercises"
SEEDS = (PUBLIC_SEED, 1, 20_26)
POINTS = {
    "shapes": {
        "predict_shapes": 2.5,
        "embed_then_rnn": 1.5,
        "last_step": 1,
        "layer_state": 1,
        "item_states": 1,
        "claims": 3,
    },
    "rnn_cell": {"rnn_cell": 2, "rnn_layer": 2.5, "run_stepwise": 2.5, "stacked_rnn": 3},
    "start": {"mean_over_time": 1, "after_restart": 1},
    "lstm_cell": {"lstm_gates": 2, "lstm_cell": 2, "LSTMCell": 4, "copy_from_torch": 2},
    "lstm_layer": {"to_time_major": 1.5, "run_lstm_cell": 3.5, "LSTMLayer": 5},
    "stacking": {
        "StackedLSTM": 4,
        "MultiLayerLSTM": 2.5,
        "copy_from_torch": 2,
        "lstm_parameter_count": 1.5,
    },
    "state": {
        "init_state": 1.5,
        "run_in_chunks": 2.5,
        "detach_state": 1.5,
        "reset_finished": 2,
        "tbptt_step": 2.5,
    },
    "many_to_one": {
        "make_windows": 1.5,
        "SimpleRNN": 2.5,
        "SequenceClassifier": 2,
        "fit": 2,
        "forecast": 2,
    },
    "bidirectional": {
        "split_directions": 1.5,
        "unflatten_state": 2,
        "sentence_vector": 2,
        "ends_from_output": 2,
        "BiLSTM": 2.5,
    },
    "ragged_batches": {
        "pad_batch": 2,
        "last_valid": 2,
        "masked_mean": 1.5,
        "run_packed": 2.5,
        "masked_mse": 2,
    },
    "seq2seq": {"bridge_state": 2.5, "attention": 3, "decode_teacher_forced": 2, "greedy_generate": 2.5},
    "gradients": {
        "numerical_gradient": 1.5,
        "rnn_cell_backward": 2,
        "rnn_layer_backward": 2.5,
        "lstm_cell_backward": 2,
        "gradient_by_step": 1,
        "clip_gradients": 1,
    },
    "language_model": {"encode": 1, "lanes": 1.5, "CharLM": 3, "next_token_loss": 1.5, "sample": 3},
}
TASKS = [(notebook, task) for notebook, variants in NOTEBOOKS.items() for task in variants.SOLUTIONS]
WRONG = [
    (notebook, task, name)
    for notebook, variants in NOTEBOOKS.items()
    for task in variants.SOLUTIONS
    for name in variants.WRONG[task]
]
ALONE = {
    "gradient": {"gradient", "mutation"},
    "dtype": {"dtype"},
    "device": {"device"},
    "generality": {"generality", "gradient"},
    "from-scratch": {"from-scratch", "registration"},
    "mutation": {"mutation", "gradient", "values"},
}
"""The rules whose checks may fail when only this one is broken: a torch module that does the work brings its
own parameters, a backward pass may need the numbers that were overwritten, which a second call sees as well,
gradients in eval() are those of a second call, and who freezes a given model leaves it frozen."""


def notebook_of(notebook: str, task: str, source: str, without: Without | None = None) -> Submission:
    """The submission of a notebook whose other cells hold the solutions; calls lack what `without` names."""
    namespace: dict = {
        "torch": torch,
        "nn": nn,
        "F": F,
        "__name__": "__main__",
        "print": lambda *a, **k: None,
    }
    given = {"given": getattr(NOTEBOOKS[notebook], "GIVEN", "")}
    for other, solution in {**given, **NOTEBOOKS[notebook].SOLUTIONS}.items():
        text = source if other == task else solution
        filename = f"<cell {other} {hash(text)}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        exec(compile(text, filename, "exec"), namespace)
    return Submission(Executor(namespace, without=without).perform, {task: source}, without=without)


def judged(
    notebook: str, seeds_of: Callable[[str, str], Sequence[int]]
) -> dict[tuple[str, str], list[list[CheckResult]]]:
    """Every variant of a notebook's tasks, judged on the seeds of each: the checks are collected once."""
    variants = NOTEBOOKS[notebook]

    def body(checks: Checks) -> dict[tuple[str, str], list[list[CheckResult]]]:
        results = {}
        for task, solution in variants.SOLUTIONS.items():
            sources = {"the solution": solution, **variants.CORRECT[task]}
            sources |= {name: source for name, (_, source) in variants.WRONG[task].items()}
            for name, source in sources.items():
                results[task, name] = []
                for seed in seeds_of(task, name):
                    answers = notebook_of(notebook, task, source, checks.without(task))
                    results[task, name].append(
                        checks.run(task, answers, seed=seed, include_hidden=True, explain=False)
                    )
        return results

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # small tensors: waking a pool of threads costs more than it brings
    try:
        return body(collect(EXERCISES / notebook))
    finally:
        torch.set_num_threads(threads)


@cache
def solved(notebook: str) -> dict[tuple[str, str], list[list[CheckResult]]]:
    """The solution on all seeds."""
    return judged(notebook, lambda task, name: SEEDS if name == "the solution" else ())


@cache
def mistaken(notebook: str) -> dict[tuple[str, str], list[list[CheckResult]]]:
    """Every wrong answer on one seed."""
    wrong = NOTEBOOKS[notebook].WRONG
    return judged(notebook, lambda task, name: SEEDS[:1] if name in wrong[task] else ())


def assert_full_marks(results: list[CheckResult], notebook: str, task: str) -> None:
    told = [f"{r.check.name} ({r.outcome}): {r.message}" for r in results if r.outcome != "passed"]
    assert not told
    assert sum(r.points for r in results) == POINTS[notebook][task]


@pytest.mark.parametrize(("notebook", "task"), TASKS)
@pytest.mark.filterwarnings("ignore")
def test_the_solution_gets_full_marks(notebook, task):
    on_seeds = solved(notebook)[task, "the solution"]
    assert len(on_seeds) == len(SEEDS)
    for results in on_seeds:
        assert_full_marks(results, notebook, task)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS)
@pytest.mark.filterwarnings("ignore")
def test_right_answers_get_full_marks(notebook):
    correct = NOTEBOOKS[notebook].CORRECT
    turn = {task: {name: place % len(SEEDS) for place, name in enumerate(correct[task])} for task in correct}
    found = judged(notebook, lambda task, name: [SEEDS[turn[task][name]]] if name in turn[task] else [])
    for task, names in turn.items():
        for name in names:
            (results,) = found[task, name]
            assert_full_marks(results, notebook, task)


@pytest.mark.slow
@pytest.mark.parametrize(("notebook", "task", "name"), WRONG)
@pytest.mark.filterwarnings("ignore")
def test_a_fault_is_found_by_its_rule(notebook, task, name):
    rule, _ = NOTEBOOKS[notebook].WRONG[task][name]
    on_seeds = mistaken(notebook)[task, name]
    assert len(on_seeds) == 1
    for results in on_seeds:
        broken = [r for r in results if r.outcome not in ("passed", "skipped")]
        assert rule in {r.check.rule for r in broken}, [(r.check.name, r.outcome, r.message) for r in broken]
        assert not any(r.outcome == "fault" for r in broken)
        others = [
            (r.check.name, r.message)
            for r in broken
            if r.check.rule not in ALONE.get(rule, RULES) and not (rule == "dtype" and ROUNDED in r.message)
        ]
        assert not others
        worth = sum(r.check.points for r in results if r.check.rule == rule or r.outcome != "passed")
        assert sum(r.points for r in results) < POINTS[notebook][task] or not worth


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_there_are_enough_of_each(notebook):
    variants = NOTEBOOKS[notebook]
    for task in variants.SOLUTIONS:
        assert len(variants.CORRECT[task]) >= 6
        assert not {"the solution", *variants.CORRECT[task]} & set(variants.WRONG[task])
        assert variants.WRONG[task]


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_every_task_has_known_mistakes(notebook: str):
    """`autograder validate` would only say that a task has none, as one has that was just converted."""
    (catalogue,) = (EXERCISES.parents[1] / "solutions/mistakes").glob(f"*_{notebook}.toml")
    mistakes = tomllib.loads(catalogue.read_text())
    assert {each["task"] for each in mistakes.values()} >= set(POINTS[notebook])
