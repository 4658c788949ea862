"""Every road to torch's own recurrent networks, each really taken: none arrives where a task is judged.

Each road gives the right answer in a process that lacks nothing (`test_every_road_arrives`), so that one that
gives none in a worker was stopped there and had not lost its way before. Some run elsewhere than others: in a
thread, in a mode, in a program of their own.
"""

from __future__ import annotations

import linecache
import textwrap
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import pytest
import torch
from torch import nn

from autograder.checking import CheckFailed, Submission
from autograder.checking.expectations.source import forbidden_uses
from autograder.checking.remote.errors import StudentError
from autograder.exercises.from_scratch import NAMES, RECURRENT, RECURRENT_MODULES, expect_from_scratch
from autograder.protocol.messages import RunCell
from autograder.worker.session.executor import Executor

B, D, H = 2, 3, 4
HEADER = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


@dataclass(frozen=True)
class Road:
    """The body of `step(x, h, c, w_ih, w_hh, b_ih, b_hh)`, and what stands before it."""

    body: str
    before: str = ""

    @property
    def source(self) -> str:
        head = textwrap.dedent(self.before).strip()
        body = textwrap.indent(textwrap.dedent(self.body).strip(), "    ")
        return f"{head}\ndef step(x, h, c, w_ih, w_hh, b_ih, b_hh):\n{body}\n"


CALL = "(x, (h, c), w_ih, w_hh, b_ih, b_hh)"
FILLED = """
cell = {cell}(x.shape[1], h.shape[1], dtype=x.dtype)
with torch.no_grad():
    for own, given in zip(cell.parameters(), (w_ih, w_hh, b_ih, b_hh)):
        own.copy_(given)
return cell(x, (h, c))
"""
LAYER = """
weights = [w_ih, w_hh, b_ih, b_hh]
out, h_n, c_n = {lstm}(x[None], (h[None], c[None]), weights, True, 1, 0.0, False, False, False)"""
GIVEN = "return torch.func.functional_call(CELL, dict(zip(NAMES, (w_ih, w_hh, b_ih, b_hh))), (x, (h, c)))"
CELL = "NAMES = ('weight_ih', 'weight_hh', 'bias_ih', 'bias_hh')\nCELL = {cell}(3, 4).double()"

