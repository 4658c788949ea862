"""A student who wants points, or to break the batch: every attack is a notebook that is really graded.

Each must end with an explicit status, gain nothing and cost nobody else anything. What the
confinement itself keeps out is tested in test_confine_*.py; here it is what a graded notebook shows.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import psutil
import pytest
from helpers import (
    ASSIGNMENT,
    NOTEBOOK,
    QUICK,
    SEED,
    answer,
    assert_explicit,
    autograder,
    code_cell,
    make_course,
    outcomes,
    outputs_text,
    released,
    run_judge,
    scores,
    submission,
    submit,
)
from IPython.core.inputtransformer2 import TransformerManager

from autograder.grading.warm import RunLimits, WarmParent
from autograder.worker.shell import Transformers

ALL = {"lstm_gates": 2.0, "lstm_cell": 2.0, "LSTMCell": 4.0, "copy_from_torch": 2.0}
LOST = {**ALL, "copy_from_torch": 0.0}
NOTHING = dict.fromkeys(ALL, 0.0)


@pytest.fixture(scope="module")
def workers() -> Iterator[WarmParent]:
    with WarmParent(QUICK) as parent:
        yield parent


@pytest.fixture(autouse=True)
def nothing_left(workers: WarmParent) -> Iterator[None]:
    """Whatever a test ran, its processes are gone shortly after it."""
    yield
    deadline = time.monotonic() + 5
    while left := workers._process.pid and psutil.Process(workers._process.pid).children(recursive=True):
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.02)


# --- Reading -----------------------------------------------------------------------------------

SPY = r"""
import gc, os, sys
def told(deed):
    try:
        return deed()
    except BaseException as error:
        return type(error).__name__
def walk(top):
    found = []
    for here, folders, files in os.walk(top):
        folders[:] = [f for f in folders if f not in ("proc", "usr", "lib", "bin", "site-packages", "python3.11")]
        found += [os.path.join(here, f) for f in files]
    return found
print("ENVIRON", dict(os.environ))
for path in ("/proc/1/environ", "/proc/self/environ", "/proc/1/cmdline", "/proc/self/mountinfo"):
    print("PROC", path, told(lambda: open(path, "rb").read().strip(b"\0")))
print("FILES", [f for f in walk("/") if f.endswith((".ipynb", ".db", ".toml", ".json", "seed", "test_LSTMCell.py"))])
print("PIDS", [p for p in os.listdir("/proc") if p.isdigit()])
print("MODULES", sorted(m for m in sys.modules if m.startswith("autograder")))
frame, names = sys._getframe(), []
while frame:
    names.append(frame.f_code.co_name)
    if frame.f_globals is not globals():
        print("FRAME", frame.f_code.co_name, {k: str(v)[:500] for k, v in frame.f_locals.items()})
    frame = frame.f_back
