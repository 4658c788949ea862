"""A student who wants points without answers: by reading what is not theirs, or by forging frames and scores.

Every attack is a notebook that is really graded: it must end with an explicit status, gain nothing and cost
nobody else anything. What the confinement itself keeps out is tested in test_confine_*.py.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import nbformat
import pytest

from autograder.grading.workers.forkserver import ForkServer
from tests.support.helpers import (
    QUICK,
    SEED,
    answer,
    make_course,
    outcomes,
    outputs_text,
    released,
    run_judge,
    scores,
    submission,
)
from tests.support.wall import ALL, FORGE, FORGERIES, FRAMES, LOST, NOTHING, SPY

# --- Reading -----------------------------------------------------------------------------------


def test_a_spy_finds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GRADING_TOKEN", "hunter2-in-the-clear")
    course = make_course(tmp_path)
    (tmp_path / "submitted/ada").mkdir(parents=True)
    with ForkServer(QUICK) as fresh:  # started with the token in its caller's environment
        graded = run_judge(submission(before=SPY), fresh)
    assert scores(graded) == ALL
    seen = outputs_text(graded)
    assert "ENVIRON" in seen
    assert "STRINGS" in seen, "the spy came to its end"
    for secret in ("hunter2", str(tmp_path), str(course.root), str(SEED), "gradebook", "test_LSTMCell.py"):
        assert secret not in seen, secret
    for module in (
        "autograder.checking",
        "autograder.exercises",
        "autograder.grading",
        "autograder.reporting",
    ):
        assert module not in seen
    assert "BEGIN SOLUTION" not in seen
    assert "/release/" not in seen
    assert "/source/" not in seen


def test_requests_hold_no_answer_and_not_the_seed(quick_workers: ForkServer):
    """Every request a worker is sent, printed by the student's own code: inputs only."""
    spy = """
import autograder.worker.session.objects as objects
real = objects.Objects.perform
def perform(self, request):
    log.append({k: v for k, v in request.items() if k not in ("op", "number")})
    return real(self, request)
log, objects.Objects.perform = [], perform
"""
    # The log is told by raising it, which is what a student reads in the feedback.
    leak = (
        "def copy_from_torch(cell, torch_cell):\n    raise RuntimeError(repr([sorted(r) for r in log[-30:]]))"
    )
    graded = run_judge(submission({"copy_from_torch": leak}, before=spy), quick_workers)
    check = next(c for t in graded.verdict.tasks for c in t.checks if c.check == "same_step")
    known = ("name", "object", "path", "args", "kwargs", "grad", "kernels", "default_dtype", "seed", "call", "weights",
             "source", "state", "dtype", "arguments", "begin", "first", "make", "method", "device", "on_cpu", "backward",
             "trace", "autocast", "as_made", "call_seed", "as", "requests")  # fmt: skip
    for word in json.dumps(check.message).split("'")[1::2]:
        assert word in known, word
    assert str(SEED) not in check.message


# --- Forging -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORGERIES)
def test_an_unsolved_notebook_gains_nothing(name: str, quick_workers: ForkServer):
    from textwrap import dedent

    attack = dedent(FORGERIES[name])
    graded = run_judge(submission(base=released(), before=attack, end=attack), quick_workers)
    assert scores(graded) == NOTHING
    cells = nbformat.reads(graded.notebook, as_version=4).cells
    assert _nbgrader_scores(cells) == 0


def _nbgrader_scores(cells: list) -> float:
    from nbgrader.utils import determine_grade

    marked = [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("grade")]
    return sum(determine_grade(cell)[0] for cell in marked)


@pytest.mark.parametrize("name", FRAMES)
def test_whatever_frame_comes_costs_its_own_check(name: str, quick_workers: ForkServer):
    started = time.monotonic()
    graded = run_judge(
        submission({"copy_from_torch": answer("copy_from_torch", append=FORGE + "    " + FRAMES[name])}),
        quick_workers,
    )
    assert graded.verdict.status == "graded"
    kept = scores(graded)
    assert {task: kept[task] for task in LOST if task != "copy_from_torch"} == {
        t: p for t, p in ALL.items() if t != "copy_from_torch"
    }
    assert set(outcomes(graded, "copy_from_torch").values()) <= {
        "error",
        "crashed",
        "timeout",
        "skipped",
        "failed",
        "passed",
    }
    if "say(" in FRAMES[name]:
        assert "crashed" in outcomes(graded, "copy_from_torch").values(), "what was forged has arrived"
    assert time.monotonic() - started < 10
    assert not set("\x00\x07\x1b\x9b") & set(
        "".join(c.message for t in graded.verdict.tasks for c in t.checks)
    )