ROADS = {
    # Named plainly.
    "the function": Road(f"return torch.lstm_cell{CALL}"),
    "the function of a layer": Road(LAYER.format(lstm="torch.lstm") + "\nreturn h_n[0], c_n[0]"),
    "the module": Road(FILLED.format(cell="nn.LSTMCell")),
    "a module made outside": Road(GIVEN, before=CELL.format(cell="nn.LSTMCell")),
    "a class of its own on top": Road(
        GIVEN, before="class Mine(nn.LSTMCell):\n    pass\n" + CELL.format(cell="Mine")
    ),
    "_VF": Road(f"return torch._VF.lstm_cell{CALL}"),
    "the table of functions": Road(f"return torch._C._VariableFunctions.lstm_cell{CALL}"),
    "operators": Road(f"return torch.ops.aten.lstm_cell{CALL}"),
    "an operator's overload": Road(f"return torch.ops.aten.lstm_cell.default{CALL}"),
    "a module of another kind": Road(
        "return torch.gru_cell(x, h, w_ih[:12], w_hh[:12], b_ih[:12], b_hh[:12]), c"
    ),
    "a plain cell": Road("return torch.rnn_tanh_cell(x, h, w_ih[:4], w_hh[:4], b_ih[:4], b_hh[:4]), c"),
    # Hidden names.
    "a name put together": Road(f"return getattr(torch, 'ls' + 'tm_cell'){CALL}"),
    "exec": Road(f"exec('from torch import lstm_cell as hidden', globals())\nreturn hidden{CALL}"),
    # Compiled.
    "scripted": Road(
        "return fused(x, h, c, w_ih, w_hh, b_ih, b_hh)",
        before="""
        from typing import Tuple
        from torch import Tensor
        @torch.jit.script
        def fused(x, h, c, w_ih, w_hh, b_ih, b_hh):
            # type: (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor) -> Tuple[Tensor, Tensor]
            return torch.lstm_cell(x, [h, c], w_ih, w_hh, b_ih, b_hh)
        """,
    ),
    "traced": Road(
        "return TRACED(x, h, c, w_ih, w_hh, b_ih, b_hh)",
        before="""
        def plain(x, h, c, w_ih, w_hh, b_ih, b_hh):
            return torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)
        ones = [torch.ones(s).double() for s in ((2, 3), (2, 4), (2, 4), (16, 3), (16, 4), (16,), (16,))]
        TRACED = torch.jit.trace(plain, ones)
        """,
    ),
    # A module out of sight.
    "a module from a file": Road(
        GIVEN,
        before="""
        import pickle
        NAMES = ('weight_ih', 'weight_hh', 'bias_ih', 'bias_hh')
        CELL = pickle.loads(b'ctorch.nn.modules.rnn\\nLSTMCell\\n(I3\\nI4\\ntR.').double()
        """,
    ),
    # Where the watched mode is left.
    "outside inference mode": Road(
        f"with torch.inference_mode(False):\n    x, h, c, w_ih, w_hh, b_ih, b_hh = (v.clone() for v in "
        f"(x, h, c, w_ih, w_hh, b_ih, b_hh))\n    return getattr(torch, 'lstm' + '_cell'){CALL}",
    ),
    # Torch's own taken apart.
    "the decomposition": Road(
        "from torch._decomp import decompositions\n"
        "gates = F.linear(x, w_ih, b_ih)\n"
        "return decompositions.lstm_cell(gates, h, c, w_hh, b_hh, None, chunk_dim=1)",
    ),
    "the decomposition of a layer": Road(
        "from torch._decomp.decompositions import one_layer_lstm as one\n"
        "out, (h_n, c_n) = one(x[None], (h, c), (w_ih, w_hh, b_ih, b_hh), True)\n"
        "return h_n, c_n",
    ),
    "quantizable": Road(
        "import torch.ao.nn.quantizable as q\ncell = q.LSTMCell(x.shape[1], h.shape[1]).to(x.dtype)\n"
        "cell.igates.weight, cell.hgates.weight = nn.Parameter(w_ih), nn.Parameter(w_hh)\n"
        "cell.igates.bias, cell.hgates.bias = nn.Parameter(b_ih), nn.Parameter(b_hh)\nreturn cell(x, (h, c))",
    ),
    # Elsewhere: in threads, in modes, at other keys, in programs.
    "another thread": Road(
        "from concurrent.futures import ThreadPoolExecutor\n"
        f"return ThreadPoolExecutor(1).submit(lambda: torch.lstm_cell{CALL}).result()"
    ),
    "another process": Road(
        "import multiprocessing as mp\n"
        "fork = mp.get_context('fork')\nnear, far = fork.Pipe()\n"
        f"work = lambda: far.send([t.tolist() for t in torch.lstm_cell{CALL}])\n"
        "fork.Process(target=work).start()\nassert near.poll(2)\n"
        "return tuple(torch.tensor(t).double() for t in near.recv())"
    ),
    "another program": Road(
        "import json, subprocess, sys\n"
        "given = [t.tolist() for t in (x, h, c, w_ih, w_hh, b_ih, b_hh)]\n"
        "code = ('import json, sys, torch;'"
        " 'x, h, c, *w = [torch.tensor(t).double() for t in json.load(sys.stdin)];'"
        " 'print(json.dumps([t.tolist() for t in torch.lstm_cell(x, (h, c), *w)]))')\n"
        "command = [sys.executable, '-c', code]\n"
        "told = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True)\n"
        "return tuple(torch.tensor(t).double() for t in json.loads(told.stdout))"
    ),
    "a key below": Road(
        "cell = torch.ops.aten.lstm_cell.default\n"
        "return cell._op_dk(torch._C.DispatchKey.AutogradCPU, x, [h, c], w_ih, w_hh, b_ih, b_hh)"
    ),
    "no autograd": Road(f"with torch._C._AutoDispatchBelowAutograd():\n    return torch.lstm_cell{CALL}"),
    "no dispatch to Python": Road(
        "with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():\n"
        f"    return torch.lstm_cell{CALL}"
    ),
    "a graph that was made of it": Road(
        "from torch.fx.experimental.proxy_tensor import make_fx\n"
        "given = (x, h, c, w_ih, w_hh, b_ih, b_hh)\n"
        "return make_fx(lambda x, h, c, *w: torch.lstm_cell(x, (h, c), *w))(*given)(*given)"
    ),
    "mkldnn's own layer": Road(
        "given = [t.float() for t in (x[None], w_ih, w_hh, b_ih, b_hh, h, c)]\n"
        "more = (False, [], 2, w_hh.shape[1], 1, True, False, False, False)\n"
        "out, h_n, c_n, _ = torch.mkldnn_rnn_layer(*given, *more)\n"
        "return h_n.reshape(h.shape).double(), c_n.reshape(c.shape).double()"
    ),
    # What is left of torch's own Python code.
    "the table of decompositions": Road(
        "from torch._decomp import decomposition_table\n"
        "layer = decomposition_table[torch.ops.aten.lstm.input]\n"
        "weights, more = [w_ih, w_hh, b_ih, b_hh], (True, 1, 0.0, False, False, False)\n"
        "_, h, c = layer(x[None], (h[None], c[None]), weights, *more)\n"
        "return h[0], c[0]"
    ),
    "functions that the collector knows": Road(
        "import gc, types\nimport torch._decomp.decompositions\ngc.unfreeze()\n"
        "every = [f for f in gc.get_objects() if type(f) is types.FunctionType]\n"
        "one = next(f for f in every if f.__name__ == 'one_layer_lstm')\n"
        "out, (h_n, c_n) = one(x[None], (h, c), (w_ih, w_hh, b_ih, b_hh), True)\nreturn h_n, c_n"
    ),
    "its source, read and run": Road(
        "import ast, pathlib\nfile = pathlib.Path(torch.__file__).parent / '_decomp' / 'decompositions.py'\n"
        "parsed = ast.parse(file.read_text())\n"
        "own = [n for n in parsed.body if getattr(n, 'name', '') in ('lstm_cell', 'one_layer_lstm')]\n"
        "space = {'torch': torch, 'F': F}\nexec(compile(ast.Module(own, []), '<own>', 'exec'), space)\n"
        "one = space['one_layer_lstm']\n"
        "out, (h_n, c_n) = one(x[None], (h, c), (w_ih, w_hh, b_ih, b_hh), True)\nreturn h_n, c_n"
    ),
    "imported again": Road(
        "import importlib, torch.ao.nn.quantizable.modules.rnn as rnn\nimportlib.reload(rnn)\n"
        "cell = rnn.LSTMCell(x.shape[1], h.shape[1]).to(x.dtype)\n"
        "cell.igates.weight, cell.hgates.weight = nn.Parameter(w_ih), nn.Parameter(w_hh)\n"
        "cell.igates.bias, cell.hgates.bias = nn.Parameter(b_ih), nn.Parameter(b_hh)\nreturn cell(x, (h, c))"
    ),
}

