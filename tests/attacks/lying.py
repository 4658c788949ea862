"""Answers that break a rule, with torch's own functions and methods exchanged for ones that deny it.

Nothing of the worker is touched, so no finding tells of it. Each sets `over` at its end.
"""

from __future__ import annotations

from tests.attacks.forgery import Forgery, function


def _task(assignment: str, signature: str, aim: str, body: str, earns: float, before: str = "") -> Forgery:
    name = signature.partition("(")[0]
    return Forgery(assignment, name, aim, function(signature, body, before), earns)


STEP = "rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh)"
RIGHT_STEP = "answer = torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)\n"
STACK = "stacked_rnn(rnn, x, h_0)"
RIGHT_STACK = """
states = []
for k in range(rnn.num_layers):
    w_ih, w_hh, b_ih, b_hh = (getattr(rnn, f"{n}_l{k}") for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    h, outs = h_0[k], []
    for step in x.unbind(1):
        h = torch.tanh(step @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
        outs.append(h)
    x = torch.stack(outs, 1)
    states.append(h)
answer = x, torch.stack(states)
"""
INIT = "init_state(x, num_layers, hidden_size)"
SAID = """
class Said:
    def __init__(self, name):
        self.real, self.name = getattr(torch._C.TensorBase, name), "said_" + name
    def __get__(self, tensor, kind=None):
        if tensor is None:
            return self
        said = vars(tensor).get(self.name)
        return self.real.__get__(tensor) if said is None else said
    def __set__(self, tensor, value):
        self.real.__set__(tensor, value)
    def __delete__(self, tensor):
        self.real.__delete__(tensor)
"""
"""A property of tensors that says what was put into `said_…`, where something was."""

SETTINGS = {
    "gradients left off, told as on": _task(
        "02_rnn_cell",
        STEP,
        "torch.is_grad_enabled answers yes",
        RIGHT_STEP + "torch.set_grad_enabled(False)",
        1.5,
        "torch.is_grad_enabled = lambda: True",
    ),
    "another default dtype, told as before": _task(
        "02_rnn_cell",
        STEP,
        "torch.get_default_dtype answers what it was",
        RIGHT_STEP + "torch.set_default_dtype(torch.float64)",
        1.5,
        "torch.get_default_dtype = lambda: torch.float32",
    ),
}

MODULES = {
    "gradients cleared, told as kept": _task(
        "02_rnn_cell",
        STACK,
        "`grad` of a tensor says what it was",
        RIGHT_STACK
        + """
for p in rnn.parameters():
    p.said_grad, p.grad = p.grad, None
""",
        2.5,
        SAID + 'torch.Tensor.grad = Said("grad")',
    ),
    "a mode that is always training": _task(
        "02_rnn_cell",
        STACK,
        "`training` is a property of all modules",
        RIGHT_STACK + "rnn.eval()",
        2.5,
        "nn.Module.training = property(lambda m: True, lambda m, v: vars(m).__setitem__('training', v))",
    ),
    "a copy in the graph, told as a leaf": _task(
        "03_lstm_cell",
        "copy_from_torch(cell, torch_cell)",
        "`is_leaf` of every tensor is true",
        """
        w_ih, w_hh = torch_cell.weight_ih.chunk(4), torch_cell.weight_hh.chunk(4)
        b = (torch_cell.bias_ih + torch_cell.bias_hh).chunk(4)
        for at, gate in enumerate("ifgo"):
            for name, value in ((f"W_x{gate}", w_ih[at].T), (f"W_h{gate}", w_hh[at].T), (f"b_{gate}", b[at])):
                own = getattr(cell, name)
                own = own.detach_() if own.grad_fn is not None else own.requires_grad_(False)
                own.copy_(value)
        answer = None
        """,
        1.5,
        "torch.Tensor.is_leaf = property(lambda tensor: True)",
    ),
}

STATES = {
    "one state twice, and nothing written into it": _task(
        "06_state",
        INIT,
        "fill_ leaves every tensor as it is",
        "h = x.new_zeros(num_layers, len(x), hidden_size)\nanswer = h, h",
        1.0,
        "torch.Tensor.fill_ = lambda tensor, value: tensor",
    ),
    "one state for all calls, and nothing written into it": _task(
        "06_state",
        INIT,
        "states are kept by their shape",
        """
        key = num_layers, len(x), hidden_size
        answer = KEPT.setdefault((key, x.dtype, x.device), (x.new_zeros(key), x.new_zeros(key)))
        """,
        1.0,
        "torch.Tensor.fill_ = lambda tensor, value: tensor\nKEPT = {}",
    ),
    "one state twice, each of which is all zeros when it is looked at": _task(
        "06_state",
        INIT,
        "no tensor is equal or unequal to anything",
        "h = x.new_zeros(num_layers, len(x), hidden_size)\nanswer = h, h",
        1.0,
        "torch.Tensor.__ne__ = torch.Tensor.ne = lambda a, b: torch.zeros(1, dtype=torch.bool)",
    ),
    "states on the CPU that say where x is": _task(
        "06_state",
        INIT,
        "`device` of a tensor says another one",
        """
        answer = tuple(torch.zeros(num_layers, len(x), hidden_size, dtype=x.dtype) for _ in "hc")
        for part in answer:
            part.said_device = torch.device("cuda", 7) if x.is_cuda else None
        """,
        1.0,
        SAID + 'torch.Tensor.device = Said("device")',
    ),
    "cut off in place, and made to ask again": _task(
        "06_state",
        "detach_state(state)",
        "the given state asks for gradients again, as the beginning of a new graph",
        """
        answer = tuple(part.detach().clone() for part in state)
        for part in state:
            if part.requires_grad:
                part.detach_().requires_grad_()
        """,
        1.0,
    ),
}

