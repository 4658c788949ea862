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
        from autograder.protocol.answers import Called, Done
        from autograder.worker.session.executor import Executor
        def _yes(self, message):
            return Called(value=True, attached=(True,)) if type(message).__name__ == "Call" else Done()
        Executor._performed = _yes
    """,
    "perform gives back what it got": """
        from autograder.protocol.answers import Called, Done
        from autograder.worker.session.executor import Executor
        def _given(self, message):
            args = tuple(getattr(message, "args", ()))
            return Done() if type(message).__name__ != "Call" else Called(value=args[1:], attached=(), arguments=args)
        Executor._performed = _given
    """,
    "every answer is of the kind that is wanted": """
        import torch
        from autograder.protocol import answers, messages
        from autograder.worker.session.executor import Executor
        yes = torch.ones(5, 7, dtype=torch.float64)
        def _wanted(self, message):
            args = tuple(getattr(message, "args", ()))
            match message:
                case messages.Call():
                    return answers.Called(value=(yes, yes), attached=(True, True), arguments=args)
                case messages.Backward():
                    return answers.Gradients(inputs=(yes,) * 6, parameters={}, attached=True)
                case messages.ListRegistered():
                    return answers.Registered(is_module=True, type="LSTMCell")
                case messages.Parameters():
                    return answers.ParameterValues(parameters={})
                case messages.ProbeCall():
                    return answers.Probed(device="cpu", value=(yes, yes), places=("cpu", "cpu"))
                case messages.Attribute():
                    return answers.Value(value=yes)
            return answers.Done()
        Executor._performed = _wanted
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

ANSWERING = {
    "perform says yes",
    "perform gives back what it got",
    "every answer is of the kind that is wanted",
    "names answer to everything",
}
"""Those of them that answer in the place of the released cells, which are not asked then."""
ENDED = {"builtins lie", "json is replaced"}
"""Those that end the worker before their own cell has ended."""