HONEST = """
def step(x, h, c, w_ih, w_hh, b_ih, b_hh):
    i, f, g, o = (F.linear(x, w_ih, b_ih) + F.linear(h, w_hh, b_hh)).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
"""


def arguments():
    generator = torch.Generator().manual_seed(5)
    shapes = ((B, D), (B, H), (B, H), (4 * H, D), (4 * H, H), (4 * H,), (4 * H,))
    return tuple(torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)


def submission_of(source, without=None):
    source = HEADER + source
    filename = f"<cell {abs(hash(source))}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"__name__": "__main__"}
    exec(compile(source, filename, "exec"), namespace)
    return Submission(Executor(namespace, without=without).perform, sources={"step": source})


def right(answer):
    """Return whether these are the hidden and the cell state that torch computes."""
    expected = nn.LSTMCell(D, H, dtype=torch.float64)
    x, h_0, c_0, *weights = arguments()
    for own, given in zip(expected.parameters(), weights, strict=True):
        own.data = given
    wanted = expected(x, (h_0, c_0))
    if not isinstance(answer, (list, tuple)) or len(answer) != 2:
        return False
    pairs = zip(answer, wanted, strict=True)
    return all(
        isinstance(one, torch.Tensor) and one.shape == two.shape and torch.allclose(one, two)
        for one, two in pairs
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ROADS)
def test_every_road_arrives(name):
    """A road that leads nowhere would be no attack."""
    h, c = submission_of(ROADS[name].source).step(*arguments())
    assert h.shape == (B, H)
    assert name in ("a module of another kind", "a plain cell") or right((h, c))