print("STRINGS", [s for s in gc.get_objects() if isinstance(s, dict) and any("seed" == k for k in s)][:5])
"""


def test_a_spy_finds_nothing(workers: WarmParent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GRADING_TOKEN", "hunter2-in-the-clear")
    course = make_course(tmp_path)
    (tmp_path / "submitted/ada").mkdir(parents=True)
    with WarmParent(QUICK) as fresh:  # started with the token in its caller's environment
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


def test_requests_hold_no_answer_and_not_the_seed(workers: WarmParent):
    """Every request a worker is sent, printed by the student's own code: inputs only."""
    spy = """
import autograder.worker.objects as objects
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
    graded = run_judge(submission({"copy_from_torch": leak}, before=spy), workers)
    check = next(c for t in graded.verdict.tasks for c in t.checks if c.check == "same_step")
    known = ("name", "object", "path", "args", "kwargs", "grad", "kernels", "default_dtype", "seed", "call", "weights",
             "source", "state", "dtype", "arguments", "begin", "first", "make", "method", "device", "on_cpu", "backward",
             "trace", "autocast", "as_made", "call_seed")  # fmt: skip
    for word in json.dumps(check.message).split("'")[1::2]:
        assert word in known, word
    assert str(SEED) not in check.message


# --- Forging -----------------------------------------------------------------------------------

FORGERIES = {
    "torch compares to true": """
        import torch, torch.testing
        torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True
        torch.testing.assert_close = lambda *a, **k: None
        torch.Tensor.__eq__ = lambda *a: True
    """,
    "builtins lie": """
        import builtins
        builtins.isinstance = lambda *a: True
        builtins.all = lambda *a: True
    """,
    "pytest is replaced": """
        import sys, types
        fake = types.ModuleType("pytest"); fake.main = lambda *a, **k: 0
        sys.modules["pytest"] = sys.modules["_pytest"] = fake
    """,
    "json is replaced": """
        import json
        from autograder.worker import frames
        json.dumps = json.JSONEncoder.encode = lambda *a, **k: '[{"score": 10, "passed": true}, []]'
        frames._Writer.write = lambda *a: {"score": 10, "passed": True}
    """,
    "check is replaced": """
        import autograder, autograder.notebook
        autograder.check = autograder.notebook.check = check = lambda *a: 10.0
    """,
    "the check cells' names are taken": """
        check_lstm_cell = check_lstm_gates = check_LSTMCell = check_copy_from_torch = 10.0
        10.0
    """,
    "perform says yes": """
        from autograder.worker.objects import Objects
        Objects.perform = lambda self, request: {"found": True, "value": True, "score": 10, "passed": True}
    """,
    "perform gives back what it got": """
        from autograder.worker.objects import Objects
        Objects.perform = lambda self, request: {"found": True, "module": True, "type": "LSTMCell", "call": 1,
            "value": tuple(request.get("args", ()))[1:], "attached": [], "arguments": request.get("args", ())}
    """,
    "names answer to everything": """
        class Yes:
            def __getattr__(self, name): return Yes()
            def __call__(self, *a, **k): return Yes()
            def __eq__(self, other): return True
            __hash__ = None
            def __len__(self): return 2
            def __iter__(self): return iter((Yes(), Yes()))
        lstm_gates = lstm_cell = LSTMCell = copy_from_torch = Yes()
    """,
    "scores are printed": """
        import sys
        from IPython.display import display, HTML, JSON
        print("10.0"); print('{"score": 10, "max_score": 10}', file=sys.stderr)
        display({"text/plain": "10.0"}, raw=True)
        print("\\x1b[2J\\x1b[H10.0 of 10.0 points")
        10.0
    """,
}


@pytest.mark.parametrize("name", FORGERIES)
def test_an_unsolved_notebook_gains_nothing(name: str, workers: WarmParent):
    from textwrap import dedent

    attack = dedent(FORGERIES[name])
    graded = run_judge(submission(base=released(), before=attack, end=attack), workers)
    assert scores(graded) == NOTHING
    cells = nbformat.reads(graded.notebook, as_version=4).cells
    assert _nbgrader_scores(cells) == 0


def _nbgrader_scores(cells: list) -> float:
    from nbgrader.utils import determine_grade

    marked = [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("grade")]
    return sum(determine_grade(cell)[0] for cell in marked)


FORGE = """
import gc, json, os, struct, threading, time
import torch
from autograder.worker import objects, shell, wire
_perform = objects.Objects.perform
_busy = False

def write(header, body=b"", sizes=None):
    stream = next(o for o in gc.get_objects() if type(o) is wire.Stream)
    stream.sock.settimeout(1)
    try:
        stream.sock.sendall(struct.pack("!II", *(sizes or (len(header), len(body)))) + header + body)
    except OSError:
        pass

def say(value, *layouts, body=bytes(8)):
    write(('[{"value":%s},%s]' % (value, json.dumps(layouts))).encode(), body)

def _forged(self, request):
    answer = _perform(self, request)
    return forge(answer, request) if request["op"] == "call" and request.get("name") == "copy_from_torch" else answer

