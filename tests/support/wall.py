"""Hostile code in a student's notebook, and what a notebook around it is worth when every other answer is right."""

from __future__ import annotations

ALL = {"lstm_gates": 2.0, "lstm_cell": 2.0, "LSTMCell": 4.0, "copy_from_torch": 2.0}
LOST = {**ALL, "copy_from_torch": 0.0}
NOTHING = dict.fromkeys(ALL, 0.0)


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
        from autograder.protocol import frames
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
        from autograder.worker.session.objects import Objects
        Objects.perform = lambda self, request: {"found": True, "value": True, "score": 10, "passed": True}
    """,
    "perform gives back what it got": """
        from autograder.worker.session.objects import Objects
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


FORGE = """
import gc, json, os, struct, threading, time
import torch
from autograder.worker.session import objects; from autograder.worker.session import shell; from autograder.protocol import stream as wire
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


def indented(code: str) -> str:
    return "\n".join("    " + line for line in code.strip().splitlines())


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