@pytest.mark.parametrize("without", [RECURRENT, RECURRENT_MODULES], ids=["no kernels", "no modules"])
@pytest.mark.parametrize("name", ROADS)
def test_no_road_arrives_where_a_task_is_judged(name, without, workers):
    worker = workers.spawn(without)
    try:
        worker.perform([RunCell(source=HEADER + ROADS[name].source)], 30)
        handle = Submission(lambda messages: worker.perform(messages, 30), without=without)
        with suppress(StudentError):
            assert not right(handle.step(*arguments()))
    finally:
        worker.end()


def test_an_honest_step_arrives(workers):
    for without in (RECURRENT, RECURRENT_MODULES):
        worker = workers.spawn(without)
        worker.perform([RunCell(source=HEADER + HONEST)], 30)
        handle = Submission(partial(worker.perform, seconds=30))
        assert right(handle.step(*arguments()))
        worker.end()


def test_what_fails_for_the_want_of_it_is_passed_over(workers):
    """A comparison with torch in the cell of an answer costs nothing of what the cell defines below."""
    compared = "want = nn.LSTMCell(3, 4)(torch.zeros(2, 3))\nassert want[0].shape == (2, 4)\n"
    worker = workers.spawn(RECURRENT_MODULES)
    (ran,) = worker.perform([RunCell(source=HEADER + compared + HONEST + compared)], 30)
    assert ran.missed is True
    assert ran.error is None
    assert right(Submission(lambda messages: worker.perform(messages, 30)).step(*arguments()))
    worker.end()


def test_in_a_notebook_what_lacks_is_back_after_every_request():
    """References are computed in the same process, and so is whatever the student runs next."""
    for source in (ROADS["the function"].source, ROADS["the module"].source):
        handle = submission_of(source, RECURRENT_MODULES)
        with pytest.raises(StudentError, match="from scratch"):
            handle.step(*arguments())
        cell = nn.LSTMCell(D, H)
        cell(torch.zeros(B, D))[0].sum().backward()
        assert cell.weight_ih.grad is not None
        assert right(submission_of(source).step(*arguments()))


def test_where_nothing_is_lacking_the_source_is_looked_at():
    """An older course's checks do not say what their tasks are judged without."""
    handle = submission_of(ROADS["the function"].source)
    with pytest.raises(CheckFailed, match="from scratch"):
        expect_from_scratch(handle, "step", handle.step, arguments())
    honest = submission_of(HONEST)
    expect_from_scratch(honest, "step", honest.step, arguments())


# The source alone


