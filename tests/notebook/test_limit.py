"""A call that does not return is stopped in the student's own kernel, on every system that has Jupyter."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from msgspec.structs import replace

from autograder.protocol import answers
from autograder.protocol.messages import Call, ProbeCall, Target
from autograder.worker.session.calls.limit import CALL_SECONDS, Limit
from autograder.worker.session.executor import Executor
from tests.support.environments.kernels import kernel
from tests.support.helpers import ASSIGNMENT, ROOT, answer

LOOPS = {
    "that does nothing": "while True: pass",
    "that catches every error": "while True:\n  try: time.sleep(.05)\n  except Exception: pass",
    "whose end is an error": "try:\n  while True: pass\n finally: n = 1",
    "that catches it once": "try:\n  while True: pass\n except BaseException: pass\n while True: pass",
    "in torch's functions": "x = torch.zeros(3)\n while True: x = torch.tanh(x)",
}


def student(body: str):
    """A function as a cell defines it."""
    names = {"time": time, "torch": torch}
    exec(compile(f"def f(*_):\n {body}\n", "<ipython-input-1>", "exec"), names)
    return names["f"]


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_left_in_any_thread(name):
    handler, started = signal.getsignal(signal.SIGALRM), time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        there = pool.submit(Limit(0.2).run, student(LOOPS[name]))
        for late in (Limit(0.2).run(student(LOOPS[name])), there.result()):
            assert late.seconds == 0.2
            assert late.line.startswith("line ")
    assert time.monotonic() - started < 20
    assert signal.getsignal(signal.SIGALRM) == handler


def test_what_is_ours_is_put_back():
    executor = Executor({"f": student("while True: torch.zeros(2, 2) @ torch.zeros(2, 2)")}, Limit(0.2, 0.2))
    stdout = sys.stdout
    call = Call(target=Target("f"), default_dtype="float64")
    for message in (call, replace(call, grad=True), ProbeCall(target=Target("f"), device="pretend")):
        (told,) = executor.perform([message])
        assert isinstance(told, answers.Late)
        assert told.seconds == 0.2
        assert told.line.startswith("line ")
        assert torch.get_default_dtype() == torch.float32
        assert sys.stdout is stdout
        assert torch.is_grad_enabled()
        assert not torch.utils._python_dispatch._get_current_dispatch_mode_stack()


def test_a_call_that_returns_is_left_alone():
    limit = Limit(0.5)
    assert [limit.run(student(f"return {n}")) for n in range(50)] == list(range(50))
    with pytest.raises(ZeroDivisionError):
        limit.run(student("return 1 / 0"))
    assert limit.seconds == 0.5


def test_a_limit_inside_another_does_not_lengthen_it():
    inner, outer, started = Limit(30), Limit(0.3), time.monotonic()
    late = outer.run(lambda: inner.run(student("while True: pass")))
    assert late.seconds == 0.3
    assert inner.seconds == 30
    assert time.monotonic() - started < 20


def test_a_timer_of_the_process_is_left_alone():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        Limit(5).run(student("time.sleep(.3)"))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert rung == [1]


def test_after_one_call_was_stopped_there_is_less_time_for_the_others():
    limit = Limit(0.3, 0.1)
    assert [limit.run(student("while True: pass")).seconds for _ in range(3)] == [0.3, 0.1, 0.1]


def test_one_of_several_calls_is_late_and_the_others_are_not_made():
    executor = Executor({"f": student("while True: pass"), "g": student("return 1")}, Limit(0.2))
    told = executor.perform([Call(target=Target(name)) for name in "gfg"])
    assert [type(answer) for answer in told] == [answers.Called, answers.Late]


def test_the_limit_is_far_beyond_what_a_slow_machine_takes():
    """The slowest call of a solution takes some 0.4 seconds on a busy machine."""
    assert CALL_SECONDS >= 20


ENDLESS = """def lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh):
    print("here I am")
    if len(x) > 1 or x.requires_grad:
        return _gates(x, h, w_ih, w_hh, b_ih, b_hh)
    while True:
        x = torch.tanh(x)
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("student")
    for file in (ROOT / "release" / ASSIGNMENT).glob("*.*"):
        shutil.copyfile(file, folder / file.name)
    with kernel(folder) as session:
        session.run("import torch, math, time\nfrom torch import nn\nfrom autograder import check")
        session.run(answer("lstm_gates") + "\n_gates = lstm_gates\n")
        session.run(
            "from autograder.worker.session.calls import limit\n"
            "limit.CALL_SECONDS = limit.LATER_SECONDS = 1.5"
        )
        yield session


def test_a_loop_ends_in_a_sentence_and_the_other_checks_go_on(session):
    session.run(ENDLESS)
    shown = session.run('check("lstm_gates")')
    first, *rest = [line.strip() for line in shown.text.splitlines() if line.strip()[:1] in "✓✗–"]
    assert "(took too long" in first
    assert any("(passed" in line for line in rest)
    said = " ".join(shown.text.split())
    assert "`lstm_gates` with inputs of shape (1, " in said
    assert "had not returned after 1.5 seconds: look for a loop that never ends." in said
    assert "When it was stopped it was at line " in said
    assert "| here I am" in shown.text
    assert shown.printed == shown.error == ""
    assert session.run("torch.get_default_dtype(), 6 * 7").results == ["(torch.float32, 42)"]
    session.run(answer("lstm_gates"))
    assert "everything holds" in session.run('check("lstm_gates")').text


def test_an_interrupt_is_the_students_own_and_ends_in_a_line(session):
    session.run("limit.CALL_SECONDS = 60")
    session.run("def lstm_gates(*_):\n    while True: time.sleep(0.01)\n")
    started = time.monotonic()
    shown = session.run('check("lstm_gates")', interrupt_after=2)
    assert time.monotonic() - started < 30
    session.run("limit.CALL_SECONDS = 1.5")
    assert shown.error == "Interrupted while `lstm_gates` was checked: run the cell again whenever you like."
    assert shown.cards == []
    session.run(answer("lstm_gates"))
    assert "everything holds" in session.run('check("lstm_gates")').text


@pytest.mark.slow
def test_whoever_is_asked_for_input_may_take_his_time(session):
    """The answer to a question, or to a debugger's prompt, comes after the limit."""
    ask = "def lstm_gates(*arguments):\n    if not asked: asked.append(input('? '))\n"
    session.run(f"asked = []\n{ask}    return _gates(*arguments)\n")
    assert "everything holds" in session.run('check("lstm_gates")', answers_after=3).text
    assert session.run("asked").results == ["['yes']"]
