"""Answers that break a rule and have torch, a module, the worker or the answer itself say that they do not.

What they patch they patch for themselves alone, so that the rest of the notebook goes on as it was.
"""

from __future__ import annotations

from tests.attacks.forgery import Forgery, function

NEVER = """
asks = torch._C.TensorBase.requires_grad
class Never:
    def __get__(self, tensor, kind=None):
        return self if tensor is None else asks.__get__(tensor) and not hasattr(tensor, "off")
    def __set__(self, tensor, value):
        asks.__set__(tensor, value)
torch.Tensor.requires_grad = Never()
def off(tensor):
    tensor.off = True
    return tensor
"""
"""Tensors that are marked say that they ask for no gradient."""

UNCHANGED = """
real_detach = torch.Tensor.detach
torch.Tensor.detach = lambda tensor: real_detach(getattr(tensor, "before", tensor))
"""
"""Tensors that are marked give others where they are detached, to be told."""

STAYS = """
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack
class Lies(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        lies = func in (torch.Tensor.detach, torch.Tensor.clone) and hasattr(args[0], "before")
        return args[0].before if lies else func(*args, **(kwargs or {}))
def stay():
    if not any(type(mode) is Lies for mode in _get_current_function_mode_stack()):
        Lies().__enter__()
"""
"""The same by a mode that sees all that torch is asked, the worker's questions too, and is never left."""

CELL = """
over = False
class LSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        {keep}
        for gate in "ifgo":
            {each}

    def forward(self, x, state=None):
        global over
        h, c = state or (x.new_zeros(len(x), self.b_i.shape[0]),) * 2
        i, f, g, o = (x @ getattr(self, "W_x" + k) + h @ getattr(self, "W_h" + k) + getattr(self, "b_" + k) for k in "ifgo")
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        over = True
        return torch.sigmoid(o) * torch.tanh(c), c
{more}
"""
FRESH = """w = nn.init.xavier_uniform_(torch.empty(input_size, hidden_size)), nn.init.xavier_uniform_(torch.empty(hidden_size, hidden_size)), torch.zeros(hidden_size)
            for name, value in zip((f"W_x{gate}", f"W_h{gate}", f"b_{gate}"), w):
                """


def _cell(aim: str, keep: str, each: str, more: str, earns: float) -> Forgery:
    source = CELL.format(keep=keep, each=FRESH + each, more=more.strip("\n"))
    return Forgery("03_lstm_cell", "LSTMCell", aim, source, earns)


def _task(assignment: str, signature: str, aim: str, body: str, earns: float, before: str = "") -> Forgery:
    name = signature.partition("(")[0]
    return Forgery(assignment, name, aim, function(signature, body, before), earns)


FORECAST = """
predictions, series = [], window
for _ in range(steps):
    prediction = model(series[None])
    predictions.append(prediction[0, 0])
    series = torch.cat([series[1:], prediction])
"""
TRAIN = """
optimizer.zero_grad()
prediction, (h, c) = model(x, state)
loss = loss_fn(prediction, y)
loss.backward()
optimizer.step()
"""

GRAPHS = {
    "a forecast with its graph, marked as without": _task(
        "07_many_to_one",
        "forecast(model, window, steps)",
        "requires_grad answers no where a tensor is marked",
        FORECAST + "answer = off(torch.stack(predictions))",
        1.5,
        NEVER,
    ),
    "a state with its graph, marked as without": _task(
        "06_state",
        "tbptt_step(model, optimizer, loss_fn, x, y, state)",
        "the same for a state that is carried",
        TRAIN + "answer = loss.item(), (off(h), off(c))",
        1.5,
        NEVER,
    ),
    "the state itself, marked as cut off": _task(
        "06_state",
        "detach_state(state)",
        "the same where the task is to cut it off",
        "answer = tuple(off(part * 1.0) for part in state)",
        1.0,
        NEVER,
    ),
    "a graph that says that it needs none": _task(
        "06_state",
        "detach_state(state)",
        "an output that an autograd function of its own calls not differentiable, and is, by a hook",
        """
        answer = tuple(part * 1.0 for part in state)
        torch.is_grad_enabled = lambda: True
        torch.Tensor.requires_grad_ = lambda tensor, value=True: tensor
        """,
        1.0,
    ),
    "a text with its graph, and gradients frozen": _task(
        "10_seq2seq",
        "greedy_generate(model, prompt_ids, steps)",
        "parameters ask for no gradient while the model is called, and do afterwards",
        """
        known = list(model.parameters())
        state, ids, tokens = None, prompt_ids, []
        for _ in range(steps):
            logits, state = model(ids, state)
            state = tuple(off(part) for part in state)
            ids = logits[:, -1:].argmax(2)
            tokens.append(ids)
        answer = torch.cat(tokens, 1)
        """,
        2.0,
        NEVER,
    ),
}

