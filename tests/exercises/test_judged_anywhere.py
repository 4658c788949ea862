"""A task that may be judged anywhere is judged beside those that lack something, and again if it fails."""

from __future__ import annotations

import pytest

from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.judge import judge
from autograder.grading.workers.forkserver import ForkServer
from tests.support.helpers import SEED, make_bundle

ASSIGNMENT = "03_lstm_cell"
TWIN = """
    with torch.no_grad():
        twin = nn.LSTMCell(torch_cell.input_size, torch_cell.hidden_size).to(torch_cell.weight_ih.dtype)
        twin.load_state_dict(torch_cell.state_dict())
        x = torch_cell.weight_ih.new_zeros(2, torch_cell.input_size)
        assert torch.equal(twin(x)[0], torch_cell(x)[0])
"""
"""What a careful student may put before a copy: a module of torch's made, and run, as other tasks may not."""


@pytest.fixture
def spawned(workers: ForkServer, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The parts of torch that each worker lacks, in the order in which workers are asked for."""
    found: list[object] = []
    spawn = workers.spawn
    monkeypatch.setattr(workers, "spawn", lambda without=None: found.append(without) or spawn(without))
    return found


def judged(workers: ForkServer, head: str = "") -> tuple[float, list[str]]:
    """Return the score and the messages of what failed."""
    bundle = make_bundle(ASSIGNMENT, solution=True)
    source = bundle.solution["copy_from_torch"]
    if head:
        signature, _, body = source.partition(":\n")
        source = f"{signature}:{head}{body}"
    raw = bundle.with_answers({**bundle.solution, "copy_from_torch": source})
    with checks_of(bundle) as checks:
        verdict = judge(raw, bundle, student="ada", seed=SEED, checks=checks, workers=workers).verdict
    told = [check.message for task in verdict.tasks for check in task.checks if check.outcome != "passed"]
    return verdict.score, told


def test_one_worker_judges_it_all(workers, spawned):
    assert judged(workers) == (10, [])
    assert len(spawned) == 1


def test_what_uses_more_of_torch_than_the_others_may_is_judged_again(workers, spawned):
    assert judged(workers, TWIN) == (10, [])
    assert len(spawned) == 2


def test_what_is_wrong_in_both_is_told_as_where_all_works(workers, spawned):
    score, told = judged(workers, "\n    return\n")
    assert (score < 10, len(spawned)) == (True, 2)
    assert not any("does not work here" in message for message in told)