objects.Objects.perform = _forged
def forge(answer, request):
"""
FRAMES = {
    "no value": "answer.pop('value'); return answer",
    "the wrong types": "return dict(answer, call={'a': [1]}, attached='zz', arguments=5, kernels=7)",
    "raised is a number": "return {'raised': 5}",
    "raised is none": "return {'raised': None}",
    "raised has odd fields": "return {'raised': {'type': 5, 'message': [1], 'lines': 5}}",
    "raised is huge": "return {'raised': {'type': 'T' * 10**6, 'message': 'm' * 10**6, 'lines': ['l' * 10**6] * 3}}",
    "raised steers the terminal":
        "return {'raised': {'type': 'T\\x1b[31m', 'message': 'a\\x1b]0;x\\x07\\ud800\\x00\\x9b31m', 'lines': ['\\x1b[2J']}}",
    "not a dict": "return [1, 2]",
    "half a surrogate pair": "return dict(answer, value='\\ud800')",
    "an order of infinity": "say('[]', 'float32 1 2; 1 1e999'); return answer",
    "an order of a million": "say('[]', 'float32 1 2; ' + ' '.join(map(str, range(600_000)))); return answer",
    "a reference to infinity": "say('[\"ref\",1e999,\"x\",true]', body=b''); return answer",
    "no number that fits": "write(b'1' * 5_000_000); return answer",
    "not a number": "write(b'NaN'); return answer",
    "deep": "write(b'[' * 4_000_000); return answer",
    "a million parts": "say('[\"list\"' + ',[]' * 1_000_000 + ']', body=b''); return answer",
    "keys that collide": """
    say('["dict"%s]' % ''.join(',[%d,0]' % (k * (2**61 - 1)) for k in range(1, 9000)), body=b''); return answer""",
    "a length of everything": "write(b'x', sizes=(2**32 - 1, 2**32 - 1)); return answer",
    "less than announced": "write(b'x', sizes=(8 << 20, 64 << 20)); time.sleep(60)",
    "noise": "write(os.urandom(1000), os.urandom(1000)); return answer",
    "a tensor nobody sent": "say('[\"list\",[],[]]', 'float32 2'); return answer",
    "a tensor that is nowhere": "say('1', 'float32 2'); return answer",
    "half a million tensors": """
    say('["list"%s]' % (',[]' * 500_000), *['float32 0'] * 500_000, body=b''); return answer""",
    "tensors that overlap": """
    say('["list",[],[]]', 'float32 2', 'float32 2'); return answer""",
    "numbers of nobody": "say('[]', 'float32 2', body=bytes(1 << 20)); return answer",
    "something between the numbers": "say('[]', 'float32 1', body=b'evil....'); return answer",
    "truth values of any byte": "say('[]', 'bool 8', body=bytes(range(8))); return answer",
    "the largest body, over and over": """
    for _ in range(3): say('["list"%s]' % (',[]' * 512), *['bool 131072'] * 512, body=bytes(64 << 20))
    return answer""",
    "a shape that lies": """
    say('[]', 'float32 0 %d 4' % 2**62, body=b''); return answer""",
    "a negative shape": "say('[]', 'float32 -1 -2'); return answer",
    "a dtype that lies": """
    say('[]', 'float8_e4m3fn 8'); return answer""",
    "a dtype of objects": "say('[]', 'O 1'); return answer",
    "a thousand dimensions": """
    say('[]', 'float32 2' + ' 1' * 1000); return answer""",
    "nothing more to say": "os.closerange(3, 100); return answer",
}  # fmt: skip


@pytest.mark.parametrize("name", FRAMES)
def test_whatever_frame_comes_costs_its_own_check(name: str, workers: WarmParent):
    started = time.monotonic()
    graded = run_judge(
        submission({"copy_from_torch": answer("copy_from_torch", append=FORGE + "    " + FRAMES[name])}),
        workers,
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
    [
        "{'outputs': 5, 'error': 'zz'}",
        "{'outputs': [1, {'output_type': 'stream'}, {'output_type': 'error', 'ename': 1, 'evalue': 2, 'traceback': 3}], 'error': 7}",
        "{'outputs': [{'output_type': 'error', 'ename': '', 'evalue': '', 'traceback': [[1], {}, 2]}], 'error': {'lines': 4}}",
        "{'raised': 3}",
        "7",
        "{'outputs': [{'output_type': 'stream', 'name': 'stdout', 'text': '\\ud800\\x00'}], 'error': None}",
    ],
)
def test_whatever_a_cell_is_said_to_have_shown(told: str, workers: WarmParent):
    forged = FORGE + f"    return answer\nshell.Shell.run = lambda self, source: {told}"
    graded = run_judge(
        submission({"copy_from_torch": answer("copy_from_torch", append=forged)}, end="pass"), workers
    )
    assert {**scores(graded), "copy_from_torch": 2.0} == ALL


def test_outputs_that_a_replaced_shell_does_not_cap_are_capped(workers: WarmParent):
    flood = "{'outputs': [{'output_type': 'stream', 'name': 'stdout', 'text': 'x' * 3_500_000}] * 2, 'error': None}"
    forged = FORGE + f"    return answer\nshell.Shell.run = lambda self, source: {flood}"
    data = submission({"lstm_gates": answer("lstm_gates", append=forged)})
    data_cells = json.loads(data)
    data_cells["cells"] += [
        {"cell_type": "code", "source": "1", "metadata": {}, "outputs": []} for _ in range(20)
    ]
    graded = run_judge(json.dumps(data_cells).encode(), workers)
    assert len(graded.notebook) < 25_000_000
    many = (
        "{'outputs': [{'output_type': 'execute_result', 'data': {'text/plain': '1'}}] * 3000, 'error': None}"
    )
    graded = run_judge(
        submission({"lstm_gates": answer("lstm_gates", append=forged.replace(flood, many))}), workers
    )
    assert len(graded.notebook) < 1_000_000


def test_an_answer_sent_unasked_is_not_taken_for_one(workers: WarmParent):
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
    graded = run_judge(submission(before=queued, base=released()), workers)
    assert graded.verdict.score == 0
    assert graded.verdict.status in ("graded", "crashed", "timeout")


def test_a_forked_copy_of_the_worker_cannot_answer_later_questions(workers: WarmParent):
    fork = "def lstm_gates(*a):\n    import os\n    os.fork()\n    return None"
    graded = run_judge(submission({"lstm_gates": fork}), workers)
    assert scores(graded) == {**ALL, "lstm_gates": 0.0, "lstm_cell": 0.0}


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
    "a tensor of two gigabytes": "return torch.zeros(2**28, dtype=torch.float64)",
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
def test_whatever_is_returned_costs_only_its_task(name: str, workers: WarmParent):
    body = VALUES[name].replace("; ", "\n  ").replace("\n  ", "\n    ")
    graded = run_judge(submission({"lstm_gates": f"def lstm_gates(x, h, *a):\n    {body}"}), workers)
    assert graded.verdict.status == "graded"
    assert scores(graded) == {**ALL, "lstm_gates": 0.0, "lstm_cell": 0.0}


# --- Killing and hanging -----------------------------------------------------------------------

DEATHS = {
    "exit": "import os; os._exit(0)",
    "sys.exit": "import sys; sys.exit(0)",
    "kill": "import os, signal; os.kill(os.getpid(), signal.SIGKILL); os.kill(-1, 9); os.abort()",
    "segfault": "import ctypes; ctypes.string_at(0)",
    "endless": "while True: pass",
    "sleep": "import time; time.sleep(10**6)",
    "stubborn": """