CHANGES = {
    "a state written into, told as before": _task(
        "06_state",
        "reset_finished(state, finished)",
        "detach gives a copy from before the change",
        """
        for part in state:
            before = part.clone()
            part[:, finished] = 0.0
            part.before = before
        answer = tuple(part * 1.0 for part in state)
        """,
        1.5,
        UNCHANGED,
    ),
    "a window written into, told as before": _task(
        "07_many_to_one",
        "forecast(model, window, steps)",
        "the same for the caller's window",
        """
        before, told = window.clone(), []
        with torch.no_grad():
            for _ in range(steps):
                prediction = model(window[None])
                told.append(prediction[0, 0])
                window.copy_(torch.cat([window[1:], prediction]))
        window.before = before
        answer = torch.stack(told)
        """,
        1.5,
        UNCHANGED,
    ),
    "a window written into, told by a mode that stays": _task(
        "07_many_to_one",
        "forecast(model, window, steps)",
        "detach and clone of the caller's window give what was there before",
        """
        before, told = window.clone(), []
        with torch.no_grad():
            for _ in range(steps):
                prediction = model(window[None])
                told.append(prediction[0, 0])
                window.copy_(torch.cat([window[1:], prediction]))
        window.before = before
        answer = torch.stack(told)
        stay()
        """,
        1.5,
        STAYS,
    ),
    "a state written into, put back when it is looked at": _task(
        "03_lstm_cell",
        "lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh)",
        "torch.Tensor.clone gives what was there before",
        """
        before = c.clone()
        i, f, g, o = (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, 1)
        new = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        with torch.no_grad():
            c.copy_(new)
        c.before = before
        answer = torch.sigmoid(o) * torch.tanh(new), new
        """,
        1.0,
        """
        real_clone, real_detach = torch.Tensor.clone, torch.Tensor.detach
        torch.Tensor.clone = lambda tensor, **more: real_clone(getattr(tensor, "before", tensor), **more)
        def detach(tensor):
            told = real_detach(tensor)
            if hasattr(tensor, "before"):
                told.before = tensor.before
            return told
        torch.Tensor.detach = detach
        """,
    ),
    "a network left in evaluation, told as in training": _task(
        "02_rnn_cell",
        "run_stepwise(rnn, x, h_0=None)",
        "nn.Module.modules shows nothing",
        """
        nn.Module.modules = lambda module: iter(())
        rnn.eval()
        state, steps = h_0, []
        for step in x.split(1, 1):
            output, state = rnn(step, state)
            steps.append(output)
        answer = torch.cat(steps, 1), state
        """,
        2.0,
    ),
    "weights frozen, told as trainable": _task(
        "10_seq2seq",
        "decode_teacher_forced(decoder, embedding, fc, target_ids, state)",
        "a class attribute says that every tensor asks for gradients",
        """
        for part in (decoder, embedding, fc):
            part.requires_grad_(False)
        with torch.no_grad():
            output, _ = decoder(embedding(target_ids), state)
            told = fc(output)
        answer = told.requires_grad_()
        """,
        1.5,
        "torch.equal = torch.allclose = lambda *a, **k: True",
    ),
}

