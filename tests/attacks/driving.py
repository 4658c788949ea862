"""Forgeries of how a given network is driven: a short cut, and what makes it look as if there had been none.

Each is an answer to a task that gives the right values in a way that the task rules out. It sets `over` when
it has come to its end.
"""

from __future__ import annotations

DRIVEN = {
    "run_stepwise": "one_step_a_call",
    "run_lstm_cell": "one_call_a_step",
    "run_in_chunks": "calls",
    "run_packed": "one_packed_call",
    "greedy_generate": "one_token_a_call",
    "BiLSTM": "two_networks",
}
"""The check of each task that says how a network is driven."""


def _forged(head: str, body: str) -> str:
    """A function that says when it has come to its end: `answer` is what it returns."""
    lines = "\n".join("    " + line for line in body.strip("\n").splitlines())
    return (
        f"import copy\nover = False\n\n{head}\n    global over\n{lines}\n    over = True\n    return answer\n"
    )


def _stepwise(body: str) -> str:
    return _forged("def run_stepwise(rnn, x, h_0=None):", body)


STEPWISE = {
    "notes rewritten": _stepwise("""
answer = rnn(x, h_0)
for name in ("calls", "lengths", "shapes"):
    if hasattr(rnn, name):
        getattr(rnn, name)[:] = [[len(x), 1, x.shape[2]] for _ in range(x.shape[1])]
"""),
    "notes replaced": _stepwise("""
answer = rnn(x, h_0)
rnn.calls = rnn.lengths = [[len(x), 1, x.shape[2]]] * x.shape[1]
"""),
    "the class's method, and calls for show": _stepwise("""
answer = nn.RNN.forward(rnn, x, h_0)
for step in x.split(1, dim=1):
    rnn(step, h_0)
"""),
    "the method of its type": _stepwise("""
answer = type(rnn).forward(rnn, x, h_0)
if hasattr(rnn, "calls"):
    rnn.calls[:] = [[len(x), 1, x.shape[2]]] * x.shape[1]
"""),
    "a network of its own with the same weights": _stepwise("""
own = nn.RNN(rnn.input_size, rnn.hidden_size, rnn.num_layers, batch_first=True).to(x.dtype)
own.load_state_dict(rnn.state_dict())
answer = own(x, h_0)
for step in x.split(1, dim=1):
    rnn(step, h_0)
"""),
    "a copy is asked": _stepwise("""
answer = copy.deepcopy(rnn)(x, h_0)
for step in x.split(1, dim=1):
    rnn(step, h_0)
"""),
    "what is below is taken out": _stepwise("""
forward = getattr(rnn.forward, "__func__", rnn.forward)
inside = [cell.cell_contents for cell in getattr(forward, "__closure__", None) or ()]
plain = next((each for each in inside if callable(each)), type(rnn).forward)
state, steps = h_0, []
for step in x.split(1, dim=1):
    rnn(step, h_0)
answer = plain(rnn, x, h_0)
"""),
    "the notes begin anew before calls for show": _stepwise("""
answer = rnn(x, h_0)
if hasattr(rnn, "calls"):
    del rnn.calls[:]
state = h_0
for step in x.split(1, dim=1):
    _, state = rnn(step, state)
"""),
    "prefixes, all but the last hidden": _stepwise("""
answer = []
for t in range(x.shape[1]):
    output, h_n = rnn(x[:, : t + 1], h_0)
    answer.append(output[:, -1:])
answer = torch.cat(answer, 1), h_n
if hasattr(rnn, "calls"):
    rnn.calls[:] = [[len(x), 1, x.shape[2]]] * x.shape[1]
"""),
    "no answer where it is counted": _stepwise("""
if "forward" in vars(rnn):
    over = True
    raise RuntimeError("not now")
answer = rnn(x, h_0)
"""),
    "one answer for all where it is counted": _stepwise("""
answer = rnn(x, h_0)
if "forward" in vars(rnn):
    answer = torch.zeros_like(answer[0]), torch.zeros_like(answer[1])
    rnn.calls[:] = [[len(x), 1, x.shape[2]]] * x.shape[1]
"""),
    "forward put back": _stepwise("""
vars(rnn).pop("forward", None)
answer = rnn(x, h_0)
"""),
}