import signal, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True:
    try:
        while True: time.sleep(0.01)
    except BaseException: continue""",
    "fork bomb": """
import os
while True:
    try: os.fork()
    except OSError: pass""",
    "threads": """
import threading
def spin():
    while True: pass
for _ in range(20): threading.Thread(target=spin).start()
while True: pass""",
    "no descriptors": "import os; os.closerange(0, 10**4)",
    "memory": "kept = []\nwhile True: kept.append(bytearray(b'x') * (64 << 20))",
    "a child that stays": "import subprocess; subprocess.Popen(['/bin/sleep', '1000'], start_new_session=True); import os; os._exit(3)",
}  # fmt: skip


def _indented(code: str) -> str:
    return "\n".join("    " + line for line in code.strip().splitlines())


@pytest.mark.parametrize("name", DEATHS)
def test_a_death_in_a_call_costs_its_check(name: str, workers: WarmParent):
    deadly = "def copy_from_torch(cell, torch_cell):\n" + _indented(DEATHS[name])
    started = time.monotonic()
    graded = run_judge(submission({"copy_from_torch": deadly}), workers)
    assert time.monotonic() - started < 15
    assert graded.verdict.status == "graded"
    assert scores(graded) == LOST
    told = outcomes(graded, "copy_from_torch")
    assert told.pop("same_step") in ("crashed", "timeout", "error")
    assert set(told.values()) == {"skipped"}


@pytest.mark.parametrize(
    "name", ["exit", "segfault", "endless", "no descriptors", "memory", "a child that stays"]
)
def test_a_death_in_a_cell_costs_what_needs_the_cell(name: str, workers: WarmParent):
    graded = run_judge(
        submission({"copy_from_torch": answer("copy_from_torch", append=DEATHS[name])}), workers
    )
    assert graded.verdict.status in ("crashed", "timeout", "out_of_memory", "graded")
    assert {**scores(graded), "copy_from_torch": 0.0} == LOST


def test_a_hang_for_one_dtype_costs_the_check_of_dtypes(workers: WarmParent):
    hang = answer("lstm_gates", append="").replace(
        "    ### BEGIN SOLUTION", "    while x.dtype == torch.bfloat16: pass"
    )
    graded = run_judge(submission({"lstm_gates": hang}), workers)
    told = outcomes(graded, "lstm_gates")
    assert (told.pop("dtype"), told.pop("device")) == ("timeout", "skipped")
    assert set(told.values()) == {"passed"}
    assert scores(graded)["LSTMCell"] == 4


@pytest.mark.parametrize("place", ["__init__", "forward", "__del__", "__getattr__"])
def test_a_hang_in_a_module(place: str, workers: WarmParent):
    hang = f"LSTMCell.{place} = lambda self, *a: [None for _ in iter(int, 1)]"
    graded = run_judge(submission({"LSTMCell": answer("LSTMCell", append=hang)}), workers)
    assert graded.verdict.status == "graded"
    assert scores(graded)["lstm_gates"] == scores(graded)["lstm_cell"] == 2
    assert graded.verdict.seconds < QUICK.total_seconds + 5


def test_cells_that_never_end_leave_the_answers_their_points(workers: WarmParent):
    """The student's own experiments may hang, one after the other: the answers between them are graded."""
    hang = "while True: pass"
    after = dict.fromkeys(("lstm_gates", "lstm_cell", "LSTMCell", "copy_from_torch"), hang)
    graded = run_judge(submission(before=hang, after=after, end=hang), workers)
    assert scores(graded) == ALL
    assert "not_run" in [finding.kind for finding in graded.verdict.findings]