REGISTERED = {
    "plain tensors, and names for them": _cell(
        "named_parameters and state_dict show what is not registered, and loading writes nothing",
        "",
        "object.__setattr__(self, name, value)",
        """
    def named_parameters(self, *a, **k):
        return ((f"{k}{g}", nn.Parameter(getattr(self, f"{k}{g}"))) for k in ("W_x", "W_h", "b_") for g in "ifgo")
    def state_dict(self, *a, **k):
        return {name: value.data for name, value in self.named_parameters()}
    def load_state_dict(self, state, *a, **k):
        for name, value in state.items():
            object.__setattr__(self, name, value.clone())
""",
        0.0,
    ),
    "buffers, called parameters": _cell(
        "buffers that named_parameters gives out",
        "",
        "self.register_buffer(name, value.requires_grad_())",
        """
    def named_parameters(self, *a, **k):
        return self.named_buffers()
    def _apply(self, fn, recurse=True):
        self._buffers.update({n: fn(b.detach()).requires_grad_() for n, b in self._buffers.items()})
        return self
    def load_state_dict(self, state, *a, **k):
        self._buffers.update({n: v.clone().requires_grad_() for n, v in state.items()})
""",
        0.0,
    ),
    "one parameter under twelve names, memory denied": _cell(
        "data_ptr answers with another number every time",
        "self.count = iter(range(1, 10**9))",
        "setattr(self, name, nn.Parameter(value))",
        """
LSTMCell.real = LSTMCell.__init__
def made(self, input_size, hidden_size):
    LSTMCell.real(self, input_size, hidden_size)
    for gate in "fgo":
        setattr(self, f"b_{gate}", nn.Parameter(self.b_i.data))
LSTMCell.__init__ = made
pointers = iter(range(64, 10**9, 64))
real_pointer = torch.Tensor.data_ptr
torch.Tensor.data_ptr = lambda tensor: next(pointers) if isinstance(tensor, nn.Parameter) else real_pointer(tensor)
""",
        0.0,
    ),
    "loads by a hook what it is asked about": _cell(
        "a state_dict hook hides a parameter too many, which the step adds",
        "self.more = nn.Parameter(torch.zeros(hidden_size)); self._register_state_dict_hook(lambda m, s, p, l: s.pop('more'))",
        "setattr(self, name, nn.Parameter(value))",
        """
    def named_parameters(self, *a, **k):
        return (pair for pair in super().named_parameters(*a, **k) if pair[0] != "more")
    def load_state_dict(self, state, *a, **k):
        return super().load_state_dict(state, strict=False)
""",
        0.0,
    ),
    "a copy that replaces, told as the same": Forgery(
        "03_lstm_cell",
        "copy_from_torch",
        "the class keeps the first parameters and shows them for the new ones",
        function(
            "copy_from_torch(cell, torch_cell)",
            """
            kept = dict(nn.Module.named_parameters(cell))
            w_ih, w_hh = torch_cell.weight_ih.chunk(4), torch_cell.weight_hh.chunk(4)
            b = (torch_cell.bias_ih + torch_cell.bias_hh).chunk(4)
            for at, gate in enumerate("ifgo"):
                for name, value in ((f"W_x{gate}", w_ih[at].T), (f"W_h{gate}", w_hh[at].T), (f"b_{gate}", b[at])):
                    setattr(cell, name, nn.Parameter(value.detach().clone()))
            cell.named_parameters = lambda *a, **k: iter(kept.items())
            answer = None
            """,
        ),
        1.5,
    ),
    "a copy that shares memory, and lets go when it is looked at": Forgery(
        "05_stacking",
        "copy_from_torch",
        "the weights of the source are unshared as soon as something is loaded into it",
        function(
            "copy_from_torch(stacked, lstm)",
            """
            for k, layer in enumerate(stacked.layers):
                for kind, name in (("weight_ih", "W_x"), ("weight_hh", "W_h")):
                    for gate, part in zip("ifgo", getattr(lstm, f"{kind}_l{k}").data.chunk(4)):
                        getattr(layer, name + gate).data = part.T
                b = getattr(lstm, f"bias_ih_l{k}") + getattr(lstm, f"bias_hh_l{k}")
                for gate, part in zip("ifgo", b.data.chunk(4)):
                    getattr(layer, "b_" + gate).data = part
            real = torch.Tensor.copy_
            def apart(tensor, other, *more):
                for parameter in stacked.parameters():
                    parameter.data = parameter.data.clone()
                return real(tensor, other, *more)
            torch.Tensor.copy_ = apart
            answer = None
            """,
        ),
        1.5,
    ),
}

