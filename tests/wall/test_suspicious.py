"""The reading for code that could lie to a check: it must see it, and must not cry wolf."""

import pytest

from autograder.grading.judging.suspicious import unusual_code


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import autograder.worker.forkserver as o\no.main = None", "import autograder.worker.forkserver"),
        ("from autograder.worker.forkserver import main", "from autograder.worker.forkserver import main"),
        ("from autograder import worker", "from autograder import worker"),
        ("import sys\nsys.modules['autograder.worker.forkserver'].main = None", "autograder.worker"),
        ("place = '/lib/autograder/worker/session/operations.py'", "autograder.worker"),
        ("exec('import ctypes')", "ctypes"),
        ("import ctypes", "import ctypes"),
        ("!ls\nx = !ls\nimport ctypes", "import ctypes"),
        ("%%time\nnn.LSTM?\n?nn.LSTM\nimport ctypes", "import ctypes"),
        ("from torch._C import _VariableFunctions", "from torch._C import _VariableFunctions"),
        ("run = torch._C._VariableFunctions.lstm", "torch._C"),
        ("library = torch.ctypes.CDLL('libtorch_cpu.so')", "CDLL"),
        ("from gc import get_referrers", "from gc import get_referrers"),
        ("import inspect\nseen = inspect.getclosurevars(lstm.forward.__func__)", "getclosurevars"),
        ("import sys\nsys.settrace(print)", "settrace"),
        ("import builtins\nbuiltins.len = None", "builtins.len = …"),
        ("import requests\nw = requests.get('https://a.b').json()", "import requests"),
    ],
)
def test_reaching_into_the_process_is_a_finding(source, what):
    (finding,) = unusual_code({"task": source})
    assert finding.kind == "unusual_code"
    assert f"`{what}`" in finding.message


@pytest.mark.parametrize(
    "source",
    [
        "weights = [getattr(rnn, f'weight_ih_l{k}') for k in range(3)]",
        "activations = [getattr(torch, name) for name in ('sigmoid', 'tanh')]",
        "act = getattr(torch, 'tanh')",
        "acts = {'i': 'sigmoid'}\nact = getattr(torch, acts['i'])",
        "layer = getattr(nn, f'{kind}Cell')",
        "layer = getattr(nn, kind + 'Cell')",
        "weight = getattr(rnn, f'weight_ih_l{0}') + getattr(rnn, 'weight_hh_l' + str(0))",
        "exec('x = 1\\n' + 'y = 2')",
        "print(eval('2 + 3'))",
        "self._C = self.cell",
        "import gc\ngc.collect()",
        "from gc import collect",
        "import inspect\nprint(inspect.getsource(nn.LSTMCell), inspect.signature(f).parameters)",
        "import importlib, helpers\nimportlib.reload(helpers)",
        "import importlib\nhelpers = importlib.import_module('helpers')",
        "import builtins\nbuiltins.print('x')",
        "import sys\nprint('google.colab' in sys.modules, sys.modules[__name__])",
        "import traceback\ntraceback.print_exc()",
        "print([name for name in dir(torch) if 'sigmoid' in name])",
        "torch.stack(rows)\nstates = torch.stack",
        "import sys\nprint(sys.version)",
        "from inspect import signature\nprint(signature(f))",
        "%matplotlib inline\n!ls",
        "self.__dict__.update(x=1)",
        "cell.eval()",
        "x = torch.compile",
        "def broken(:",
    ],
)
def test_ordinary_code_is_none(source):
    assert unusual_code({"task": source}) == []