@pytest.mark.parametrize(
    "told",
    ["5", "[]", "[1, 2, 3]", "[{}] * 3", "[{'raised': 5}]", "[{'each': 5}] * 3", "[{'value': None}] * 3"],
)
def test_what_is_no_answer_to_several_calls_costs_the_check(told: str, quick_workers: ForkServer):
    """The operation that makes several calls is replaced, for one task."""
    attack = f"""
import autograder.worker.session.objects as objects
real = objects._OPERATIONS["each"]
def each(self, request):
    asked = [each.get("name") for each in request["requests"]]
    return {{"each": {told}}} if "lstm_gates" in asked else real(self, request)
objects._OPERATIONS["each"] = each
"""
    graded = run_judge(submission(before=attack), quick_workers)
    assert graded.verdict.status == "graded"
    kept = scores(graded)
    assert {**kept, "lstm_gates": ALL["lstm_gates"]} == ALL
    assert kept["lstm_gates"] < ALL["lstm_gates"]
    seen = set(outcomes(graded, "lstm_gates").values())
    # What is no answer at all ends the worker; what is one, and says nothing, the check.
    ended = told in ("5", "[1, 2, 3]", "[{'each': 5}] * 3")
    assert ("crashed" if ended else "error") in seen, seen


def test_several_calls_have_the_time_of_one(quick_workers: ForkServer):
    """What hangs costs no more of the submission's time than it would by itself."""
    slow = """
import time, autograder.worker.session.objects as objects
real, calls = objects._OPERATIONS["each"], []
def each(self, request):
    if not calls and len(request["requests"]) > 1:
        calls.append(time.sleep(%s))
    return real(self, request)
objects._OPERATIONS["each"] = each
"""
    assert scores(run_judge(submission(before=slow % 0.3), quick_workers)) == ALL
    graded = run_judge(submission(before=slow % 3), quick_workers)
    assert "timeout" in outcomes(graded, "lstm_gates").values()
    assert scores(graded)["lstm_cell"] > 0, "the tasks after it are judged in time"


@pytest.mark.parametrize(
    "told",
    [
        "{'outputs': 5, 'error': 'zz'}",
        "{'outputs': [1, {'output_type': 'stream'}, {'output_type': 'error', 'ename': 1, 'evalue': 2, 'traceback': 3}], 'error': 7}",
        "{'outputs': [{'output_type': 'error', 'ename': '', 'evalue': '', 'traceback': [[1], {}, 2]}], 'error': {'lines': 4}}",
        "{'raised': 3}",
        "7",
        "{'outputs': [{'output_type': 'stream', 'name': 'stdout', 'text': '\\ud800\\x00'}], 'error': None}",
    ],
)
def test_whatever_a_cell_is_said_to_have_shown(told: str, quick_workers: ForkServer):
    forged = FORGE + f"    return answer\nshell.Shell.run = lambda self, source: {told}"
    graded = run_judge(
        submission({"copy_from_torch": answer("copy_from_torch", append=forged)}, end="pass"), quick_workers
    )
    assert {**scores(graded), "copy_from_torch": 2.0} == ALL


def test_outputs_that_a_replaced_shell_does_not_cap_are_capped(quick_workers: ForkServer):
    flood = "{'outputs': [{'output_type': 'stream', 'name': 'stdout', 'text': 'x' * 3_500_000}] * 2, 'error': None}"
    forged = FORGE + f"    return answer\nshell.Shell.run = lambda self, source: {flood}"
    data = submission({"lstm_gates": answer("lstm_gates", append=forged)})
    data_cells = json.loads(data)
    data_cells["cells"] += [
        {"cell_type": "code", "source": "1", "metadata": {}, "outputs": []} for _ in range(20)
    ]
    graded = run_judge(json.dumps(data_cells).encode(), quick_workers)
    assert len(graded.notebook) < 25_000_000
    many = (
        "{'outputs': [{'output_type': 'execute_result', 'data': {'text/plain': '1'}}] * 3000, 'error': None}"
    )
    graded = run_judge(
        submission({"lstm_gates": answer("lstm_gates", append=forged.replace(flood, many))}), quick_workers
    )
    assert len(graded.notebook) < 1_000_000


def test_an_answer_sent_unasked_is_not_taken_for_one(quick_workers: ForkServer):
    """A thread that writes into the stream desynchronises it: that ends the worker, it never shifts the answers."""
    queued = (
        FORGE
        + """    return answer
def _send():
    time.sleep(0.05)
    for _ in range(200):
        write(b'{"dict":[["found",true],["value",{"tuple":[]}],["call",1],["number",1],["attached",[]]]}')
        time.sleep(0.01)
threading.Thread(target=_send, daemon=True).start()
"""
    )
    graded = run_judge(submission(before=queued, base=released()), quick_workers)
    assert graded.verdict.score == 0
    assert graded.verdict.status in ("graded", "crashed", "timeout")


def test_a_forked_copy_of_the_worker_cannot_answer_later_questions(quick_workers: ForkServer):
    fork = "def lstm_gates(*a):\n    import os\n    os.fork()\n    return None"
    graded = run_judge(submission({"lstm_gates": fork}), quick_workers)
    assert scores(graded) == {**ALL, "lstm_gates": 0.0, "lstm_cell": 0.0}