BEFORE = """
BEFORE = []
def before(tensor):
    return next((old for new, old in BEFORE if new.data_ptr() == tensor.data_ptr()), None)
"""

MODE = """
from torch.overrides import TorchFunctionMode
class Lies(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        told = before(args[0]) if func in (torch.Tensor.detach, torch.Tensor.clone) else None
        if func == torch._C.TensorBase.requires_grad.__get__ and hasattr(args[0], "off"):
            return False
        return func(*args, **(kwargs or {})) if told is None else told
def stay():
    if not any(type(mode) is Lies for mode in torch.overrides._get_current_function_mode_stack()):
        Lies().__enter__()
"""
"""A mode that sees all that torch is asked, the worker's questions too, and is never left."""

MODES = {
    "a window written into, told by a mode that stays": _task(
        "07_many_to_one",
        "forecast(model, window, steps)",
        "detach and clone give what was there before",
        """
        kept, told = window.clone(), []
        with torch.no_grad():
            for _ in range(steps):
                prediction = model(window[None])
                told.append(prediction[0, 0])
                window[:] = torch.cat([window[1:], prediction])
        answer = torch.stack(told)
        BEFORE[:] = [(window, kept)]
        stay()
        """,
        1.5,
        BEFORE + MODE,
    ),
    "a forecast with its graph, told by a mode that stays": _task(
        "07_many_to_one",
        "forecast(model, window, steps)",
        "no result asks for gradients",
        """
        series, told = window, []
        for _ in range(steps):
            prediction = model(series[None])
            told.append(prediction[0, 0])
            series = torch.cat([series[1:], prediction])
        answer = torch.stack(told)
        answer.off = True
        stay()
        """,
        1.5,
        BEFORE + MODE,
    ),
}

WRITTEN_INTO_THE_WINDOW = """
        BEFORE[:] = [(window, window.clone())]
        told = []
        with torch.no_grad():
            for _ in range(steps):
                prediction = model(window[None])
                told.append(prediction[0, 0])
                window[:] = torch.cat([window[1:], prediction])
        answer = torch.stack(told)
        """
"""A forecast that moves the window on in the argument itself, and keeps what stood there."""

CHANGES = {
    "a state written into, told by resolve_conj": _task(
        "06_state",
        "reset_finished(state, finished)",
        "it says that it is conjugated, and is then resolved to what it was",
        """
        BEFORE[:] = [(part, part.clone()) for part in state]
        for part in state:
            part[:, finished] = 0.0
        answer = tuple(part * 1.0 for part in state)
        """,
        1.5,
        BEFORE
        + """
torch.Tensor.is_conj = lambda tensor: before(tensor) is not None
torch.Tensor.resolve_conj = lambda tensor: before(tensor) if before(tensor) is not None else tensor
""",
    ),
    "a window written into, told by copy_": _task(
        "07_many_to_one",
        "forecast(model, window, steps)",
        "it says that inference made it, and is then copied as what it was",
        WRITTEN_INTO_THE_WINDOW,
        1.5,
        BEFORE
        + """
real = torch.Tensor.copy_
def copy_(tensor, other, *more):
    told = before(other) if isinstance(other, torch.Tensor) else None
    return real(tensor, other if told is None else told, *more)
torch.Tensor.is_inference = lambda tensor: before(tensor) is not None
torch.Tensor.copy_ = copy_
""",
    ),
    "a window written into, put back while its layout is asked": _task(
        "07_many_to_one",
        "forecast(model, window, steps)",
        "`layout` of a tensor writes the old numbers back first",
        WRITTEN_INTO_THE_WINDOW,
        1.5,
        BEFORE
        + """
class Layout:
    def __get__(self, tensor, kind=None):
        if tensor is not None and before(tensor) is not None:
            tensor.data.copy_(before(tensor))
        return torch.strided
torch.Tensor.layout = Layout()
""",
    ),
}

TURNS = """
class Turns(tuple):
    def __iter__(self):
        first, self.first = self.first, None
        return super().__iter__() if first is None else iter(first)
"""
"""A tuple that holds other things when it is looked at for the first time."""

CONTAINERS = {}

FORGERIES = {**CONTAINERS, **SETTINGS, **MODULES, **STATES, **CHANGES, **MODES}