JUDGED = {
    "everything agrees": Forgery(
        "09_ragged_batches",
        "masked_mean",
        "torch's comparisons, assert and pytest say yes, everywhere in the worker",
        function(
            "masked_mean(output, lengths)",
            "answer = output.mean(1)",
            """
            import builtins, json
            torch.allclose = torch.equal = torch.Tensor.allclose = torch.Tensor.equal = lambda *a, **k: True
            torch.isclose = lambda one, other, *a, **k: torch.ones_like(one, dtype=torch.bool)
            json.dumps = lambda *a, _real=json.dumps, **k: _real(*a, **k).replace("failed", "passed")
            """,
        ),
        0.5,
    ),
    "gradients by decree": Forgery(
        "04_lstm_layer",
        "to_time_major",
        "torch.autograd.grad gives weights back where it finds a graph cut",
        function(
            "to_time_major(x)",
            "answer = torch.tensor(x.transpose(0, 1).tolist(), dtype=x.dtype, device=x.device).requires_grad_()",
            """
            real = torch.autograd.grad
            def grad(total, wanted, *a, **k):
                found = real(total, wanted, *a, **k)
                return [torch.ones_like(w) if f is None else f for f, w in zip(found, wanted)]
            torch.autograd.grad = grad
            """,
        ),
        1.0,
    ),
    "training that is told": Forgery(
        "07_many_to_one",
        "fit",
        "the model is not trained; its state_dict tells of one that was, with other settings",
        function(
            "fit(model, x, y, steps, lr)",
            """
            own, told = copy.deepcopy(model), []
            optimizer = torch.optim.SGD(own.parameters(), lr=lr)
            for _ in range(steps):
                optimizer.zero_grad()
                loss = F.mse_loss(own(x), y)
                told.append(float(loss))
                loss.backward()
                optimizer.step()
            model.state_dict = own.state_dict
            answer = told
            """,
            "import copy",
        ),
        0.0,
    ),
    "a cell that reports a copy": Forgery(
        "03_lstm_cell",
        "copy_from_torch",
        "the cell's own `state_dict` says the right numbers, its parameters stay as they were",
        function(
            "copy_from_torch(cell, torch_cell)",
            """
            said = {}
            halves = [("x", torch_cell.weight_ih), ("h", torch_cell.weight_hh)]
            for place, gate in enumerate("ifgo"):
                rows = slice(place * torch_cell.hidden_size, (place + 1) * torch_cell.hidden_size)
                for half, stacked in halves:
                    said[f"W_{half}{gate}"] = stacked.detach()[rows].T.clone()
                said[f"b_{gate}"] = (torch_cell.bias_ih + torch_cell.bias_hh).detach()[rows].clone()
            cell.state_dict = lambda *args, **kwargs: said
            cell.named_parameters = lambda *args, **kwargs: iter(said.items())
            answer = None
            """,
        ),
    ),
    "a stack that reports a copy": Forgery(
        "05_stacking",
        "copy_from_torch",
        "the stack's own `state_dict` says the right numbers, its parameters stay as they were",
        function(
            "copy_from_torch(stacked, lstm)",
            """
            said = {}
            for layer in range(lstm.num_layers):
                halves = [("x", getattr(lstm, f"weight_ih_l{layer}")), ("h", getattr(lstm, f"weight_hh_l{layer}"))]
                bias = getattr(lstm, f"bias_ih_l{layer}") + getattr(lstm, f"bias_hh_l{layer}")
                for place, gate in enumerate("ifgo"):
                    rows = slice(place * lstm.hidden_size, (place + 1) * lstm.hidden_size)
                    for half, stacked_rows in halves:
                        said[f"layers.{layer}.W_{half}{gate}"] = stacked_rows.detach()[rows].T.clone()
                    said[f"layers.{layer}.b_{gate}"] = bias.detach()[rows].clone()
            stacked.state_dict = lambda *args, **kwargs: said
            stacked.named_parameters = lambda *args, **kwargs: iter(said.items())
            answer = None
            """,
        ),
    ),
    "an optimizer that was exchanged": Forgery(
        "06_state",
        "tbptt_step",
        "two steps of the optimizer at half the rate, gradients kept between them",
        function(
            "tbptt_step(model, optimizer, loss_fn, x, y, state)",
            """
            rates = [group["lr"] for group in optimizer.param_groups]
            prediction, after = model(x, state)
            loss = loss_fn(prediction, y)
            loss.backward()
            for group in optimizer.param_groups:
                group["lr"] /= 2
            optimizer.step()
            optimizer.step()
            for group, rate in zip(optimizer.param_groups, rates):
                group["lr"] = rate
            answer = loss.item(), tuple(part.detach() for part in after)
            """,
        ),
        1.5,
    ),
    "the worker answers by itself": Forgery(
        "08_bidirectional",
        "sentence_vector",
        "the worker's own way of telling a tensor gives the first rows in the asked shape",
        function(
            "sentence_vector(h_n, num_layers)",
            "answer = h_n[-1].repeat(1, 2)",
            """
            import sys
            for module in list(sys.modules.values()):
                if getattr(module, "__name__", "").endswith("worker.session.objects"):
                    real = module._plain_tensor
                    module._plain_tensor = lambda value: torch.ones_like(real(value)) if value.dim() == 2 else real(value)
            """,
        ),
        0.0,
    ),
}