FORGE = """
import gc, json, os, struct, threading, time
import torch
from msgspec.structs import replace
from autograder.protocol import answers, events, frames, messages, stream as wire
from autograder.protocol.events import Event, Line
from autograder.protocol.values import Opaque
from autograder.worker.session import shell
from autograder.worker.session.executor import Executor
_answers, _replies, _encode = Executor.answers_to, shell._replies, shell.encode_frame
_numbers = [0]
_stream = next(o for o in gc.get_objects() if type(o) is wire.Stream)

def write(raw):
    _stream.sock.settimeout(1)
    try:
        _stream.sock.sendall(raw)
    except OSError:
        pass

def frame(header, body=b"", sizes=None):
    return struct.pack("!II", *(sizes or (len(header), len(body)))) + header + body

def reply(told, *layouts, body=b"", number=None):
    number = json.dumps(_numbers[-1]) if number is None else number
    return frame(('[{"number":%s,"answer":%s},%s]' % (number, told, json.dumps(layouts))).encode(), body)

def say(value, *layouts, body=bytes(8)):
    return reply('{"is":"called","attached":["tuple"],"value":%s}' % value, *layouts, body=body)

def whole(answer, number=None):
    return _encode(answers.Reply(_numbers[-1] if number is None else number, answer))

def _noted(number, every):
    _numbers.append(number)
    yield from _replies(number, every)
    yield from extra
    extra.clear()

def _encoded(reply):
    return reply.answer if type(reply.answer) is bytes else _encode(reply)

def _forged(self, batch):
    for message in batch:
        (answer,) = _answers(self, [message])
        if wanted(message, answer):
            forged.append(message)
            answer = forge(answer, message)
        yield answer
        if isinstance(answer, answers.Stop):
            return

shell._replies, shell.encode_frame, Executor.answers_to = _noted, _encoded, _forged
shell.MOST = answers.MAX_PRINTED = 1 << 40
answers.plain_text = events.one_line = lambda text, length: text
forged, extra = [], []
def wanted(message, answer):
    return type(message) is messages.Call and message.target.name == "copy_from_torch" and not message.unanswered
def forge(answer, message):
"""
"""Puts what `forge` returns, an answer or the bytes of frames, in the place of the worker's reply.

`wanted` says of which: of the call of `copy_from_torch` whose answer a check wants to see, in `is_a_copy`.
What is in `extra` follows the last reply to a batch.
"""
REFUSED = {
    "no fields": "return reply('{}')",
    "no value": "return reply('{\"is\":\"called\",\"attached\":[\"tuple\"]}')",
    "the wrong types": "return reply('{\"is\":\"called\",\"value\":1,\"attached\":\"zz\",\"arguments\":5,\"left\":7}')",
    "truths that are numbers": "return reply('{\"is\":\"called\",\"value\":1,\"attached\":[\"tuple\",1]}')",
    "an answer that is a number": "return reply('5')",
    "an answer that is none": "return reply('null')",
    "an answer that is a tensor": "return reply('[]', 'float32 2', body=bytes(8))",
    "an answer by other keys": "return reply('[\"dict\",[1,2],[null,3]]')",
    "raised has odd fields": "return reply('{\"is\":\"raised\",\"type\":5,\"message\":[\"list\",1],\"lines\":5}')",
    "raised in lines that are none": "return reply('{\"is\":\"raised\",\"type\":\"T\",\"message\":\"m\",\"lines\":[\"tuple\",null]}')",
    "raised in a million lines": """
    return reply('{"is":"raised","type":"T","message":"m","lines":["tuple"%s]}' % (',"l"' * 1_000_000))""",
    "not a dict": "return reply('[\"list\",1,2]')",
    "not a reply": "return frame(b'[{\"score\":10.0,\"passed\":true},[]]')",
    "a field that nobody asked for": "return reply('{\"is\":\"done\",\"score\":10.0}')",
    "a reply with a field of its own": "return frame(b'[{\"number\":%d,\"answer\":{\"is\":\"done\"},\"score\":10.0},[]]' % _numbers[-1])",
    "an unknown kind": "return reply('{\"is\":\"passed\"}')",
    "a message as an answer": "return reply('{\"is\":\"call\",\"target\":{\"name\":\"lstm_cell\"}}')",
    "a kind that is a number": "return reply('{\"is\":1}')",
    "a kind that is a tensor": "return reply('{\"is\":[]}', 'float32 2', body=bytes(8))",
    "no kind of its own": "return answers.Answer()",
    "a tensor for names": "return reply('{\"is\":\"parameters\",\"parameters\":[]}', 'float32 2', body=bytes(8))",
    "a tensor for what is registered": "return reply('{\"is\":\"registered\",\"is_module\":true,\"type\":\"T\",\"shapes\":[]}', 'float32 2', body=bytes(8))",
    "a tensor for an event": "return reply('{\"is\":\"ran\",\"device\":\"cpu\",\"events\":[\"tuple\",[]]}', 'float32 2', body=bytes(8))",
    "a tensor for an error": "return reply('{\"is\":\"ran\",\"device\":\"cpu\",\"error\":[]}', 'float32 2', body=bytes(8))",
    "a kind that is two": "return reply('{\"is\":[\"tuple\",\"done\",\"called\"]}')",
    "late": "return whole(answers.Late(seconds=1.0, line='line 1: passed'))",
    "another batch's number": "return whole(answer, _numbers[-1] + 1)",
    "the number of the batch before": "return whole(answer, _numbers[-2])",
    "a number in words": "return reply('{\"is\":\"done\"}', number='\"%d\"' % _numbers[-1])",
    "a number that is true": "return reply('{\"is\":\"done\"}', number='true')",
    "a number beyond all": "return reply('{\"is\":\"done\"}', number='1' + '0' * 4000)",
    "printed by megabytes": "return reply('{\"is\":\"done\",\"printed\":\"%s\"}' % ('x' * (50 << 20)))",
    "printed in numbers": "return reply('{\"is\":\"done\",\"printed\":5}')",
    "an order of infinity": "return say('[]', 'float32 1 2; 1 1e999')",
    "an order of a million": "return say('[]', 'float32 1 2; ' + ' '.join(map(str, range(600_000))))",
    "a reference to infinity": "return say('[\"ref\",1e999,\"x\",true]', body=b'')",
    "no number that fits": "return frame(b'1' * 5_000_000)",
    "not a number": "return say('NaN', body=b'')",
    "deep": "return frame(b'[' * 4_000_000)",
    "deep dicts": "return say('{\"a\":' * 100_000 + '1' + '}' * 100_000, body=b'')",
    "a little too deep": "return say('[\"list\",' * 13 + '1' + ']' * 13, body=b'')",
    "hundreds of thousands of parts": "return say('[\"list\"' + ',[\"list\"]' * 200_000 + ']', body=b'')",
    "a few parts too many": "return say('[\"list\"' + ',0' * 20_001 + ']', body=b'')",
    "keys that collide": """
    return say('["dict"%s]' % ''.join(',[%d,0]' % (k * (2**61 - 1)) for k in range(1, 6000)), body=b'')""",
    "a length of everything": "return frame(b'x', sizes=(2**32 - 1, 2**32 - 1))",
    "a length of more than is left": "return frame(b'x', sizes=(8 << 20, 64 << 20))",
    "no length": "return frame(b'')",
    "noise": "return frame(os.urandom(1000), os.urandom(1000))",
    "a tensor nobody sent": "return say('[\"list\",[],[]]', 'float32 2')",
    "a tensor that is nowhere": "return say('1', 'float32 2')",
    "half a million tensors": """
    return say('["list"%s]' % (',[]' * 500), *['float32 0'] * 500_000, body=b'')""",
    "tensors that overlap": "return say('[\"list\",[],[]]', 'float32 2', 'float32 2')",
    "numbers of nobody": "return say('[]', 'float32 2', body=bytes(1 << 20))",
    "something between the numbers": "return say('[]', 'float32 1', body=b'evil....')",
    "a shape that lies": "return say('[]', 'float32 0 %d 4' % 2**62, body=b'')",
    "a negative shape": "return say('[]', 'float32 -1 -2')",
    "a dtype that lies": "return say('[]', 'float8_e4m3fn 8')",
    "a dtype of objects": "return say('[]', 'O 1')",
    "a thousand dimensions": "return say('[]', 'float32 2' + ' 1' * 1000)",
}  # fmt: skip
"""Frames that are no reply to the batch: they end the worker."""
LARGEST = {
    "replies larger than all may be": """
    return say('[]', 'uint8 62914560', body=bytes(60 << 20)) + say('[]', 'uint8 62914560', body=bytes(60 << 20))""",
    "the largest body, over and over": """
    return say('["list"%s]' % (',[]' * 512), *['bool 131072'] * 512, body=bytes(64 << 20)) * 3""",
}  # fmt: skip
"""Frames that are refused once they are read, or that a slow machine has no time to read."""
READ = {
    "half a surrogate pair": "return reply('{\"is\":\"raised\",\"type\":\"\\\\ud800\",\"message\":\"\\\\ud800\"}')",
    "raised is huge": "return answers.Raised(type='T' * 10**6, message='m' * 10**6, lines=('l' * 10**6,) * 3, printed='p' * 10**6)",
    "raised in thousands of lines": """
    return reply('{"is":"raised","type":"T","message":"m","lines":["tuple"%s]}' % (',"l"' * 19_900))""",
    "raised steers the terminal": r"return answers.Raised(type='T\x1b[31m', message='a\x1b]0;x\x07\ud800\x00\x9b31m', lines=('\x1b[2J',), printed='\x1b[2J\x07\x9b31m\x00')",
    "raised says nothing": "return answers.Raised(type='', message='')",
    "raised prints by megabytes": "return answers.Raised(type='T', message='m', printed='x' * (7 << 20))",
    "not written yet": "return answers.Raised(type='NotImplementedError', message='')",
    "its kind twice": "return reply('{\"is\":\"done\",\"is\":\"raised\",\"type\":\"T\",\"message\":\"m\"}')",
    "truth values of any byte": "return reply('{\"is\":\"made\",\"value\":[]}', 'bool 8', body=bytes(range(8)))",
    "done": "return answers.Done()",
    "missing": "return answers.Missing()",
    "no module": "return answers.NoModule(value=message.args)",
    "an attribute's value": "return answers.Value(value=answer.value)",
    "gradients": "return answers.Gradients(inputs=(None,), parameters={}, attached=True)",
    "registered": "return answers.Registered(is_module=True, type='T' * 1_000_000)",
    "parameters": "return answers.ParameterValues(parameters={'W': torch.ones(2)})",
    "ran on a device": "return answers.Probed(device='cuda:0', value=answer.value)",
    "a cell": "return answers.CellRan(outputs=[{'output_type': 'stream', 'name': 'stdout', 'text': '10.0'}])",
    "refused": "return answers.Refused(message='the machine failed')",
}  # fmt: skip
"""Replies that are read, and no answer to the call: they cost the check."""
SILENT = {
    "less than announced": "return frame(b'x', sizes=(8 << 20, 32 << 20))",
    "one reply too few": "return b''",
    "a byte at a time": """
    write(struct.pack('!II', 1000, 0))
    for _ in range(1000): write(b'['); time.sleep(0.01)""",
    "nothing at all": "time.sleep(60)",
}  # fmt: skip
"""Answers that keep the judge waiting: the time of a call ends them."""
GONE = {
    "nothing more to say": "os.closerange(3, 100); return answer",
    "no answer at all": "raise KeyboardInterrupt",
}
"""Ways to end the worker from inside."""
FRAMES = {**REFUSED, **LARGEST, **READ, **SILENT, **GONE}


