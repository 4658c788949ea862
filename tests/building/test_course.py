"""The course as students get it: clean files, a release that runs, solutions that get everything."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbgrader.utils import determine_grade

from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.cells import check_task, grade_id, is_grade, is_solution
from tests.support.helpers import run_judge

ROOT = Path(__file__).parents[2]
RELEASED = sorted(ROOT.glob("release/*/*.ipynb"))
IN_TURN = [
    path if path.stem == "lstm_cell" else pytest.param(path, marks=pytest.mark.slow) for path in RELEASED
]
"""Those that are run: one in `make test`, all in `make test-all`."""
SOURCES = sorted(ROOT.glob("source/*/*.ipynb"))
CONTRACT = {
    "00_start/start": ["mean_over_time", "after_restart"],
    "01_shapes/shapes": [
        "predict_shapes",
        "embed_then_rnn",
        "last_step",
        "layer_state",
        "item_states",
        "claims",
    ],
    "02_rnn_cell/rnn_cell": ["rnn_cell", "rnn_layer", "run_stepwise", "stacked_rnn"],
    "03_lstm_cell/lstm_cell": ["lstm_gates", "lstm_cell", "LSTMCell", "copy_from_torch"],
    "04_lstm_layer/lstm_layer": ["to_time_major", "run_lstm_cell", "LSTMLayer"],
    "05_stacking/stacking": ["StackedLSTM", "MultiLayerLSTM", "copy_from_torch", "lstm_parameter_count"],
    "06_state/state": ["init_state", "run_in_chunks", "detach_state", "reset_finished", "tbptt_step"],
    "07_many_to_one/many_to_one": ["make_windows", "SimpleRNN", "SequenceClassifier", "fit", "forecast"],
    "08_bidirectional/bidirectional": [
        "split_directions",
        "unflatten_state",
        "sentence_vector",
        "ends_from_output",
        "BiLSTM",
    ],
    "09_ragged_batches/ragged_batches": [
        "pad_batch",
        "last_valid",
        "masked_mean",
        "run_packed",
        "masked_mse",
    ],
    "10_seq2seq/seq2seq": ["bridge_state", "attention", "decode_teacher_forced", "greedy_generate"],
    "11_gradients/gradients": [
        "numerical_gradient",
        "rnn_cell_backward",
        "rnn_layer_backward",
        "lstm_cell_backward",
        "gradient_by_step",
        "clip_gradients",
    ],
    "12_language_model/language_model": ["encode", "lanes", "CharLM", "next_token_loss", "sample"],
}


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def points_of(path: Path) -> int:
    return 2 if path.stem == "start" else 10


def test_the_assignments_are_the_contract():
    assert [name_of(path) for path in SOURCES] == list(CONTRACT)
    assert [name_of(path) for path in RELEASED] == list(CONTRACT)


@pytest.mark.parametrize(
    "path", SOURCES + RELEASED, ids=lambda path: f"{path.parent.parent.name}-{path.stem}"
)
def test_notebooks_are_committed_without_outputs(path):
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_each_task_is_a_solution_cell_and_a_check_behind_it(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if is_solution(cell) or is_grade(cell)]
    tasks = CONTRACT[name_of(path)]
    assert [grade_id(cell) for cell in cells] == [name for task in tasks for name in (task, f"check_{task}")]
    assert [check_task(cell) for cell in cells if is_grade(cell)] == tasks
    assert sum(cell.metadata.nbgrader.points for cell in cells if is_grade(cell)) == points_of(path)


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_release_holds_no_solution(path):
    for cell in nbformat.read(path, as_version=4).cells:
        assert "SOLUTION" not in cell.source
        if is_solution(cell) and path.stem != "start":  # whose cells hold something else
            assert "raise NotImplementedError()" in cell.source


@pytest.mark.parametrize("path", IN_TURN, ids=lambda path: path.stem)
def test_behind_the_wall_the_solution_gets_everything_and_the_release_nothing(path, workers):
    bundle = Bundle(path.parent.name, path.stem, path.read_text(encoding="utf-8"))
    for kind, score in (("solutions", points_of(path)), ("release", 0)):
        raw = (ROOT / kind / path.parent.name / path.name).read_bytes()
        verdict = run_judge(raw, workers, bundle).verdict
        assert (verdict.status, verdict.score, verdict.max_score) == ("graded", score, points_of(path))


@pytest.mark.slow
@pytest.mark.parametrize("path", IN_TURN, ids=lambda path: path.stem)
def test_release_runs_from_top_to_bottom_in_a_kernel_and_gets_nothing(path):
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}).execute()
    for cell in notebook.cells:
        if is_grade(cell):
            assert determine_grade(cell)[0] == 0
            said = "".join(str(output.get("data", {}).get("text/plain", "")) for output in cell.outputs)
            given = "✗" if grade_id(cell) == "check_mean_over_time" else "still to do"
            assert given in said
        for output in cell.get("outputs", []):
            assert not (output.output_type == "stream" and output.name == "stderr"), output.text


@pytest.mark.parametrize("path", sorted(ROOT.glob("solutions/*/*.ipynb")), ids=lambda path: path.stem)
def test_committed_solutions_got_everything_in_a_kernel(path):
    graded = [cell for cell in nbformat.read(path, as_version=4).cells if is_grade(cell)]
    assert graded
    for cell in graded:
        score, maximum = determine_grade(cell)
        assert score == maximum