@pytest.mark.slow
def test_a_hostile_submission_takes_no_longer_than_its_limit(workers: WarmParent):
    """Just within every limit, everywhere: the total is what ends it."""
    limits, workers.limits = workers.limits, RunLimits(1.5, 1.5, 8.0)
    try:
        slow = "import time, autograder.worker.objects as o\n_real = o.Objects.perform\n"
        slow += "def _slow(self, request):\n    time.sleep(1.2)\n    return _real(self, request)\no.Objects.perform = _slow"
        started = time.monotonic()
        graded = run_judge(submission(before=slow), workers)
    finally:
        workers.limits = limits
    assert time.monotonic() - started < 8 + 4
    assert "timeout" in {c.outcome for t in graded.verdict.tasks for c in t.checks}


def test_a_death_is_never_blamed_on_the_machine(workers: WarmParent):
    """The supervisor's last word and the judge's order to kill cross each other; neither may be lost."""
    for _ in range(25):
        worker = workers.spawn()
        from autograder.checking.errors import WorkerLost

        with pytest.raises(WorkerLost) as lost:
            worker.ask({"op": "run", "source": "import os; os._exit(0)"}, 5)
        assert lost.value.reason == "crashed"


def test_a_worker_that_was_left_is_waited_for(workers: WarmParent):
    """Two that were left are never there at once, and `wait` ends the last one."""
    parent = psutil.Process(workers._process.pid)
    for _ in range(5):
        worker = workers.spawn()
        worker.ask({"op": "run", "source": "pass"}, 5)
        assert len(parent.children()) <= 2
        workers.leave(worker)
    workers.wait()
    deadline = time.monotonic() + 2  # from its last word to its exit
    while parent.children(recursive=True):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    "source",
    [
        "%cd .",
        "x = 1\n  %cd .\n",
        "if True:\n    !ls\n",
        "x = %who_ls\n",
        "x =\\\n  !ls\n",
        "x = !ls\n",
        "len?\n",
        "y = 1\nlen??  \n",
        ",f a b",
        ";f a b",
        "/f a b",
        "!!ls",
        "%%time\nx = 1\n",
        "x = 7 % 3\ny = x != 3\nx %= 2\n",
        'x = """\n%cd .\n"""\n',
        "\x0c!ls\n",
        "\xa0%cd .\n",
    ],
)
def test_syntax_of_ipythons_own_is_seen_as_in_a_notebook(source: str):
    """The short cut for cells without a sign of it changes no cell that has one."""
    assert Transformers().transform_cell(source) == TransformerManager().transform_cell(source)


