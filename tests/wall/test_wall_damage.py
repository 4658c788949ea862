"""A student whose code breaks things: it returns evil values, dies, hangs, or takes all memory.

Every attack is a notebook that is really graded: it must end with an explicit status, gain nothing and cost
nobody else anything. What the confinement itself keeps out is tested in test_confine_*.py.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.checking.remote.errors import WorkerLost
from autograder.checking.runner.checks import Checks
from autograder.grading.judging.judge_pool import Setting, work_off
from autograder.grading.workers.client import Worker
from autograder.grading.workers.forkserver import ForkServer, RunLimits
from autograder.protocol.answers import CellRan
from autograder.protocol.messages import RunCell
from tests.support.helpers import (
    QUICK,
    SEED,
    answer,
    make_bundle,
    outcomes,
    released,
    run_judge,
    scores,
    submission,
    workers_of,
)
from tests.support.hostile.wall import ALL, DEATHS, LOST, indented

pytestmark = pytest.mark.slow

# --- Evil values -------------------------------------------------------------------------------

VALUES = {
    "a pickle that runs": "class E:\n    def __reduce__(self): return (print, ('owned',))\n  return E()",
    "a subclass that lies": "class L(torch.Tensor):\n    shape = (5, 7)\n    def __eq__(s, o): return True\n  return (torch.zeros(2).as_subclass(L),) * 4",
    "a class that lies about itself": "class L:\n    __class__ = torch.Tensor\n    shape = (1,)\n  return (L(),) * 4",
    "evil words": "class E:\n    def __repr__(s): raise SystemExit\n    __str__ = __len__ = __iter__ = __eq__ = __hash__ = __repr__\n  return E()",
    "an endless iterator": "class E(list):\n    def __iter__(s):\n      while True: yield 1\n  return E()",
    "a generator": "return (x for x in range(10))",
    "itself": "value = []; value.append(value); return value",
    "a dict of a million": "return dict.fromkeys(range(10**6))",
    "a list of a million": "return [0.0] * 10**6",
    "a text of a hundred megabytes": "return 'x' * 10**8",
    "a tensor of 128 megabytes": "return torch.zeros(2**24, dtype=torch.float64)",
    "an expanded tensor of terabytes": "return (torch.zeros(1).expand(10**12),) * 4",
    "half": "return tuple(torch.zeros(x.shape[0], h.shape[1]).half() for _ in range(4))",
    "complex": "return tuple(torch.zeros(x.shape[0], h.shape[1], dtype=torch.complex64) for _ in range(4))",
    "float8": "return tuple(torch.zeros(x.shape[0], h.shape[1]).to(torch.float8_e4m3fn) for _ in range(4))",
    "uint16": "return tuple(torch.zeros(x.shape[0], h.shape[1], dtype=torch.uint16) for _ in range(4))",
    "sparse": "return (h.to_sparse(),) * 4",
    "quantized": "return (torch.quantize_per_tensor(torch.zeros(2), 0.1, 0, torch.qint8),) * 4",
    "meta": "return (h.to('meta'),) * 4",
    "nested": "return (torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]),) * 4",
    "negated and conjugated": "return (torch.zeros(2, 3, dtype=torch.complex64).conj().imag,) * 4",
    "functional": "return (torch._to_functional_tensor(h),) * 4",
    "in a vmap": "kept = []; torch.func.vmap(lambda a: (kept.append(a), a)[1])(h); return (kept[0],) * 4",
    "not finite": "return (h * float('nan'),) * 4",
    "hooks that exit": "y = (h * 1.0).requires_grad_() if not h.requires_grad else h * 1.0; y.register_hook(lambda g: __import__('os')._exit(1)); return (y,) * 4",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "SystemExit": "raise SystemExit(10)",
    "GeneratorExit": "raise GeneratorExit",
    "an exception that cannot be told": "class E(Exception):\n    def __str__(s): raise E\n  raise E",
    "an exception that exits when told": "class E(Exception):\n    def __str__(s): raise SystemExit\n  raise E",
    "an exception of a hundred megabytes": "raise ValueError('x' * 10**8)",
    "an exception with another name": "raise type('CheckFailed' * 1000, (BaseException,), {})('passed')",
    "recursion": "return lstm_gates(x, h, *a)",
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_whatever_is_returned_costs_only_its_task(name: str, quick_workers: ForkServer):
    body = VALUES[name].replace("; ", "\n  ").replace("\n  ", "\n    ")
    graded = run_judge(submission({"lstm_gates": f"def lstm_gates(x, h, *a):\n    {body}"}), quick_workers)
    assert graded.verdict.status == "graded"
    assert scores(graded) == {**ALL, "lstm_gates": 0.0, "lstm_cell": 0.0}


# --- Killing and hanging -----------------------------------------------------------------------


@pytest.mark.parametrize("name", DEATHS)
def test_a_death_in_a_call_costs_its_check(name: str, quick_workers: ForkServer):
    deadly = "def copy_from_torch(cell, torch_cell):\n" + indented(DEATHS[name])
    started = time.monotonic()
    graded = run_judge(submission({"copy_from_torch": deadly}), quick_workers)
    assert time.monotonic() - started < 15
    assert graded.verdict.status == "graded"
    assert scores(graded) == LOST
    told = outcomes(graded, "copy_from_torch")
    assert told.pop("same_step") in ("crashed", "timeout", "error")
    assert set(told.values()) == {"skipped"}


@pytest.mark.parametrize(
    "name", ["exit", "segfault", "endless", "no descriptors", "memory", "a child that stays"]
)
def test_a_death_in_a_cell_costs_what_needs_the_cell(name: str, quick_workers: ForkServer):
    graded = run_judge(
        submission({"copy_from_torch": answer("copy_from_torch", append=DEATHS[name])}), quick_workers
    )
    assert graded.verdict.status in ("crashed", "timeout", "out_of_memory", "graded")
    assert {**scores(graded), "copy_from_torch": 0.0} == LOST


def test_a_hang_for_one_dtype_costs_the_check_of_dtypes(quick_workers: ForkServer):
    hang = answer("lstm_gates", append="").replace(
        "    ### BEGIN SOLUTION", "    while x.dtype == torch.bfloat16: pass"
    )
    graded = run_judge(submission({"lstm_gates": hang}), quick_workers)
    told = outcomes(graded, "lstm_gates")
    assert (told.pop("dtype"), told.pop("device")) == ("timeout", "skipped")
    assert set(told.values()) == {"passed"}
    assert scores(graded)["LSTMCell"] == 4


@pytest.mark.parametrize("place", ["__init__", "forward", "__del__", "__getattr__"])
def test_a_hang_in_a_module(place: str, quick_workers: ForkServer):
    hang = f"LSTMCell.{place} = lambda self, *a: [None for _ in iter(int, 1)]"
    graded = run_judge(submission({"LSTMCell": answer("LSTMCell", append=hang)}), quick_workers)
    assert graded.verdict.status == "graded"
    assert scores(graded)["lstm_gates"] == scores(graded)["lstm_cell"] == 2
    assert graded.verdict.seconds < QUICK.total_seconds + 5


def test_cells_that_never_end_leave_the_answers_their_points(quick_workers: ForkServer):
    """The student's own experiments may hang, one after the other: the answers between them are graded."""
    hang = "while True: pass"
    after = dict.fromkeys(("lstm_gates", "lstm_cell", "LSTMCell", "copy_from_torch"), hang)
    graded = run_judge(submission(before=hang, after=after, end=hang), quick_workers)
    assert scores(graded) == ALL
    assert "not_run" in [finding.kind for finding in graded.verdict.findings]