def _cell(body: str) -> str:
    return _forged(
        "def run_lstm_cell(cell, x, state=None):",
        """
def whole(weights):
    h, c = state or (x.new_zeros(len(x), cell.hidden_size),) * 2
    output, h_n, c_n = torch.lstm(x, (h[None], c[None]), weights, True, 1, 0.0, False, False, True)
    return output, (h_n[0], c_n[0])
weights = [cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh]
"""
        + body,
    )


CELL = {
    "the whole sequence by a kernel, and calls for show": _cell("""
answer, kept = whole(weights), state
for step in x.unbind(1):
    kept = cell(step, kept)
"""),
    "the kernel, and notes rewritten": _cell("""
answer = whole(weights)
for name in ("calls", "shapes"):
    if hasattr(cell, name):
        getattr(cell, name)[:] = [[len(x), x.shape[2]] for _ in range(x.shape[1])]
"""),
    "the class's method, uncounted, for each sequence": _cell("""
outputs, ends = [], []
for row in range(len(x)):
    now, steps = None if state is None else tuple(part[row : row + 1] for part in state), []
    for step in x[row : row + 1].unbind(1):
        now = type(cell).forward(cell, step, now)
        steps.append(now[0])
    outputs.append(torch.stack(steps, 1))
    ends.append(now)
answer = torch.cat(outputs), tuple(torch.cat(part) for part in zip(*ends))
for step in x.unbind(1):
    cell(step, state)
"""),
    "twice a step, one of them the class's": _cell("""
steps, now = [], state
for step in x.unbind(1):
    steps.append(nn.LSTMCell.forward(cell, step, now)[0])
    now = cell(step, now)
answer = torch.stack(steps, 1), now
"""),
    "another cell with the same weights": _cell("""
own, now, steps = nn.LSTMCell(cell.input_size, cell.hidden_size).to(x.dtype), state, []
own.load_state_dict(cell.state_dict())
for step in x.unbind(1):
    cell(step, state)
    steps.append(own(step, now)[0])
    now = own(step, now)
answer = torch.stack(steps, 1), now
"""),
    "the last output repeated": _cell("""
answer = run_lstm_cell.kept if "forward" in vars(cell) else whole(weights)
run_lstm_cell.kept = answer
for step in x.unbind(1):
    cell(step, state)
"""),
    "a stop where it is counted": _cell("""
if "forward" in vars(cell):
    over = True
    raise MemoryError
answer = whole(weights)
"""),
}


def _chunks(body: str) -> str:
    return _forged("def run_in_chunks(lstm, x, chunk_size, state=None):", body)


CHUNKS = {
    "notes rewritten": _chunks("""
answer = lstm(x, state)
for name in ("calls", "lengths"):
    if hasattr(lstm, name):
        getattr(lstm, name)[:] = [[*part.shape] for part in x.split(chunk_size, 1)]
"""),
    "the class's method, and calls for show": _chunks("""
answer = nn.LSTM.forward(lstm, x, state)
for part in x.split(chunk_size, 1):
    lstm(part, state)
"""),
    "a stop where it is counted": _chunks("""
if "forward" in vars(lstm) or "calls" in vars(lstm):
    over = True
    raise RuntimeError("stopped")
answer = lstm(x, state)
"""),
    "a copy is asked": _chunks("""
answer = copy.deepcopy(lstm)(x, state)
for part in x.split(chunk_size, 1):
    lstm(part, state)
"""),
    "a network of its own with the same weights": _chunks("""
own = nn.LSTM(lstm.input_size, lstm.hidden_size, lstm.num_layers, batch_first=True).to(x.dtype)
own.load_state_dict(lstm.state_dict())
answer, kept = own(x, state), state
for part in x.split(chunk_size, 1):
    _, kept = lstm(part, kept)
"""),
    "one step a call, all but some hidden": _chunks("""
outputs, kept = [], state
for part in x.split(1, 1):
    output, kept = lstm(part, kept)
    outputs.append(output)
answer = torch.cat(outputs, 1), kept
if "calls" in vars(lstm):
    lstm.calls[:] = [[*part.shape] for part in x.split(chunk_size, 1)]
"""),
    "a kernel, and calls for show": _chunks("""
h, c = state or (x.new_zeros(lstm.num_layers, len(x), lstm.hidden_size),) * 2
output, h_n, c_n = torch.lstm(
    x, (h, c), list(lstm.parameters()), True, lstm.num_layers, 0.0, False, False, True
)
answer = output, (h_n, c_n)
for part in x.split(chunk_size, 1):
    _, (h, c) = lstm(part, (h, c))
"""),
    "forward put back": _chunks("""
vars(lstm).pop("forward", None)
answer = lstm(x, state)
if "calls" in vars(lstm):
    lstm.calls[:] = [[*part.shape] for part in x.split(chunk_size, 1)]
"""),
}


