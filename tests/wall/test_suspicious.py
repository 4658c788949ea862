"""The reading for code that could lie to a check: it must see it, and must not cry wolf."""

import pytest

from autograder.grading.judging.suspicious import unusual_code


@pytest.mark.parametrize(
    ("source", "what"),
    [
        (
            "import autograder.worker.forkserver as o\no.main = None",
            "import autograder.worker.forkserver",
        ),
        (
            "from autograder.worker.forkserver import main",
            "from autograder.worker.forkserver import …",
        ),
        ("import sys\nsys.modules['autograder.worker.forkserver'].main = None", "sys.modules"),
        ("helper = vars(torch)['lstm_' + 'cell']", "vars(torch)"),
        ("helper = torch.__dict__['x']", "torch.__dict__"),
        ("def f():\n    return getattr(torch, 'lstm_' + 'cell')", "getattr(…)"),
        ("helper = getattr(torch, ''.join(reversed('llec_mtsl')))", "getattr(…)"),
        ("helper = getattr(torch.nn.functional, 'llec_mtsl'[::-1])", "getattr(…)"),
        ("if torch.is_inference_mode_enabled(): pass", "is_inference_mode_enabled"),
        ("exec('import ctypes')", "import ctypes"),
        ("exec(f'import sys; sys._getframe({1})')", "_getframe"),
        ("import base64\nexec(bytes.fromhex('31').decode())", "exec(…)"),
        ("eval('torch.' + '_C')", "_C"),
        ("import ctypes", "import ctypes"),
        ("!ls\nx = !ls\nimport ctypes", "import ctypes"),
        ("%%time\nnn.LSTM?\n?nn.LSTM\nimport ctypes", "import ctypes"),
        ("__import__('ctypes')", "import …"),
        ("library = torch.ctypes.CDLL('libtorch_cpu.so')", "CDLL"),
        ("import numpy as np\ncall = np.ctypeslib.as_array", "ctypeslib"),
        ("address = h._cdata", "_cdata"),
        ("import importlib\nimportlib.import_module('autograder.worker.forkserver')", "import …"),
        (
            "import importlib\nfor name in ['autograder.worker.session']:\n    importlib.import_module(name)",
            "import …",
        ),
        ("place = '/lib/autograder/worker/session/operations.py'", "autograder/worker"),
        ("from sys import modules", "sys.modules"),
        ("import sys\nname = 'autograder' + '.worker'\nroom = sys.modules[name]", "sys.modules"),
        ("code = 'x = 1\\nimport ctypes'\nexec(code)", "import ctypes"),
        ("code = bytes.fromhex('31').decode()\nexec(code)", "exec(…)"),
        ("name = 'lstm_' + 'cell'\nhelper = getattr(torch, name)", "getattr(…)"),
        ("import gc\nfor o in gc.get_objects(): pass", "get_objects"),
        ("from gc import get_referrers", "get_referrers"),
        ("import inspect\nseen = inspect.getclosurevars(lstm.forward.__func__)", "getclosurevars"),
        ("from inspect import getclosurevars", "getclosurevars"),
        ("import inspect\ninspect.stack()", "inspect.stack"),
        ("from inspect import stack", "stack"),
        ("import inspect\ncaller = inspect.currentframe()", "currentframe"),
        ("import traceback\ntraceback.extract_stack()", "extract_stack"),
        ("import sys\nsys.settrace(print)", "settrace"),
        ("import sys\nfor module in list(sys.modules.values()): pass", "sys.modules"),
        ("import builtins\nbuiltins.len = None", "builtins.len = …"),
        ("torch.utils._python_dispatch.x = 1", "_python_dispatch"),
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
        "for gate in 'ifgo':\n    exec(f'W_{gate} = torch.zeros(3)')",
        "for gate in 'ifgo':\n    exec('W_' + gate + ' = torch.zeros(3)')",
        "exec('1')",
        "code = 'y = 2'\nexec(code)",
        "for name in ('sigmoid', 'tanh'):\n    print(getattr(torch, name))",
        "kind = 'LSTM'\nlayer = eval(f'nn.{kind}')",
        "print(eval('2 + 3'))",
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