SLOW = """
import time
from autograder.worker.session.executor import Executor
_real = Executor.answers_to
def _slow(self, batch):
    if type(batch[0]).__name__ != "RunCell":
        time.sleep(1.2)
    return _real(self, batch)
Executor.answers_to = _slow
"""


def test_a_hostile_submission_takes_no_longer_than_its_limit(quick_workers: ForkServer):
    """Just within every limit, everywhere: the total is what ends it."""
    limits, quick_workers.limits = quick_workers.limits, RunLimits(1.5, 1.5, 8.0)
    try:
        started = time.monotonic()
        graded = run_judge(submission(before=SLOW), quick_workers)
    finally:
        quick_workers.limits = limits
    assert time.monotonic() - started < 8 + 4
    assert graded.verdict.seconds > 6, "it was slow"
    assert "timeout" in {c.outcome for t in graded.verdict.tasks for c in t.checks}


def test_a_death_is_never_blamed_on_the_machine(quick_workers: ForkServer):
    """The supervisor's last word and the judge's order to kill cross each other; neither may be lost."""
    for _ in range(25):
        worker = quick_workers.spawn()
        with pytest.raises(WorkerLost) as lost:
            worker.perform([RunCell(source="import os; os._exit(0)")], 5)
        assert lost.value.reason == "crashed"


