"""The reading for code that could lie to a check: it must see it, and must not cry wolf."""

import pytest

from autograder.grading.unusual import unusual_code


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import autograder.worker.objects as o\no.KernelLog = None", "import autograder.worker.objects"),
        ("from autograder.worker.objects import KernelLog", "from autograder.worker.objects import …"),
        ("import sys\nsys.modules['autograder.worker.objects'].KernelLog = None", "sys.modules"),
        ("helper = vars(torch)['lstm_' + 'cell']", "vars(torch)"),
        ("helper = torch.__dict__['x']", "torch.__dict__"),
        ("def f():\n    return getattr(torch, 'lstm_' + 'cell')", "getattr(torch, …)"),
        ("helper = getattr(torch, ''.join(reversed('llec_mtsl')))", "getattr(torch, …)"),
        ("if torch.is_inference_mode_enabled(): pass", "is_inference_mode_enabled"),
        ("exec('1')", "exec(…)"),
        ("import ctypes", "import ctypes"),
        ("import gc\nfor o in gc.get_objects(): pass", "import gc"),
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
