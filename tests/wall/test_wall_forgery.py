"""A student who wants points without answers: by reading what is not theirs, or by forging frames and scores.

Every attack is a notebook that is really graded: it must end with an explicit status, gain nothing and cost
nobody else anything. What the confinement itself keeps out is tested in test_confine_*.py.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import nbformat
import pytest
from _pytest.mark import ParameterSet

from autograder.checking.remote.submission import Submission
from autograder.checking.runner.check import CheckResult
from autograder.checking.runner.collection import collect
from autograder.grading.judging.judge import Graded
from autograder.grading.workers.client import NO_ANSWER
from autograder.grading.workers.forkserver import ForkServer
from autograder.protocol.answers import CellRan
from autograder.protocol.messages import RunCell
from autograder.verdict import CheckVerdict
from tests.support.helpers import (
    QUICK,
    SEED,
    answer,
    cell_named,
    code_cell,
    make_bundle,
    make_course,
    outcomes,
    outputs_text,
    released,
    run_judge,
    scores,
    solved,
    submission,
)
from tests.support.hostile.wall import (
    ALL,
    ANSWERING,
    BAD_CELLS,
    ENDED,
    FORGE,
    FORGERIES,
    FRAMES,
    LARGE_CELLS,
    LARGEST,
    NOTHING,
    ODD_CELLS,
    READ,
    REFUSED,
    SEEN,
    SILENT,
    SPY,
    indented,
)

OVER = "attack over"


def in_turn(names: Iterable[str]) -> list[ParameterSet]:
    """Return parameters of which `make test` takes every sixteenth, and `make test-all` the others."""
    return [
        pytest.param(name, marks=pytest.mark.slow if place % 16 else ()) for place, name in enumerate(names)
    ]


# --- Reading -----------------------------------------------------------------------------------


def test_a_spy_finds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GRADING_TOKEN", "hunter2-in-the-clear")
    course = make_course(tmp_path)
    (tmp_path / "submitted/ada").mkdir(parents=True)
    patient = replace(QUICK, cell_seconds=20.0)  # a spy takes its time, and nothing hangs here
    with ForkServer(patient) as fresh:  # started with the token in its caller's environment
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


@contextmanager
def in_a_worker(
    workers: ForkServer, code: str
) -> Iterator[tuple[Submission, Callable[[str], list[CheckResult]]]]:
    """Run the solved notebook in a worker, and this code behind it.

    Gives the student's objects, and what runs a task's checks there: they leave what the code has noted.
    """
    worker = workers.spawn()
    student = Submission(lambda messages: worker.perform(messages, QUICK.call_seconds))
    sources = [cell_named(solved(), name)["source"] for name in ("setup", *ALL)]
    with make_bundle().checks_folder() as folder:
        checks = collect(folder)
        try:
            for source in (*sources, code):
                (ran,) = worker.perform([RunCell(source=source)], 5)
                assert isinstance(ran, CellRan)
                assert ran.error is None, ran.error
            yield student, lambda task: checks.run(task, student, seed=SEED, include_hidden=True)
        finally:
            workers.leave(worker)


def test_requests_hold_no_answer_and_not_the_seed(quick_workers: ForkServer):
    """Every message a worker is sent, told by the student's own code: inputs only."""
    spy = """
import msgspec
from autograder.worker.session.executor import Executor
real, names, words, numbers = Executor.answers_to, set(), set(), set()
def note(value):
    if isinstance(value, msgspec.Struct):
        words.add(type(value).__name__)
        for name in value.__struct_fields__:
            names.add(name)
            note(getattr(value, name))
    elif isinstance(value, dict):
        note(list(value)), note(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for each in value: note(each)
    elif isinstance(value, str) and "\\n" not in value:
        words.add(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        numbers.add(value)
def answers_to(self, batch):
    note([message for message in batch if type(message).__name__ != "RunCell"])
    return real(self, batch)
Executor.answers_to = answers_to
def told():
    return sorted(names), sorted(words), sorted(numbers)
"""
    with in_a_worker(quick_workers, spy) as (student, judged):
        assert {result.outcome for task in ALL for result in judged(task)} == {"passed"}
        names, words, numbers = map(set, student.told())
    fields = (
        "args arguments as_made assembled call computed default_dtype device dtype grad "
        "gradients kwargs made method name number numpy on_cpu packed path seed source "
        "state target text trace unanswered weights"
    )
    assert {"args", "target", "seed", "weights"} <= names <= set(fields.split())
    assert {"Begin", "Call", "ProbeCall", "lstm_cell"} <= words
    assert not [word for word in words if re.search("test_|answer|expected|right|solution", word)]
    assert max(numbers) > 2**40, "the seed of the student's own generator"
    assert SEED not in numbers


