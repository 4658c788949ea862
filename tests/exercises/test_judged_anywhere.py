"""A task that may be judged anywhere is judged beside those that lack something, and again if it fails."""

from __future__ import annotations

import pytest

from autograder.grading.judging.collected_checks import checks_of
from autograder.grading.judging.judge import judge
from autograder.grading.workers.forkserver import ForkServer
from tests.support.helpers import SEED, make_bundle

COPIES = {
    "03_lstm_cell": """
    with torch.no_grad():
        twin = nn.LSTMCell(torch_cell.input_size, torch_cell.hidden_size).to(torch_cell.weight_ih.dtype)
        twin.load_state_dict(torch_cell.state_dict())
        x = torch_cell.weight_ih.new_zeros(2, torch_cell.input_size)
        assert torch.equal(twin(x)[0], torch_cell(x)[0])
""",
    "05_stacking": """
    with torch.no_grad():
        twin = nn.LSTM(lstm.input_size, lstm.hidden_size, lstm.num_layers).to(lstm.weight_ih_l0.dtype)
        twin.load_state_dict(lstm.state_dict())
        twin(twin.weight_ih_l0.new_zeros(2, 3, lstm.input_size))
""",
}
"""What a careful student may put before a copy: torch's modules made, and run, as other tasks may not."""


def judged(assignment: str, head: str = "") -> tuple[float, list[str], int]:
    """Return the score, the messages of what failed, and how many workers it took."""
    bundle = make_bundle(assignment, solution=True)
    source = bundle.solution["copy_from_torch"]
    if head:
        signature, _, body = source.partition(":\n")
        source = f"{signature}:{head}{body}"
    spawned = []
    with ForkServer() as workers:
        spawn = workers.spawn
        workers.spawn = lambda without=None: spawned.append(without) or spawn(without)  # type: ignore[method-assign]
        raw = bundle.with_answers({**bundle.solution, "copy_from_torch": source})
        with checks_of(bundle) as checks:
            verdict = judge(raw, bundle, student="ada", seed=SEED, checks=checks, workers=workers).verdict
    told = [check.message for task in verdict.tasks for check in task.checks if check.outcome != "passed"]
    return verdict.score, told, len(spawned)


@pytest.mark.parametrize("assignment", COPIES)
def test_one_worker_judges_it_all(assignment):
    assert judged(assignment) == (10, [], 1)


@pytest.mark.parametrize("assignment", COPIES)
def test_what_uses_more_of_torch_than_the_others_may_is_judged_again(assignment):
    assert judged(assignment, COPIES[assignment]) == (10, [], 2)


@pytest.mark.parametrize("assignment", COPIES)
def test_what_is_wrong_in_both_is_told_as_where_all_works(assignment):
    score, told, workers = judged(assignment, "\n    return\n")
    assert (score < 10, workers) == (True, 2)
    assert not any("does not work here" in message for message in told)