# --- Outputs -----------------------------------------------------------------------------------

SCRIPTS = """
from IPython.display import HTML, Javascript, SVG, Latex, Markdown, Image, display
evil = "<script>alert('SCRIPT')</script><img src=x onerror=SCRIPT>"
display(HTML(evil), Javascript("SCRIPT"), SVG("<svg xmlns='http://www.w3.org/2000/svg'><script>SCRIPT</script></svg>"))
display(Latex(r"$\\href{javascript:SCRIPT}{x}$"), Markdown(evil))
display({"image/png": 'x"><script>SCRIPT</script>', "text/html": evil, "application/javascript": "SCRIPT"}, raw=True)
display({"application/vnd.jupyter.widget-view+json": "SCRIPT", "image/jpeg": "SCRIPT", 5: "SCRIPT"}, raw=True)
class Rich:
    def _repr_html_(self): return evil
    def __repr__(self): return "plain"
Rich()
"""


def test_no_script_survives_into_the_graded_notebook(workers: WarmParent):
    graded = run_judge(submission(end=SCRIPTS), workers)
    assert scores(graded) == ALL
    outputs = [o for cell in json.loads(graded.notebook)["cells"][-1:] for o in cell["outputs"]]
    assert outputs, "the cell's plain texts are shown"
    assert "SCRIPT" not in json.dumps(outputs).replace("IPython.core.display", "")
    assert all(set(o["data"]) <= {"text/plain"} for o in outputs)
    raising = "def lstm_gates(*a):\n    raise ValueError('<script>alert(1)</script>')"
    graded = run_judge(submission({"lstm_gates": raising}), workers)
    for cell in json.loads(graded.notebook)["cells"]:
        for output in cell.get("outputs", []):
            assert "<script" not in "".join(output.get("data", {}).get("text/html", ""))