# --- Forging -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORGERIES)
def test_an_unsolved_notebook_gains_nothing(name: str, quick_workers: ForkServer):
    attack = f"{dedent(FORGERIES[name])}\nprint('{OVER}')"
    graded = run_judge(submission(base=released(), before=attack, end=attack), quick_workers)
    assert scores(graded) == NOTHING
    cells = nbformat.reads(graded.notebook, as_version=4).cells
    assert _nbgrader_scores(cells) == 0
    if name in ENDED:  # the answer to the very cell that it is in is forged, or cannot be made any more
        assert any("An added cell ended its process" in f.message for f in graded.verdict.findings)
    else:
        assert OVER in outputs_text(graded)
    said = [check.message for task in graded.verdict.tasks for check in task.checks]
    asked = any(message.startswith("Not written yet") for message in said)
    assert asked != (name in ANSWERING), "whether the released cells themselves were asked"


def _nbgrader_scores(cells: list) -> float:
    from nbgrader.utils import determine_grade

    marked = [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("grade")]
    return sum(determine_grade(cell)[0] for cell in marked)


def forged(code: str, quick_workers: ForkServer) -> dict[str, CheckVerdict]:
    """Return the checks of `copy_from_torch` where the reply to one of its calls is forged by this code.

    All that the code is not about is as it should be.
    """
    source = answer("copy_from_torch", append=FORGE + indented(dedent(code)))
    graded = run_judge(submission({"copy_from_torch": source}), quick_workers)
    assert graded.verdict.status == "graded"
    assert scores(graded) == {**ALL, "copy_from_torch": 1.5}
    told = {check.check: check for task in graded.verdict.tasks for check in task.checks}
    assert not set("\x00\x07\x1b\x9b") & set("".join(check.message for check in told.values()))
    told = {name: told[name] for name in outcomes(graded, "copy_from_torch")}
    assert [told.pop(name).outcome for name in ("same_step", "any_size", "still_trainable")] == ["passed"] * 3
    return told


@pytest.mark.parametrize("name", in_turn(FRAMES))
def test_whatever_frame_comes_costs_its_own_check(name: str, quick_workers: ForkServer):
    started = time.monotonic()
    told = forged(FRAMES[name], quick_workers)
    assert time.monotonic() - started < 10
    check, after = told["is_a_copy"], told["dtype"]
    if name in READ:
        assert check.outcome in ("error", "failed"), "what was forged has arrived"
        # A worker that goes on after an answer that stops has answered too much.
        assert (after.outcome, after.message) in (("passed", ""), ("crashed", NO_ANSWER))
        assert len(check.message) < 2500
        assert check.printed is None or len(check.printed.text) < 10_000
        return
    assert after.outcome == "passed"
    if name in REFUSED:
        assert (check.outcome, check.message) == ("crashed", NO_ANSWER)
    elif name in LARGEST:
        assert check.outcome in ("crashed", "timeout")
    elif name in SILENT:
        assert (check.outcome, "did not answer within" in check.message) == ("timeout", True)
    else:
        assert (check.outcome, "ended the process" in check.message) == ("crashed", True)


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("extra.append(whole(answers.Done()))\nreturn answer", "passed"),
        ("extra.extend([whole(answer)] * 1000)\nreturn answer", "passed"),
        ("extra.append(whole(answer, _numbers[-1] + 1))\nreturn answer", "passed"),
        ("extra.append(whole(answer))\nreturn answers.Raised(type='T', message='m')", "error"),
        ("extra.append(frame(os.urandom(100)))\nreturn answers.Missing()", "error"),
        ("return whole(answer) * 2", "error"),
        ("return whole(answer) * 40", "error"),
    ],
    ids=[
        "one more",
        "a thousand more",
        "one in advance",
        "after an exception",
        "noise after a stop",
        "one twice",
        "one for all",
    ],
)
def test_replies_beyond_those_asked_for_answer_nothing(code: str, outcome: str, quick_workers: ForkServer):
    """What is left over when a batch is answered is no answer to the next one, and ends the worker there."""
    told = forged(code, quick_workers)
    assert told["is_a_copy"].outcome == outcome
    assert (told["dtype"].outcome, told["dtype"].message) == ("crashed", NO_ANSWER)


def lying(name: str) -> str:
    """Return the code that lies about what was seen, in every answer of a kind, unless that is an attribute."""
    kind, fields = SEEN[name]
    return f"""{FORGE}    return replace(answer, {fields})
def wanted(message, answer):
    return isinstance(answer, answers.{kind}) and type(message) not in (messages.RunCell, messages.Attribute)
"""