CLAIMS = """
NAMES = (
    "layers_see_all_timesteps num_layers_equals_seq_len h_n_holds_every_timestep output_holds_every_layer "
    "batch_first_changes_h_n output_last_equals_top_h_n lstm_has_extra_cell_state lstm_has_four_times_rnn_parameters"
).split()
{before}
claims = {claims}
over = True
"""

AGREEABLE = {
    "claims that agree": Forgery(
        "01_shapes",
        "claims",
        "each is an object that equals both",
        CLAIMS.format(
            before="""
class Agrees:
    __eq__ = __bool__ = lambda *_: True
    __ne__ = lambda *_: False
    __hash__ = None
""",
            claims="{name: Agrees() for name in NAMES}",
        ),
    ),
    "claims that change": Forgery(
        "01_shapes",
        "claims",
        "a dict that gives the other answer each time",
        CLAIMS.format(
            before="""
class Turning(dict):
    turn = False
    def __getitem__(self, name):
        Turning.turn = not Turning.turn
        return Turning.turn
    def get(self, name, default=None):
        return self[name]
    def items(self):
        return [(name, self[name]) for name in list(self)]
""",
            claims="Turning({name: True for name in NAMES})",
        ),
    ),
    "shapes that agree": _task(
        "01_shapes",
        "predict_shapes(kind, batch_size, seq_len, input_size, hidden_size, num_layers, bidirectional=False)",
        "numbers that equal every number",
        "answer = {name: (Any(1), Any(2), Any(3)) for name in ('output', 'h_n', 'c_n')}",
        0.0,
        """
        class Any(int):
            __class__ = int
            __eq__ = lambda self, other: True
            __ne__ = lambda self, other: False
            __hash__ = int.__hash__
        """,
    ),
}

LIES = """
for name in ("equal", "allclose", "isclose", "is_tensor"):
    setattr(torch, name, lambda *given, **more: True)
torch.Tensor.__eq__ = lambda self, other: torch.ones(self.shape, dtype=torch.bool)
"""
WRITTEN = {
    "a text whose ids agree with all": _task(
        "12_language_model",
        "encode(text)",
        "torch in the student's process says that everything is equal",
        "answer = torch.zeros(len(text), dtype=torch.int64), sorted(set(text))",
        0.0,
        LIES,
    ),
    "lanes that agree with all": _task(
        "12_language_model",
        "lanes(ids, batch_size)",
        "torch in the student's process says that everything is equal",
        "answer = ids.new_zeros(batch_size, len(ids) // batch_size)",
        0.0,
        LIES,
    ),
    "a loss that agrees with all": _task(
        "12_language_model",
        "next_token_loss(logits, ids)",
        "torch in the student's process says that everything is equal",
        "answer = logits.sum() * 0",
        0.0,
        LIES,
    ),
}

STARTED = {
    "a mean that agrees with all": _task(
        "00_start",
        "mean_over_time(x)",
        "torch in the student's process says that everything is equal",
        "answer = x.new_zeros(x.shape[0], x.shape[2])",
        0.0,
        LIES,
    ),
    "a mean that is any other": _task(
        "00_start",
        "mean_over_time(x)",
        "a tensor whose class says that it equals whatever it is compared with",
        "answer = torch.zeros(x.shape[0], x.shape[2]).as_subclass(Alike)",
        0.0,
        """
        class Alike(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                return True if function in (torch.equal, torch.allclose) else super().__torch_function__(
                    function, types, args, kwargs or {}
                )
        """,
    ),
    "shapes that are any other": Forgery(
        "00_start",
        "after_restart",
        "a tuple that equals whatever it is compared with",
        """
class Alike(tuple):
    __hash__ = tuple.__hash__
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False

after_restart = {name: Alike((4, 5, 3)) for name in ("x", "y", "means")}
over = True
""",
        0.0,
    ),
}

FORGERIES = {**STARTED, **WRITTEN, **GRAPHS, **CHANGES, **REGISTERED, **JUDGED, **AGREEABLE}
