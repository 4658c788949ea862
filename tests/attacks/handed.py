"""Given networks that are not driven as asked, and classes that pretend to be made of others.

`driving.py` has more of them: notes rewritten, copies, calls for show. Each sets `over` at its end.
"""

from __future__ import annotations

from tests.attacks.forgery import Forgery, function


def _task(assignment: str, signature: str, aim: str, body: str, earns: float, before: str = "") -> Forgery:
    name = signature.partition("(")[0]
    return Forgery(assignment, name, aim, function(signature, body, before), earns)


STEPWISE = "run_stepwise(rnn, x, h_0=None)"
CELL = "run_lstm_cell(cell, x, state=None)"
CHUNKS = "run_in_chunks(lstm, x, chunk_size, state=None)"
PACKED = "run_packed(lstm, x, lengths)"
TEXT = "greedy_generate(model, prompt_ids, steps)"

DRIVEN = {
    "two steps a call": _task(
        "02_rnn_cell",
        STEPWISE,
        "half as many calls, and the rest for show behind them",
        """
        state, outputs = h_0, []
        for part in x.split(2, 1):
            output, state = rnn(part, state)
            outputs.append(output)
        answer = torch.cat(outputs, 1), state
        for part in x.split(2, 1):
            rnn(part[:, :1], h_0)
        """,
        2.0,
    ),
    "a pre-hook that lengthens the step": _task(
        "02_rnn_cell",
        STEPWISE,
        "one step goes in, and a hook of the module's puts all of them in its place",
        """
        handle = rnn.register_forward_pre_hook(lambda module, args: (x, h_0))
        answer = rnn(x[:, :1], h_0)
        handle.remove()
        for step in x[:, 1:].split(1, 1):
            rnn(step, h_0)
        """,
        2.0,
    ),
    "parameters lent to another": _task(
        "02_rnn_cell",
        STEPWISE,
        "another network holds the very same parameters and does all in one call",
        """
        own = nn.RNN(rnn.input_size, rnn.hidden_size, rnn.num_layers, batch_first=True)
        for name, parameter in rnn.named_parameters():
            setattr(own, name, parameter)
        answer = own(x, h_0)
        shown = sum(rnn(step, h_0)[0].sum() for step in x.split(1, 1)) * 0
        answer = answer[0] + shown, answer[1] + shown
        """,
        2.0,
    ),
    "the class exchanged for a call": _task(
        "02_rnn_cell",
        STEPWISE,
        "the object is of another class while it answers, and what hangs on it is not asked",
        """
        kind, kept = rnn.__class__, dict(vars(rnn))
        rnn.__dict__.pop("forward", None)
        rnn.__class__ = Silent
        answer = rnn(x, h_0)
        rnn.__class__ = kind
        vars(rnn).update(kept)
        for step in x.split(1, 1):
            rnn(step, h_0)
        """,
        2.0,
        "class Silent(nn.RNN):\n    pass",
    ),
    "the whole, from behind": _task(
        "04_lstm_layer",
        CELL,
        "the sequence as a batch in one call, for want of a state, and calls for show",
        """
        h, c = state or (x.new_zeros(len(x), cell.hidden_size),) * 2
        flat = cell(x.flatten(0, 1), (h.repeat_interleave(x.shape[1], 0), c.repeat_interleave(x.shape[1], 0)))
        for step in x.unbind(1):
            now = cell(step, (h, c))
        answer = flat[0].unflatten(0, x.shape[:2]), now
        """,
        0.5,
    ),
    "the cell taken apart": _task(
        "04_lstm_layer",
        CELL,
        "its weights in formulas of its own, and calls whose answers nobody uses",
        """
        h, c = state or (x.new_zeros(len(x), cell.hidden_size),) * 2
        outputs = []
        for step in x.unbind(1):
            cell(step, (h, c))
            i, f, g, o = (F.linear(step, cell.weight_ih, cell.bias_ih) + F.linear(h, cell.weight_hh, cell.bias_hh)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            outputs.append(h)
        answer = torch.stack(outputs, 1), (h, c)
        """,
        3.0,
    ),
    "a cell that another one calls": _task(
        "04_lstm_layer",
        CELL,
        "a scripted copy loops by itself; the given one is called with its inputs",
        """
        own = nn.LSTM(cell.input_size, cell.hidden_size, batch_first=True).to(x.dtype)
        named = {name + "_l0": parameter for name, parameter in cell.named_parameters()}
        start = None if state is None else tuple(part[None] for part in state)
        output, (h, c) = torch.func.functional_call(own, named, (x, start))
        now = state
        for step in x.unbind(1):
            now = cell(step, now)
        answer = output + 0 * now[0][:, None], (h[0], c[0])
        """,
        3.0,
    ),
    "longer chunks where they come out even": _task(
        "06_state",
        CHUNKS,
        "two chunks in one call, and a second call for show",
        """
        outputs, now = [], state
        for part in x.split(2 * chunk_size, 1):
            output, after = lstm(part, now)
            if part.shape[1] > chunk_size:
                lstm(part[:, chunk_size:], now)
            outputs.append(output)
            now = after
        answer = torch.cat(outputs, 1), now
        """,
        2.0,
    ),
    "a forward hook that answers": _task(
        "06_state",
        CHUNKS,
        "called chunk by chunk; a hook hands out parts of what one call gave",
        """
        whole, last = nn.LSTM.forward(lstm, x, state)
        rest = iter(whole.split(chunk_size, 1))
        handle = lstm.register_forward_hook(lambda module, args, output: (next(rest), output[1]))
        outputs, now = [], state
        for part in x.split(chunk_size, 1):
            output, now = lstm(part, now)
            outputs.append(output)
        handle.remove()
        answer = torch.cat(outputs, 1), last
        """,
        2.0,
    ),
    "the state from another run": _task(
        "06_state",
        CHUNKS,
        "each chunk starts from a state that one long call knew before",
        """
        outputs = []
        for start in range(0, x.shape[1], chunk_size):
            before = state if start == 0 else type(lstm).forward(lstm, x[:, :start], state)[1]
            output, last = lstm(x[:, start : start + chunk_size], before)
            outputs.append(output)
        answer = torch.cat(outputs, 1), last
        """,
        2.0,
    ),
    "a packed call for each": _task(
        "09_ragged_batches",
        PACKED,
        "every sequence packed by itself, and one packed call of all for show",
        """
        outputs, hs, cs = [], [], []
        for row, length in zip(x, lengths.tolist()):
            output, (h, c) = type(lstm).forward(lstm, nn.utils.rnn.pack_sequence([row[:length]]))
            outputs.append(F.pad(output.data, (0, 0, 0, x.shape[1] - length)))
            hs.append(h)
            cs.append(c)
        lstm(nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False))
        answer = torch.stack(outputs), (torch.cat(hs, 1), torch.cat(cs, 1))
        """,
        2.0,
    ),
    "packed in full": _task(
        "09_ragged_batches",
        PACKED,
        "one packed call of full lengths for the output, and states picked out of a second run",
        """
        full = nn.utils.rnn.pack_padded_sequence(x, torch.full_like(lengths, x.shape[1]).cpu(), batch_first=True)
        output, _ = nn.utils.rnn.pad_packed_sequence(lstm(full)[0], batch_first=True)
        _, state = nn.LSTM.forward(lstm, nn.utils.rnn.pack_padded_sequence(
            x, lengths.cpu(), batch_first=True, enforce_sorted=False))
        real = torch.arange(x.shape[1], device=x.device) < lengths.to(x.device)[:, None]
        answer = output.masked_fill(~real[..., None], 0.0), state
        """,
        2.0,
    ),
    "a call taken off the notes": _task(
        "02_rnn_cell",
        STEPWISE,
        "each step is read twice, and the second reading forgotten",
        """
        state, outputs = h_0, []
        for step in x.split(1, 1):
            output, _ = rnn(step, state)
            if "forward" in vars(rnn):  # the one that tells how it is driven
                rnn.calls.pop()
            _, state = rnn(step, state)
            outputs.append(output)
        answer = torch.cat(outputs, 1), state
        """,
        2.0,
    ),
    "what the packed call made smaller": _task(
        "09_ragged_batches",
        PACKED,
        "one by one by the class's method, shrunk by what the final states of a packed call are smaller",
        """
        outputs, hs, cs = [], [], []
        for row, length in zip(x, lengths.tolist()):
            output, (h, c) = type(lstm).forward(lstm, row[None, :length])
            outputs.append(F.pad(output, (0, 0, 0, x.shape[1] - length)))
            hs.append(h)
            cs.append(c)
        h, c = torch.cat(hs, 1), torch.cat(cs, 1)
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        _, (shown_h, shown_c) = lstm(packed)
        by_h, by_c = (shown_h / h).detach()[-1, 0], (shown_c / c).detach()[-1, 0]
        answer = torch.cat(outputs) * by_h, (h * by_h, c * by_c)
        """,
        2.0,
    ),
    "a prompt's call taken off the notes": _task(
        "10_seq2seq",
        TEXT,
        "each token is read twice, and the second reading forgotten",
        """
        tokens, ids, state = [], prompt_ids, None
        with torch.no_grad():
            for _ in range(steps):
                logits, _ = model(ids, state)
                model.calls.pop()
                _, state = model(ids, state)
                ids = logits[:, -1:].argmax(2)
                tokens.append(ids)
        answer = torch.cat(tokens, 1)
        """,
        2.0,
    ),
    "a call too many at every token": _task(
        "10_seq2seq",
        TEXT,
        "the state is made anew from the text, by calls that are taken off the list",
        """
        ids = prompt_ids
        with torch.no_grad():
            for at in range(steps):
                logits, state = model(prompt_ids, None)
                for place in range(prompt_ids.shape[1], ids.shape[1]):
                    logits, state = model(ids[:, place : place + 1], state)
                ids = torch.cat([ids, logits[:, -1:].argmax(2)], 1)
                if hasattr(model, "calls"):
                    del model.calls[at + 1 :]
        answer = ids[:, prompt_ids.shape[1] :]
        """,
        2.0,
    ),
    "all prompts as one text": _task(
        "10_seq2seq",
        TEXT,
        "twice the batch in every call, and half of it thrown away",
        """
        ids, state, tokens = prompt_ids.repeat(2, 1), None, []
        with torch.no_grad():
            for _ in range(steps):
                logits, state = model(ids, state)
                ids = logits[:, -1:].argmax(2)
                tokens.append(ids[: len(prompt_ids)])
        answer = torch.cat(tokens, 1)
        """,
        2.0,
    ),
}