SEEN = {
    "nothing of a call": ("Called", "value=None, attached=()"),
    "many results": ("Called", "attached=(True,) * 9000"),
    "results without a graph": ("Called", "attached=()"),
    "settings that are none": ("Called", "left=('odd', (-1, 'mode'), (2**62, 'mode'), 'x' * 10**6)"),
    "arguments that are others": ("Called", "arguments=tuple(5 for _ in answer.arguments)"),
    "arguments of no size": ("Called", "arguments=tuple(torch.zeros(0) for _ in answer.arguments)"),
    "fewer arguments": ("Called", "arguments=answer.arguments[:-1]"),
    "more arguments": ("Called", "arguments=(*answer.arguments, 1) if answer.arguments else ()"),
    "no gradients": ("Gradients", "inputs=(), parameters={}"),
    "gradients in masses": ("Gradients", "inputs=(None,) * 9000, parameters={str(n): None for n in range(9000)}"),
    "gradients that are numbers": ("Gradients", "inputs=(5,) * 9, parameters=dict.fromkeys(answer.parameters, 5)"),
    "gradients that are opaque": ("Gradients", "inputs=(Opaque('x', True),) * 9, parameters=dict.fromkeys(answer.parameters, Opaque('x'))"),
    "gradients of another kind": ("Gradients", "inputs=(torch.ones(3, dtype=torch.complex64),) * 9"),
    "no graph": ("Gradients", "attached=False"),
    "every event": ("Probed", """events=tuple(
        Event(kind=kind, line=line, operation=operation, dtype='float16', name='self.x', held=True)
        for kind in ('hard-coded generator mixed written readback sync shape guard beyond autocast numpy told rounded cast dtype copied odd').split()
        for line in (None, Line(-5, ''), Line(2**62, 'l' * 10**4)) for operation in ('', 'numpy', 'o' * 10**4))"""),
    "a device of its own": ("Probed", "events=(Event(kind='hard-coded', line=Line(2**62, 'l' * 10**6), operation='o' * 10**6),)"),
    "events in masses": ("Probed", "events=(Event(kind='copied'),) * 4000"),
    "places that are none": ("Probed", "places=('x' * 10**6, '') * 2, gradient_places=('',) * 9, stayed=('x' * 10**6,)"),
    "a device without an end": ("Probed", "device='x' * 10**6"),
    "nothing of a device": ("Probed", "value=None, inputs=(), parameters={}, places=()"),
    "numbers of another kind": ("Probed", "value=(torch.ones(3, dtype=torch.complex64),) * 4"),
    "numbers for gradients": ("Probed", "inputs=(5,) * 9"),
    "a text for a value": ("Probed", "value='x' * 10**6"),
    "an error of torch's own": ("Probed", "error=answers.Raised(type='RuntimeError', message='Internal error. Please file an issue')"),
    "an error of the machine's": ("Probed", "error=answers.Raised(type='OutOfMemoryError', message='m' * 10**6)"),
    "no module": ("Registered", "is_module=False"),
    "nothing registered": ("Registered", "shapes={}, trainable=(), leaves=(), saved=(), modules={}"),
    "shapes that are none": ("Registered", "shapes=dict.fromkeys(answer.shapes, (-1, 2**62))"),
    "names in masses": ("Registered", "trainable=('x',) * 15000"),
    "names without an end": ("Registered", "type='x' * 10**6, saved=('x' * 10**6,), kinds=('x' * 10**6,), modules={'x' * 10**6: 'x'}"),
    "sharing with itself": ("Registered", "shared=(('W_xi',),)"),
    "sharing with nobody": ("Registered", "shared=((),)"),
    "no parameters": ("ParameterValues", "parameters={}"),
    "parameters that are none": ("ParameterValues", "parameters=dict.fromkeys(answer.parameters)"),
    "parameters that are numbers": ("ParameterValues", "parameters=dict.fromkeys(answer.parameters, 5)"),
    "parameters of no size": ("ParameterValues", "parameters={name: torch.zeros(0) for name in answer.parameters}"),
    "parameters without dimensions": ("ParameterValues", "parameters={name: torch.tensor(True) for name in answer.parameters}"),
    "imaginary parameters": ("ParameterValues", "parameters={name: torch.complex(torch.zeros(1200), torch.arange(1200.0)) for name in answer.parameters}"),
    "output that steers": ("Answer", r"printed='\x1b[2J\x00\ud800\r\n\x9b31m' * 10_000"),
}  # fmt: skip
"""Lies about a call, a module or a device: the kind of answer, and its fields."""
BAD_CELLS = {
    "a number": "5",
    "an answer to a call": "answers.Called(value=(), attached=())",
    "an exception": "answers.Raised(type='T', message='m')",
    "outputs that are none": "answers.CellRan(outputs=5)",
    "an error that is none": "answers.CellRan(outputs=[], error='zz')",
    "an error without words": "answers.CellRan(outputs=[], error=7)",
    "an error of another kind": "answers.CellRan(outputs=[], error=answers.Done())",
    "words for a truth": "answers.CellRan(outputs=[], missed='yes')",
    "a tensor for names": "answers.ParameterValues(parameters=torch.ones(2))",
}
"""Data that is no answer to a cell: it costs the cell."""
LARGE_CELLS = {
    "a million outputs": "answers.CellRan(outputs=[1] * 1_000_000)",
    "more than a frame": "answers.CellRan(outputs=['x' * (9 << 20)])",
}
"""Outputs that do not travel: the cell counts as run, without them."""
ODD_CELLS = {
    "outputs of no kind": "[1, None, [], 'x', torch.ones(2), {'output_type': 'stream'}, {'output_type': 5, 'data': {}}]",
    "an error in numbers": "[{'output_type': 'error', 'ename': 1, 'evalue': 2, 'traceback': 3}]",
    "a traceback of no lines": "[{'output_type': 'error', 'ename': '', 'evalue': '', 'traceback': [[1], {}, 2]}]",
    "a display of no texts": "[{'output_type': 'display_data', 'data': {'text/plain': [1], 'text/html': 'x', 5: 'x'}}]",
    "half a surrogate pair": r"[{'output_type': 'stream', 'name': 'stdout', 'text': '\ud800\x00'}]",
    "a point": "[{'output_type': 'execute_result', 'data': {'text/plain': '10.0'}, 'metadata': {'nbgrader': {'score': 10}}}]",
}
"""Outputs that a cell may be said to have shown: those that are none are dropped."""


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