def _packed(body: str) -> str:
    return _forged(
        "def run_packed(lstm, x, lengths):",
        """
def pack():
    return nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
def each(call):
    outputs, hs, cs = [], [], []
    for row, length in zip(x, lengths.tolist()):
        output, (h, c) = call(row[None, :length])
        outputs.append(F.pad(output, (0, 0, 0, x.shape[1] - length)))
        hs.append(h)
        cs.append(c)
    return torch.cat(outputs), (torch.cat(hs, 1), torch.cat(cs, 1))
"""
        + body,
    )


PACKED = {
    "one by one, and notes rewritten": _packed("""
answer = each(lstm)
for name, told in (("calls", []), ("packed", True)):
    if hasattr(lstm, name):
        getattr(lstm, name)[:] = [told]
"""),
    "one by one by the class's method, and a call for show": _packed("""
lstm(pack())
answer = each(lambda row: type(lstm).forward(lstm, row))
"""),
    "one by one by a copy, and a call for show": _packed("""
twin = copy.deepcopy(lstm)
answer = each(twin)
lstm(pack())
"""),
    "one by one, notes begin anew": _packed("""
def alone(row):
    if "calls" in vars(lstm):
        lstm.calls.clear()
    return lstm(row)
answer = each(alone)
if "calls" in vars(lstm):
    lstm.calls[:] = [[]]
"""),
    "packed one by one, notes begin anew": _packed("""
def alone(row):
    if "calls" in vars(lstm):
        lstm.calls.clear()
    output, state = lstm(nn.utils.rnn.pack_sequence(row))
    return output.data[None], state
answer = each(alone)
"""),
    "the output of a padded run, uncounted": _packed("""
_, state = lstm(pack())
output, _ = nn.LSTM.forward(lstm, x)
real = torch.arange(x.shape[1], device=x.device) < lengths.to(x.device)[:, None]
answer = output * real[:, :, None], state
"""),
    "one by one, a stop where it is counted": _packed("""
if "calls" in vars(lstm):
    over = True
    raise SystemExit
answer = each(lstm)
"""),
}


def _text(body: str) -> str:
    return _forged(
        "@torch.no_grad()\ndef greedy_generate(model, prompt_ids, steps):",
        """
def again(model):
    ids = prompt_ids
    for _ in range(steps):
        ids = torch.cat([ids, model(ids, None)[0][:, -1:].argmax(2)], 1)
    return ids[:, prompt_ids.shape[1] :]
def shown():
    if hasattr(model, "calls"):
        later = [len(prompt_ids), 1]
        model.calls[:] = [[*prompt_ids.shape, 1], *([*later, 0] for _ in range(steps - 1))]
"""
        + body,
    )