@pytest.mark.parametrize(
    "source",
    [
        "def f(cell: nn.LSTMCell) -> nn.LSTMCell:\n    x: nn.LSTMCell = cell\n    return x",
        "def f(cell):\n    'nn.LSTMCell'\n    assert isinstance(cell, (nn.LSTM, nn.RNN))  # nn.LSTM",
        "def f(cell):\n    return type(cell) is nn.RNN or nn.RNN == cell.__class__",
        "def f(cell):\n    match cell:\n        case nn.RNN():\n            return 1",
        "def f(x):\n    cell = x\n    return cell\ncell = nn.LSTMCell(1, 1)\nprint(cell(x), f(x))",
        "def f(x):\n    return [out for out in x]\nout = torch.lstm_cell(x)",
        "def f(x):\n    return x\ndef test():\n    return f(nn.LSTM(1, 1))",
        "def f(x):\n    return nn.LSTM(x)\ndef f(x):\n    return x",
        "from torch.nn import LSTMCell\nclass f(nn.Module):\n    pass",
        "from torch.nn import f\nclass f(nn.Module):\n    def g(self):\n        return super(f, self)",
        "def f(x):\n    return self.LSTM(x) + x.lstm + nn.utils.rnn.pad_sequence(x)",
        "%matplotlib inline\n!ls\ndef f(x):\n    return x",
        "def f(x:\n    return nn.LSTM",
        "",
    ],
)
def test_a_mention_is_no_use(source):
    assert forbidden_uses({"f": source}, "f", NAMES) == []


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def f(x):\n    return nn.LSTM(1, 1)(x)", 2),
        ("import torch as t\ndef f(x):\n    return t.nn.LSTM(1, 1)(x)", 3),
        ("def f(x):\n    import torch as t\n    return t.lstm_cell(x)", 3),
        ("from torch.nn import LSTM as L\ndef f(x):\n    return L(1, 1)(x)", 3),
        ("from torch import _VF\ndef f(x):\n    return _VF.lstm(x)", 3),
        ("def f(x):\n    return getattr(nn, 'LSTM')(1, 1)(x)", 2),
        ("def f(x):\n    return torch.ops.aten.lstm_cell(x)", 2),
        ("def helper(x):\n    return nn.GRU(1, 1)(x)\ndef f(x):\n    return helper(x)", 2),
        ("net = nn\ndef f(x):\n    return net.RNN(1, 1)(x)", 3),
        ("cell = nn.LSTMCell(1, 1)\ndef f(x):\n    return cell(x)", 1),
        ("a, cell = 1, nn.LSTMCell(1, 1)\ndef f(x):\n    return cell(x)", 1),
        ("if True:\n    cell = nn.LSTMCell(1, 1)\ndef f(x):\n    return cell(x)", 2),
        ("if True:\n    def f(x):\n        return nn.RNN(1, 1)(x)", 3),
        ("def f(x):\n    return nn.RNN(1, 1)(x)\nf = wrap(f)", 2),
        ("def f(x):\n    return f.cell(x)\nf.cell = torch.lstm_cell", 3),
        ("class f(nn.LSTM):\n    pass", 1),
        ("def f(x, kind=nn.RNN):\n    return kind(1, 1)(x)", 1),
        ("%time\ndef f(x):\n    return isinstance(nn.RNN(1, 1)(x), list)", 3),
    ],
)
def test_a_use_is_found_with_its_line(source, line):
    assert {line for _, line, _ in forbidden_uses({"f": source}, "f", NAMES)} == {line}


def test_what_the_answer_uses_is_read_in_every_cell():
    cells = {"mine": "helper = torch.lstm_cell\nother = nn.GRU", "f": "def f(x):\n    return helper(x)"}
    assert forbidden_uses(cells, "f", NAMES) == [("mine", 1, "torch.lstm_cell")]


@pytest.mark.parametrize(
    "head",
    ["!ls", "%%time", "names = !ls", "if True:\n    !ls", "if True:\n    y = %time 1", "x = (5\n  % 3)"],
)
def test_lines_that_are_not_python_hide_nothing(head):
    source = f"{head}\ndef f(x):\n    return torch.lstm_cell(x)"
    assert [use for _, _, use in forbidden_uses({"f": source}, "f", NAMES)] == ["torch.lstm_cell"]
