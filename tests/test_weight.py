"""The house"s weight: lines of a room, and calls that a check of a right answer makes.

They go down. Raising a number here needs its reason in the commit.
"""

import traceback
from collections import Counter
from pathlib import Path

import pytest

from autograder import check
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.check import PUBLIC_SEED
from autograder.checking.runner.collection import collect
from autograder.protocol.messages import Call, ProbeCall
from tests.exercises.test_exercises import EXERCISES, notebook_of
from tests.variants import NOTEBOOKS

PACKAGE = Path(__file__).parents[1] / "autograder"
LINES = {
    "cards": 650,
    "checking": 10600,
    "cli": 1950,
    "data": 50,
    "exercises": 9000,
    "grading": 16000,
    "jupyter": 450,
    "protocol": 1300,
    "reporting": 2350,
    "the rest": 1450,
    "worker": 5350,
}
"""The most lines of Python in each room, in steps of 50."""
CALLS = {
    "mean_over_time": 15,
    "after_restart": 0,
    "predict_shapes": 18,
    "embed_then_rnn": 18,
    "last_step": 16,
    "layer_state": 28,
    "item_states": 61,
    "claims": 0,
    "rnn_cell": 13,
    "rnn_layer": 16,
    "run_stepwise": 26,
    "stacked_rnn": 24,
    "lstm_gates": 14,
    "lstm_cell": 14,
    "LSTMCell": 39,
    "copy_from_torch": 13,
    "to_time_major": 16,
    "run_lstm_cell": 33,
    "LSTMLayer": 50,
    "StackedLSTM": 66,
    "MultiLayerLSTM": 52,
    "lstm_parameter_count": 18,
    "init_state": 19,
    "run_in_chunks": 39,
    "detach_state": 17,
    "reset_finished": 27,
    "tbptt_step": 70,
    "make_windows": 16,
    "SimpleRNN": 32,
    "SequenceClassifier": 33,
    "fit": 39,
    "forecast": 17,
    "split_directions": 21,
    "unflatten_state": 29,
    "sentence_vector": 22,
    "ends_from_output": 22,
    "BiLSTM": 32,
    "pad_batch": 22,
    "last_valid": 24,
    "masked_mean": 25,
    "run_packed": 30,
    "masked_mse": 28,
    "bridge_state": 20,
    "attention": 27,
    "decode_teacher_forced": 20,
    "greedy_generate": 22,
    "numerical_gradient": 15,
    "rnn_cell_backward": 12,
    "rnn_layer_backward": 13,
    "lstm_cell_backward": 13,
    "gradient_by_step": 16,
    "clip_gradients": 19,
    "encode": 11,
    "lanes": 14,
    "CharLM": 33,
    "next_token_loss": 19,
    "sample": 32,
}
"""The most calls of the solution of each task."""
MOST_BETWEEN = 14
"""The most functions of the package between `check` and a student's function."""


def lines() -> Counter[str]:
    """Return the lines of Python in each room; what lies beside the rooms is one."""
    found: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[0]
        found["the rest" if room.endswith(".py") else room] += len(path.read_text().splitlines())
    return found


def calls(notebook: str, task: str) -> int:
    """Return how often the solution, or a module that its class made, is called by the checks of its task."""
    checks = collect(EXERCISES / notebook)
    inner = notebook_of(notebook, task, NOTEBOOKS[notebook].SOLUTIONS[task], checks.without(task))
    count, perform = 0, inner.connection._perform

    def counted(batch):
        nonlocal count
        count += sum(isinstance(message, (Call, ProbeCall)) for message in batch)
        return perform(batch)

    checks.run(
        task,
        Submission(counted, inner.sources, without=inner.without),
        seed=PUBLIC_SEED,
        include_hidden=True,
    )
    return count


def test_few_functions_stand_between_a_check_and_an_answer(monkeypatch):
    walk = []

    def lstm_cell(*_):
        files = [(frame.filename, frame.name) for frame in traceback.extract_stack()]
        walk[:] = [name for file, name in files if Path(file).is_relative_to(PACKAGE)]
        raise ValueError

    monkeypatch.chdir(PACKAGE.parent / "release" / "03_lstm_cell")
    monkeypatch.setitem(globals(), "lstm_cell", lstm_cell)
    check("lstm_cell")
    assert walk[0] == "check"
    assert len(walk[1:]) <= MOST_BETWEEN, walk


def test_no_room_gets_heavier():
    found = lines()
    assert found.keys() == LINES.keys()
    assert {room: count for room, count in found.items() if count > LINES[room]} == {}


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_no_task_asks_for_more_calls(notebook):
    found = {task: calls(notebook, task) for task in NOTEBOOKS[notebook].SOLUTIONS}
    assert {task: count for task, count in found.items() if count > CALLS[task]} == {}