@pytest.mark.parametrize("name", in_turn(SEEN))
def test_whatever_is_said_to_have_been_seen_is_no_fault_of_a_check(name: str, quick_workers: ForkServer):
    """It may cost the checks that want to know it, and no more."""
    with in_a_worker(quick_workers, lying(name)) as (student, judged):
        seen = [(result.check.name, result.outcome, result.message) for result in judged("LSTMCell")]
        assert len(student.forged.attribute()) > 0, "what was forged has arrived"
    assert {outcome for _, outcome, _ in seen} <= {"passed", "failed", "error", "skipped"}, seen


@pytest.mark.parametrize(
    "name",
    [
        "a device of its own",
        "an error of the machine's",
        "names without an end",
        "a device without an end",
        "a text for a value",
        "output that steers",
    ],
)
def test_whatever_is_said_to_have_been_seen_can_be_shown(name: str, quick_workers: ForkServer):
    graded = run_judge(submission(before=lying(name)), quick_workers)
    assert graded.verdict.status == "graded"
    told = json.dumps(graded.verdict.as_json(), ensure_ascii=False)
    assert not set("\x00\x07\x1b\x9b") & set(graded.notebook + told)
    assert len(graded.notebook + told) < 500_000


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        ("[5] * len(batch)", "crashed"),
        ("[{}] * len(batch)", "crashed"),
        ("[None, 2, 3]", "crashed"),
        ("[]", "timeout"),
        ("[answers.Done()]", "timeout"),
        ("[answers.Done()] * len(batch)", "error"),
        ("[answers.Raised(type='', message='')]", "error"),
        ("[answers.Missing()]", "error"),
        ("[answers.NoModule(value=None)]", "error"),
        ("[answers.Called(value=None, attached=())] * len(batch)", "error"),
        ("list(real(self, batch))[::-1]", "error"),
    ],
)
def test_what_is_no_answer_to_several_calls_costs_the_check(
    told: str, outcome: str, quick_workers: ForkServer
):
    """All that is asked in one exchange is answered otherwise, for one task."""
    attack = f"""
from autograder.protocol import answers
from autograder.worker.session.executor import Executor
real = Executor.answers_to
def answers_to(self, batch):
    about = [message.target.name for message in batch if hasattr(message, "target")]
    return iter({told}) if "lstm_gates" in about else real(self, batch)
Executor.answers_to = answers_to
"""
    graded = run_judge(submission(before=attack), quick_workers)
    assert graded.verdict.status == "graded"
    kept = scores(graded)
    assert {**kept, "lstm_gates": ALL["lstm_gates"]} == ALL
    assert kept["lstm_gates"] == 0
    seen = set(outcomes(graded, "lstm_gates").values())
    assert outcome in seen, seen


@pytest.mark.slow
def test_several_calls_have_the_time_of_one(quick_workers: ForkServer):
    """What hangs costs no more of the submission's time than it would by itself."""
    slow = """
import time
from autograder.worker.session.executor import Executor
real, calls = Executor.answers_to, []
def answers_to(self, batch):
    about = [message.target.name for message in batch if hasattr(message, "target")]
    if not calls and about.count("lstm_gates") > 1:
        calls.append(time.sleep(%s))
    return real(self, batch)
Executor.answers_to = answers_to
"""
    assert scores(run_judge(submission(before=slow % 0.3), quick_workers)) == ALL
    graded = run_judge(submission(before=slow % 3), quick_workers)
    assert "timeout" in outcomes(graded, "lstm_gates").values()
    assert scores(graded)["lstm_cell"] > 0, "the tasks after it are judged in time"


def with_a_false_shell(told: str, quick_workers: ForkServer) -> Graded:
    """Return what comes of a solved notebook in which each cell behind the last task is said to show this."""
    forged = f"{FORGE}    return answer\nshell.Shell.run = lambda self, source, count=None: {told}"
    return run_judge(
        submission({"copy_from_torch": answer("copy_from_torch", append=forged)}, end="1 + 1"), quick_workers
    )


@pytest.mark.parametrize("name", BAD_CELLS)
def test_what_is_no_answer_to_a_cell_costs_the_cell(name: str, quick_workers: ForkServer):
    graded = with_a_false_shell(BAD_CELLS[name], quick_workers)
    assert (graded.verdict.status, scores(graded)) == ("graded", ALL)
    assert NO_ANSWER in outputs_text(graded)
    assert "crashed" in [finding.kind for finding in graded.verdict.findings]


