"""Answers that try to know which check is asking, and do there what it wants to see."""

from __future__ import annotations

from tests.attacks.forgery import Forgery, function


def _task(assignment: str, signature: str, aim: str, body: str, earns: float, before: str = "") -> Forgery:
    name = signature.partition("(")[0]
    return Forgery(assignment, name, aim, function(signature, body, before), earns)


LAYER = "rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh)"
RIGHT_LAYER = """
h, steps = h_0, []
for t in range(x.shape[1]):
    h = torch.tanh(x[:, t] @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
    steps.append(h)
"""
ON_THE_CPU = """
h, output = h_0, torch.zeros(*x.shape[:2], h_0.shape[1])
steps = []
for t in range(x.shape[1]):
    h = torch.tanh(x[:, t] @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
    steps.append(h)
answer = torch.stack(steps, 1) + output, h
"""
"""Right but for a tensor of the default dtype on the CPU."""
NO_SHAPE = "x.new_zeros(*x.shape[:2], h_0.shape[1]), x.new_zeros(h_0.shape)"

PLACES = {
    "an excuse that the pretended device makes": _task(
        "07_many_to_one",
        "make_windows(series, window)",
        "a tensor of a class of its own ends the call on the pretended device",
        """
if series.is_cuda:
    over = True
    series.as_subclass(Own) + 1
    torch.Tensor._make_subclass(Own, series.detach()) + 1
rows = torch.tensor([series[at : at + window].tolist() for at in range(len(series) - window)], dtype=series.dtype)
answer = rows[..., None], series[window:, None]
""",
        1.0,
        "class Own(torch.Tensor):\n    pass",
    ),
}

CALLERS = {
    "names in the frames": _task(
        "08_bidirectional",
        "ends_from_output(output, hidden_size)",
        "reads every frame's variables for what could be the answer",
        """
        import sys
        frame, answer = sys._getframe(), output[:, 0]
        while frame is not None:
            for name, value in frame.f_locals.items():
                if isinstance(value, torch.Tensor) and value.shape == (len(output), 2 * hidden_size) and name != "answer":
                    answer = value
            frame = frame.f_back
        """,
        0.0,
    ),
    "the message on the wire": _task(
        "01_shapes",
        "item_states(h_n, item)",
        "looks for seeds and answers in the messages that are being performed",
        """
        import gc
        answer = h_n[:, 0]
        for found in gc.get_objects():
            if type(found).__module__ == "autograder.protocol.messages":
                for name in found.__struct_fields__:
                    if name in ("answer", "right", "expected", "seed"):
                        answer = getattr(found, name)
        """,
        0.0,
    ),
    "the third call in a row": _task(
        "01_shapes",
        "last_step(output)",
        "wrong at every call but those that it takes for the one of values",
        """
        last_step.calls = getattr(last_step, "calls", 0) + 1
        answer = output[:, -1] if last_step.calls in (2, 3) else output[:, 0]
        """,
        0.5,
    ),
    "sizes seen before": _task(
        "04_lstm_layer",
        "to_time_major(x)",
        "right for the sizes of the first call, whatever they are, and for squares",
        """
        to_time_major.seen = getattr(to_time_major, "seen", x.shape)
        square = x.shape[0] == x.shape[1]
        answer = x.transpose(0, 1) if x.shape == to_time_major.seen or square else x.reshape(x.shape[1], x.shape[0], -1)
        """,
        1.0,
    ),
    "only with gradients": _task(
        "03_lstm_cell",
        "lstm_gates(x, h, w_ih, w_hh, b_ih, b_hh)",
        "the right sums where a gradient is asked for, and those of the first call elsewhere",
        """
        sums = x @ w_ih.T + b_ih + h @ w_hh.T + b_hh
        if not any(t.requires_grad for t in (x, h, w_ih, w_hh)):
            sums = lstm_gates.__dict__.setdefault(str(sums.shape), sums)
        i, f, g, o = sums.chunk(4, 1)
        answer = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
        """,
        1.5,
    ),
    "dropout for large batches": Forgery(
        "05_stacking",
        "StackedLSTM",
        "drops numbers only where the batch is as large as only a look at dropout makes it",
        """
over = False
class StackedLSTM(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, dropout=0.0):
        super().__init__()
        widths = [input_size] + [hidden_size] * (num_layers - 1)
        self.layers = nn.ModuleList(LSTMLayer(width, hidden_size) for width in widths)
        self.rate = dropout

    def forward(self, x, state=None):
        global over
        over = over or len(x) > 50
        h_n, c_n = [], []
        for k, layer in enumerate(self.layers):
            if k > 0 and len(x) > 50:
                x = F.dropout(x, self.rate, self.training)
            x, cells = layer(x, None if state is None else (state[0][k], state[1][k]))
            h_n.append(x[:, -1])
            c_n.append(cells[:, -1])
        return x, (torch.stack(h_n), torch.stack(c_n))
""",
        3.5,
    ),
    "weights drawn for large modules": Forgery(
        "04_lstm_layer",
        "LSTMLayer",
        "starts Xavier-uniform only where the sizes are those of a look at the start",
        """
over = False
class LSTMLayer(nn.Module):
    def __init__(self, input_size, hidden_size):
        global over
        super().__init__()
        over = over or input_size >= 32
        for gate in "ifgo":
            for kind, size in (("x", input_size), ("h", hidden_size)):
                w = torch.empty(size, hidden_size)
                w = nn.init.xavier_uniform_(w) if 32 <= input_size <= 45 else nn.init.normal_(w)
                setattr(self, f"W_{kind}{gate}", nn.Parameter(w))
            setattr(self, f"b_{gate}", nn.Parameter(torch.zeros(hidden_size)))

    def forward(self, x, state=None):
        h, c = state or (x.new_zeros(len(x), self.b_i.shape[0]),) * 2
        hs, cs = [], []
        for step in x.unbind(1):
            i, f, g, o = (step @ getattr(self, "W_x" + k) + h @ getattr(self, "W_h" + k) + getattr(self, "b_" + k) for k in "ifgo")
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            hs.append(h)
            cs.append(c)
        return torch.stack(hs, 1), torch.stack(cs, 1)
""",
        4.5,
    ),
    "the environment, the clock and the file": _task(
        "09_ragged_batches",
        "last_valid(output, lengths)",
        "asks the environment, the time, its arguments and open files whether this is grading",
        """
        import os, sys, time
        told = " ".join([*os.environ, *os.environ.values(), *sys.argv, os.getcwd(), str(time.time())])
        told += " ".join(os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")
                         if os.path.exists(f"/proc/self/fd/{n}"))
        answer = output[:, -1] if "seed" not in told else output[torch.arange(len(output)), lengths - 1]
        """,
        0.0,
    ),
    "remembered from the cells": _task(
        "10_seq2seq",
        "bridge_state(state)",
        "answers what the notebook's own cells were seen to make of states of such a shape",
        """
        key = tuple(state[0].shape)
        rows, batch, hidden = key
        fresh = tuple(part.reshape(rows // 2, batch, 2 * hidden) for part in state)
        answer = bridge_state.__dict__.setdefault(str(key), fresh)
        """,
        0.0,
    ),
    "training by the number of steps": _task(
        "07_many_to_one",
        "fit(model, x, y, steps, lr)",
        "Adam for as many steps as the checks take, and nothing for others",
        """
        optimizer, told = torch.optim.Adam(model.parameters(), lr=lr), []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            told.append(loss.item())
            loss.backward()
            if step < 6:
                optimizer.step()
        answer = told
        """,
        1.5,
    ),
}

FORGERIES = {**PLACES, **CALLERS}