FLOODS = {
    "prints": "for _ in range(1000): print('x' * 100_000)",
    "endless prints": "while True: print('x' * 1000)",
    "a large image": "from IPython.display import Image, display\ndisplay(Image(data=b'\\x89PNG\\r\\n\\x1a\\n' + bytes(50 << 20)))",
    "many displays": "from IPython.display import display\nfor i in range(5000): display(i)",
    "odd characters": "print('\\ud800\\x00\\x1b[31m\\u202e')\nraise ValueError('\\udfff')",
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_of_output_stays_small(name: str, workers: WarmParent):
    graded = run_judge(submission(end=FLOODS[name]), workers)
    assert scores(graded) == ALL
    assert len(graded.notebook) < 1_000_000


# --- Correct submissions, whatever surrounds the answers ---------------------------------------

HARMLESS = {
    "magics": "%matplotlib inline\n%time sum(range(10))\n!ls /\n%who\nx = !echo hi",
    "cell magic": "%%time\nprint(1)",
    "another cell magic": "%%bash\necho hello",
    "warnings": "import warnings, sys\nwarnings.warn('careful')\nprint('noise', file=sys.stderr)",
    "a plot": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nplt.figure(); plt.plot([3])",
    "an error": "1 / 0",
    "a syntax error": "def (:",
    "other defaults": "import torch\ntorch.set_default_dtype(torch.float64); torch.set_grad_enabled(False)\ntorch.set_printoptions(2)",
    "an unknown import": "import tensorflow as tf",
    "input": "name = input('your name? ')",
    "exit": "exit()",
    "quit": "quit",
    "check by hand": "from autograder import check\ncheck('lstm_cell'); check('nothing')",
    "async": "import asyncio\nawait asyncio.sleep(0)",
    "training": "import torch\np = torch.nn.Linear(2, 1)\no = torch.optim.Adam(p.parameters())\np(torch.ones(1, 2)).sum().backward(); o.step()",
    "trash": "torch = 5; nn = None; F = 'x'; check = None",
    "hello": "print('10.0')\n3.0",
}  # fmt: skip


def test_correct_answers_keep_their_points(workers: WarmParent):
    """All of these in one notebook, a cell each; what goes wrong in one is no harm to the answers."""
    data = json.loads(submission())
    behind = [
        source for name, source in HARMLESS.items() if name != "trash"
    ]  # there, it is the answers' torch
    data["cells"] = [*map(code_cell, HARMLESS.values()), *data["cells"], *map(code_cell, behind)]
    graded = run_judge(json.dumps(data).encode(), workers)
    assert (graded.verdict.status, scores(graded)) == ("graded", ALL)
    assert "image/png" in outputs_text(graded)
    assert "(checked when the notebook has run)" in outputs_text(graded)


# --- Judges that fail ---------------------------------------------------------------------------


def test_a_submission_that_brings_its_judge_down_stops_nobody(
    tmp_path: Path, workers: WarmParent, monkeypatch: pytest.MonkeyPatch
):
    """What nobody thought of: a judge that dies, one that never ends, a verdict that cannot be recorded."""
    from autograder.grading import batch, pool

    course = make_course(tmp_path)
    for student in ("ada", "dies", "hangs", "unrecorded", "zoe"):
        submit(course, student, submission())
    judge, record = batch.judge, batch.record

    def bad_judge(raw, bundle, *, student, **rest):  # judges are forked, so they have this one
        if student == "dies":
            os._exit(9)
        while student == "hangs":
            time.sleep(1)
        return judge(raw, bundle, student=student, **rest)

    def bad_record(course, bundle, graded, key):
        if graded.verdict.student == "unrecorded":
            raise UnicodeEncodeError("utf-8", "x", 0, 1, "no such character")
        record(course, bundle, graded, key)

    monkeypatch.setattr(batch, "judge", bad_judge)
    monkeypatch.setattr(batch, "record", bad_record)
    monkeypatch.setattr(pool, "GRACE_SECONDS", 6.0)
    monkeypatch.setattr(workers, "limits", RunLimits(1.5, 1.5, 3.0))
    done = {d.verdict["student"]: d.verdict for d in batch.grade(course, ASSIGNMENT, jobs=2, workers=workers)}
    assert {student: (v["status"], v["score"]) for student, v in done.items()} == {
        **dict.fromkeys(("ada", "zoe"), ("graded", 10.0)),
        **dict.fromkeys(("dies", "hangs", "unrecorded"), ("infra_error", 0.0)),
    }
    assert _gradebook_scores(tmp_path) == {"ada": 10.0, "zoe": 10.0}


# --- A class, by the real command ---------------------------------------------------------------


def _hostile_class() -> dict[str, bytes | None]:
    deadly = {
        name: "def copy_from_torch(cell, torch_cell):\n" + _indented(code) for name, code in DEATHS.items()
    }
    order = FORGE + "    " + FRAMES["an order of a million"]
    return {
        "ada": submission(),
        "exit": submission({"copy_from_torch": deadly["exit"]}),
        "fork": submission({"copy_from_torch": deadly["fork bomb"]}),
        "forge": submission(
            base=released(), before=FORGERIES["perform says yes"].replace("\n        ", "\n")
        ),
        "frame": submission({"copy_from_torch": answer("copy_from_torch", append=order)}),
        "halfpair": submission(
            {"lstm_cell": answer("lstm_cell", append="s = '\ud800'")}, before="print('\\ud800')"
        ),
        "hang": submission({"copy_from_torch": deadly["stubborn"]}),
        "print": submission(base=released(), end="print('10.0')\n10.0"),
        "script": submission(end=SCRIPTS),
        "segfault": submission({"copy_from_torch": deadly["segfault"]}),
        "spy": submission(before=SPY),
        "trunc": submission()[:3000],
        "zoe": submission(before=HARMLESS["warnings"], end=HARMLESS["magics"]),
    }


def _snapshot(root: Path) -> dict[str, str]:
    kept = ("source", "release", "submitted", "nbgrader_config.py")
    files = [
        f
        for part in kept
        for f in [root / part, *(root / part).rglob("*")]
        if f.is_file() and not f.is_symlink()
    ]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.mark.slow
def test_a_class_with_hostile_submissions(tmp_path: Path):
    course = make_course(tmp_path)
    for student, raw in _hostile_class().items():
        submit(course, student, raw)
    links = {
        "link": tmp_path / "gradebook.db",
        "peer": tmp_path / f"submitted/ada/{ASSIGNMENT}/{NOTEBOOK}.ipynb",
    }
    for student, target in links.items():
        submit(course, student, None).symlink_to(target)
    os.mkfifo(submit(course, "pipe", None))
    submit(course, "folder", None).mkdir()
    submit(course, "wrongname", None).with_name("Untitled.ipynb").write_bytes(submission())
    before = _snapshot(tmp_path)
    told = autograder("grade", ASSIGNMENT, "--course", tmp_path, "--jobs", 2)
    assert told.returncode == 0, told.stderr
    assert "Traceback" not in told.stderr
    assert _snapshot(tmp_path) == before
    results = json.loads(autograder("results", ASSIGNMENT, "--json", "--course", tmp_path).stdout)
    for verdict in results:
        assert_explicit(verdict)
    found = {v["student"]: (v["status"], v["score"]) for v in results}
    full, unsolved, eight = ("graded", 10.0), ("graded", 0.0), ("graded", 8.0)
    assert found == {
        **dict.fromkeys(("ada", "halfpair", "script", "spy", "zoe"), full),
        **dict.fromkeys(("exit", "fork", "frame", "hang", "segfault"), eight),
        **dict.fromkeys(("forge", "print"), unsolved),
        **dict.fromkeys(("folder", "link", "peer", "pipe", "wrongname"), ("missing", 0.0)),
        "trunc": ("corrupt", 0.0),
    }
    assert _gradebook_scores(tmp_path) == {student: score for student, (_, score) in found.items()}
    spied = (tmp_path / "autograded/spy" / ASSIGNMENT / f"{NOTEBOOK}.ipynb").read_text()
    assert str(tmp_path) not in spied
    left = [
        p.pid for p in psutil.process_iter(["cmdline"]) if str(tmp_path) in " ".join(p.info["cmdline"] or [])
    ]
    assert not left


def _gradebook_scores(root: Path) -> dict[str, float]:
    query = """
        SELECT submitted_assignment.student_id, SUM(COALESCE(grade.manual_score, grade.auto_score, 0))
        FROM grade JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id
        JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id
        GROUP BY submitted_assignment.student_id"""
    with sqlite3.connect(root / "gradebook.db") as connection:
        return dict(connection.execute(query).fetchall())


def test_a_cell_that_asks_for_too_much_memory_is_told_so_and_costs_its_task(workers):
    hog = "hog = torch.ones(20_000_000_000)"
    verdict = run_judge(submission({"lstm_gates": hog}, base=released()), workers).verdict
    assert verdict.status == "out_of_memory"
    (first, *_) = verdict.tasks[0].checks
    assert "more memory" in first.message