@pytest.mark.parametrize("name", LARGE_CELLS)
def test_outputs_that_do_not_travel_cost_the_outputs(name: str, quick_workers: ForkServer):
    graded = with_a_false_shell(LARGE_CELLS[name], quick_workers)
    assert (graded.verdict.status, scores(graded)) == ("graded", ALL)
    assert "too large, or in too many parts, to be kept" in outputs_text(graded)
    assert "crashed" not in [finding.kind for finding in graded.verdict.findings]


@pytest.mark.parametrize("name", ODD_CELLS)
def test_whatever_a_cell_is_said_to_have_shown(name: str, quick_workers: ForkServer):
    shown = "{'output_type': 'stream', 'name': 'stdout', 'text': 'forged'}"
    told = f"answers.CellRan(outputs=[{shown}, *{ODD_CELLS[name]}])"
    graded = with_a_false_shell(told, quick_workers)
    assert (graded.verdict.status, scores(graded)) == ("graded", ALL)
    assert "forged" in outputs_text(graded)
    assert not {finding.kind for finding in graded.verdict.findings} - {"unusual_code"}


FLOODS = {
    "a text": "[{'output_type': 'stream', 'name': 'stdout', 'text': 'x' * 3_500_000}] * 2",
    "an exception's name": "[{'output_type': 'error', 'ename': 'x' * 7_000_000, 'evalue': '', 'traceback': []}]",
    "an exception's message": "[{'output_type': 'error', 'ename': '', 'evalue': 'x' * 7_000_000, 'traceback': []}]",
    "a traceback": "[{'output_type': 'error', 'ename': '', 'evalue': '', 'traceback': ['x' * 70_000] * 100}]",
    "a display": "[{'output_type': 'display_data', 'data': {'text/plain': 'x' * 3_500_000}}] * 2",
}  # fmt: skip


@pytest.mark.parametrize("name", FLOODS)
@pytest.mark.slow
def test_outputs_that_a_replaced_shell_does_not_cap_are_capped(name: str, quick_workers: ForkServer):
    told = f"answers.CellRan(outputs={FLOODS[name]})"
    forged = f"{FORGE}    return answer\nshell.Shell.run = lambda self, source, count=None: {told}"
    data = json.loads(submission({"lstm_gates": answer("lstm_gates", append=forged)}))
    data["cells"] += [code_cell("1") for _ in range(20)]
    graded = run_judge(json.dumps(data).encode(), quick_workers)
    assert "the rest of the output was cut" in outputs_text(graded), "what was forged has arrived"
    assert len(graded.notebook) < 25_000_000


def test_outputs_that_a_replaced_shell_does_not_count_are_counted(quick_workers: ForkServer):
    many = "[{'output_type': 'execute_result', 'data': {'text/plain': '1'}}] * 3000"
    graded = with_a_false_shell(f"answers.CellRan(outputs={many})", quick_workers)
    assert scores(graded) == ALL
    assert "the rest of the output was cut" in outputs_text(graded), "what was forged has arrived"
    assert len(graded.notebook) < 1_000_000


@pytest.mark.parametrize("number", ["_numbers[-1]", "_numbers[-1] + 1", "next(counted)"])
def test_an_answer_sent_unasked_is_not_taken_for_one(number: str, quick_workers: ForkServer):
    """A thread that writes into the stream desynchronises it: that ends the worker, it never shifts the answers.

    One that knows what is being asked says what it likes in the place of all, which no check takes for right.
    """
    queued = f"""{FORGE}    return answer
import itertools
counted = itertools.count()
yes = answers.Called(value=(torch.ones(5, 7),) * 4, attached=(True,) * 4)
def _send():
    for _ in range(2000):
        write(whole(yes, {number}))
        time.sleep(0.01)
threading.Thread(target=_send, daemon=True).start()
"""
    waits = "def lstm_gates(x, h, *_):\n    time.sleep(0.5)\n    return (torch.sigmoid(h),) * 4"
    graded = run_judge(submission({"lstm_gates": waits}, before=queued, base=released()), quick_workers)
    assert graded.verdict.score == 0
    assert graded.verdict.status in ("graded", "crashed", "timeout")
    told = [check.message for task in graded.verdict.tasks for check in task.checks]
    told += [outputs_text(graded)]
    assert any(NO_ANSWER in each for each in told), "what was forged has arrived"


def test_a_forked_copy_of_the_worker_cannot_answer_later_questions(quick_workers: ForkServer):
    fork = "def lstm_gates(*a):\n    import os\n    os.fork()\n    return None"
    graded = run_judge(submission({"lstm_gates": fork}), quick_workers)
    assert scores(graded) == {**ALL, "lstm_gates": 0.0, "lstm_cell": 0.0}