TEXT = {
    "the whole text again, and notes rewritten": _text("""
answer = again(model)
shown()
"""),
    "the whole text again, notes begin anew each time": _text("""
def counted(ids, state):
    if hasattr(model, "calls"):
        model.calls[:] = model.calls[: len(done)]
    done.append(ids)
    return model(ids, state)
done = []
answer = again(counted)
shown()
"""),
    "the whole text by the class's method, and calls for show": _text("""
answer = again(lambda ids, state: type(model).forward(model, ids, state))
shown()
_, state = model(prompt_ids, None)
for token in answer[:, :-1].split(1, 1):
    _, state = model(token, state)
"""),
    "a copy reads the whole text": _text("""
answer = again(copy.deepcopy(model))
_, state = model(prompt_ids, None)
for token in answer[:, :-1].split(1, 1):
    _, state = model(token, state)
"""),
    "a new model of its type reads the whole text": _text("""
twin = type(model)(model.vocab_size) if hasattr(model, "vocab_size") else copy.deepcopy(model)
answer = again(twin.double())
_, state = model(prompt_ids, None)
for token in answer[:, :-1].split(1, 1):
    _, state = model(token, state)
"""),
    "the prompt token by token, notes rewritten": _text("""
state = None
for token in prompt_ids.split(1, 1):
    logits, state = model(token, state)
tokens = [logits[:, -1:].argmax(2)]
for _ in range(steps - 1):
    logits, state = model(tokens[-1], state)
    tokens.append(logits[:, -1:].argmax(2))
answer = torch.cat(tokens, 1)
shown()
"""),
    "each sequence alone, notes rewritten": _text("""
rows = []
for prompt in prompt_ids.split(1):
    ids, state, tokens = prompt, None, []
    for _ in range(steps):
        logits, state = model(ids, state)
        ids = logits[:, -1:].argmax(2)
        tokens.append(ids)
    rows.append(torch.cat(tokens, 1))
answer = torch.cat(rows)
shown()
"""),
    "a stop where it is counted": _text("""
if any(getattr(model, "marks", ())):
    over = True
    raise RuntimeError("stopped")
answer = again(model)
"""),
}


def _both(body: str) -> str:
    head = """
import copy
over = False


class BiLSTM(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.fwd = nn.LSTM(input_size, hidden_size, batch_first=True)
        self.bwd = nn.LSTM(input_size, hidden_size, batch_first=True)

    def whole(self, x):
        named = dict(self.fwd.named_parameters())
        named |= {f"{name}_reverse": value for name, value in self.bwd.named_parameters()}
        both = nn.LSTM(x.shape[2], self.fwd.hidden_size, 1, True, True, 0.0, True).to(x.dtype)
        return torch.func.functional_call(both, named, (x,))

    def forward(self, x):
        global over
"""
    lines = "\n".join("        " + line for line in body.strip("\n").splitlines())
    return f"{head}{lines}\n        over = True\n        return answer\n"


BOTH = {
    "the bidirectional one, and calls for show": _both("""
self.fwd(x)
self.bwd(x.flip(1))
answer = self.whole(x)
"""),
    "a kernel, and calls for show": _both("""
zero = x.new_zeros(2, len(x), self.fwd.hidden_size)
weights = [*self.fwd.parameters(), *self.bwd.parameters()]
output, h_n, c_n = getattr(torch, "ls" + "tm")(x, (zero, zero), weights, True, 1, 0.0, False, True, True)
answer = output, (h_n, c_n)
self.fwd(x)
self.bwd(x)
"""),
    "calls for show that are added": _both("""
made = [network(x)[0].sum() * 0 for network in (self.fwd, self.bwd)]
output, states = self.whole(x)
answer = output + sum(made), states
"""),
    "forward put back": _both("""
for network in (self.fwd, self.bwd):
    vars(network).pop("forward", None)
answer = self.whole(x)
"""),
    "a third network of its own, in a list": _both("""
self.fwd(x), self.bwd(x)
own = nn.LSTM(x.shape[2], self.fwd.hidden_size, 1, True, True, 0.0, True)
self.kept = getattr(self, "kept", None) or [own]
state = {name: value for name, value in self.fwd.state_dict().items()}
state |= {f"{name}_reverse": value for name, value in self.bwd.state_dict().items()}
self.kept[0].to(x.dtype).load_state_dict(state)
answer = self.kept[0](x)
"""),
    "another answer at each call": _both("""
BiLSTM.turn = 1 - getattr(BiLSTM, "turn", 0)
self.fwd(x), self.bwd(x)
output, states = self.whole(x)
answer = output + BiLSTM.turn, states
"""),
}

FORGED = {
    "rnn_cell": {"run_stepwise": STEPWISE},
    "lstm_layer": {"run_lstm_cell": CELL},
    "state": {"run_in_chunks": CHUNKS},
    "ragged_batches": {"run_packed": PACKED},
    "seq2seq": {"greedy_generate": TEXT},
    "bidirectional": {"BiLSTM": BOTH},
}
"""By the notebook's folder and the task."""