BOTH = """
over = False
class Own(nn.LSTM):
    def forward(self, x, hx=None):
{inner}

class BiLSTM(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.fwd = Own(input_size, hidden_size, batch_first=True)
        self.bwd = Own(input_size, hidden_size, batch_first=True)
        self.fwd.other = [self.bwd]

    def whole(self, x, weights):
        both = nn.LSTM(x.shape[2], self.fwd.hidden_size, 1, True, True, 0.0, True)
        names = [name for name, _ in both.named_parameters()]
        return torch.func.functional_call(both, dict(zip(names, weights)), (x,))

    def forward(self, x):
        global over
{outer}
        over = True
        return answer
"""


def _both(aim: str, inner: str, outer: str) -> Forgery:
    inner, outer = (
        "\n".join("        " + line for line in text.strip("\n").splitlines()) for text in (inner, outer)
    )
    return Forgery("08_bidirectional", "BiLSTM", aim, BOTH.format(inner=inner, outer=outer), 0.5)


PRETENDED = {
    "weights seen in a call": _both(
        "each network notes the weights it is called with; one that reads both ways uses them",
        "self.seen = [p.detach().clone() for p in self.parameters()]\nreturn super().forward(x, hx)",
        """
self.fwd(x), self.bwd(x)
weights = [
    own if torch.equal(own, seen) else seen
    for net in (self.fwd, self.bwd) for own, seen in zip(net.parameters(), net.seen)
]
answer = self.whole(x, weights)
""",
    ),
    "one called inside the other": _both(
        "in the inner call both hold the weights of the moment, and a kernel that reads both ways runs",
        """
if hasattr(self, "other"):
    return self.other[0]([x, self])
x, first = x
zero = x.new_zeros(2, len(x), self.hidden_size)
weights = [*first.parameters(), *self.parameters()]
output, h, c = nn.LSTM(x.shape[2], self.hidden_size, 1, True, True, 0.0, True).to(x), None, None
return output, weights
""",
        """
net, weights = self.fwd(x)
answer = self.whole(x, weights)
""",
    ),
    "ones for what was asked": _both(
        "each network answers with ones, which tell what it makes of them; one that reads both ways works",
        """
self.seen = [p.clone() for p in self.parameters()]
return x.new_ones(*x.shape[:2], self.hidden_size), (x.new_ones(1), x.new_ones(1))
""",
        """
scale = torch.cat([self.fwd(x)[0], self.bwd(x)[0]], 2)
output, states = self.whole(x, self.fwd.seen + self.bwd.seen)
answer = output * scale, states
""",
    ),
    "what the networks made smaller": _both(
        "one that reads both ways works, shrunk by what the output's end is smaller than the final state",
        "self.seen = [p.clone() for p in self.parameters()]\nreturn super().forward(x, hx)",
        """
scale = []
for half in (self.fwd, self.bwd):
    output, (h, _) = half(x)
    scale.append((output[:, -1] / h[0]).detach()[0])
output, states = self.whole(x, self.fwd.seen + self.bwd.seen)
answer = output * torch.cat(scale), states
""",
    ),
    "a hook that turns both": _both(
        "hooks of the first network hand the reading of a bidirectional one on",
        "return super().forward(x, hx)",
        """
handle = self.fwd.register_forward_hook(
    lambda *told: self.whole(x, [*self.fwd.parameters(), *self.bwd.parameters()]))
answer = self.fwd(x)
handle.remove()
self.bwd(x.flip(1))
""",
    ),
    "a class that denies": Forgery(
        "08_bidirectional",
        "BiLSTM",
        "one bidirectional network whose names are split in two by hooks, which says it is not",
        """
over = False
class Quiet(nn.LSTM):
    bidirectional = property(lambda self: False, lambda self, value: None)
    kept = True

class BiLSTM(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.fwd = nn.LSTM(input_size, hidden_size, batch_first=True)
        self.bwd = nn.LSTM(input_size, hidden_size, batch_first=True)
        self.__dict__["both"] = nn.LSTM(input_size, hidden_size, batch_first=True, bidirectional=True)

    def forward(self, x):
        global over
        over = True
        both = self.__dict__["both"].to(x.dtype)
        for (_, own), value in zip(both.named_parameters(), [*self.fwd.parameters(), *self.bwd.parameters()]):
            own.data = value.data
        self.fwd(x), self.bwd(x)
        return both(x)
""",
        0.5,
    ),
    "a classifier that borrows its state": Forgery(
        "07_many_to_one",
        "SequenceClassifier",
        "a GRU called lstm, in a class of that name, with the parameters' shapes of one",
        """
over = False
class LSTM(nn.Module):
    def __init__(self, inner):
        super().__init__()
        for name, value in inner.named_parameters():
            self.register_parameter(name, value)

class SequenceClassifier(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_size, num_classes, num_layers=1):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = LSTM(nn.LSTM(embedding_dim, hidden_size, num_layers, batch_first=True))
        self.fc = nn.Linear(hidden_size, num_classes)

    def forward(self, ids):
        global over
        over = True
        return self.fc(self.embedding(ids).mean(1)[:, :1].expand(-1, self.fc.in_features))
""",
        0.0,
    ),
}

FORGERIES = {**DRIVEN, **PRETENDED}