def left(workers: ForkServer) -> Worker:
    """A worker that was at work."""
    worker = workers.spawn()
    assert worker.perform([RunCell(source="pass")], 5) == [CellRan(outputs=[])]
    workers.leave(worker)
    assert worker.report is None, "it was waited for"
    return worker


def test_a_worker_that_was_left_ends_by_itself(quick_workers: ForkServer):
    worker = left(quick_workers)
    wait_for_the_children(quick_workers)
    quick_workers.wait_for_left()
    assert worker.report["exit"] == "killed"


def test_a_worker_that_was_left_is_waited_for(quick_workers: ForkServer):
    """Two that were left are never there at once, and `wait_for_left` ends the last one."""
    before = None
    for _ in range(5):
        worker = left(quick_workers)
        assert before is None or before.report["exit"] == "killed"
        assert len(workers_of(quick_workers)) <= 4  # a supervisor and a worker each
        before = worker
    quick_workers.wait_for_left()
    assert worker.report["exit"] == "killed"
    wait_for_the_children(quick_workers)


def test_a_parent_that_is_closed_waits_for_the_worker_that_was_left():
    with ForkServer(QUICK) as parent:
        worker = left(parent)
    assert worker.report["exit"] == "killed"


def test_a_worker_is_prepared_once_and_used_or_ended(quick_workers: ForkServer):
    quick_workers.prepare()
    quick_workers.prepare()
    left(quick_workers)
    quick_workers.wait_for_left()
    wait_for_the_children(quick_workers)  # there was but one
    assert run_judge(b"{", quick_workers).verdict.status == "corrupt"
    wait_for_the_children(quick_workers)
    with ForkServer(QUICK) as parent:
        parent.prepare()
        assert parent._prepared is not None
        _, prepared = parent._prepared
    assert prepared.report is not None, "its end was not waited for"


def wait_for_the_children(workers: ForkServer) -> None:
    deadline = time.monotonic() + 2  # from its last word to its exit
    while workers_of(workers):
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Left:
    """In a worker's place, where one was left: writes down when it is waited for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def stop(self) -> None: ...

    def end(self) -> None:
        self.path.write_text("waited for")


@dataclass(frozen=True)
class Leaving:
    """A judge's job: look whether one was waited for, and leave another."""

    before: Path
    after: Path

    def run(self, setting: Setting, checks: Checks) -> bool:
        waited_for = self.before.exists()
        setting.workers.leave(Left(self.after))
        return waited_for


def test_a_judge_has_no_share_in_a_worker_that_was_left_and_waits_for_its_own(
    quick_workers: ForkServer, tmp_path: Path
):
    job = Leaving(tmp_path / "before", tmp_path / "after")
    quick_workers.leave(Left(job.before))
    assert list(work_off([job], 1, Setting(make_bundle(), SEED, quick_workers))) == [(job, True)]
    assert job.after.exists()


def test_a_cell_that_asks_for_too_much_memory_is_told_so_and_costs_its_task(quick_workers):
    hog = "hog = torch.ones(20_000_000_000)"
    verdict = run_judge(submission({"lstm_gates": hog}, base=released()), quick_workers).verdict
    assert verdict.status == "out_of_memory"
    (first, *_) = verdict.tasks[0].checks
    assert "more memory" in first.message
