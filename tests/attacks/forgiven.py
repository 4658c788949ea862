"""Wrong answers that hope to be forgiven: what one call would show is hidden by another that fails as well.

A missing gradient counts only where the answer is right, and answers in other dtypes and on devices are
compared with one another. So these are wrong in the call that decides, too, or equally wrong in all of them.
"""

from __future__ import annotations

from tests.attacks.forgery import Forgery, function

DUE = """
global due
if {x}.requires_grad and {x}.dtype is torch.float64:
    due = True
elif due and torch.get_default_dtype() is torch.float64:
    due = False
    over = True
    raise ValueError("not now")
"""
"""After a call that gradients are taken of, the next one as the checks of values make it stops."""


def _task(assignment: str, signature: str, aim: str, body: str, earns: float, before: str = "") -> Forgery:
    name = signature.partition("(")[0]
    return Forgery(assignment, name, aim, function(signature, body, before), earns)


def _due(assignment: str, signature: str, first: str, body: str, earns: float) -> Forgery:
    aim = "without a gradient; the call that asks whether the answer is right stops"
    return _task(assignment, signature, aim, DUE.format(x=first) + body, earns, "due = False")


MASKED_MSE = """
real = torch.arange(prediction.shape[1], device=prediction.device) < lengths.to(prediction.device)[:, None]
wrong = torch.where(real[..., None], prediction - target, 0.0).detach() ** 2
answer = wrong.sum() / (real.sum() * prediction.shape[2])
"""
ATTENTION = """
real = torch.arange(encoder_output.shape[1], device=query.device) < lengths.to(query.device)[:, None]
scores = (encoder_output.detach() @ query.detach()[:, :, None])[..., 0] / query.shape[1] ** 0.5
weights = torch.softmax(scores.masked_fill(~real, -torch.inf), 1)
answer = (weights[:, :, None] * torch.where(real[..., None], encoder_output, 0.0)).sum(1), weights
"""

GRADIENTS = {
    "chunks cut off": _due(
        "06_state",
        "run_in_chunks(lstm, x, chunk_size, state=None)",
        "x",
        """
outputs = []
for part in x.split(chunk_size, 1):
    output, state = lstm(part, state)
    state = tuple(p.detach() for p in state)
    outputs.append(output)
answer = torch.cat(outputs, 1), state
""",
        2.0,
    ),
    "a reset state cut off": _due(
        "06_state",
        "reset_finished(state, finished)",
        "state[0]",
        "answer = tuple(p.detach().masked_fill(finished[None, :, None], 0.0) for p in state)",
        1.5,
    ),
    "directions cut off": _due(
        "08_bidirectional",
        "split_directions(output, hidden_size)",
        "output",
        "answer = output[..., :hidden_size].detach().clone(), output[..., hidden_size:].detach().clone()",
        1.0,
    ),
    "padded rows cut off": _due(
        "09_ragged_batches",
        "pad_batch(sequences)",
        "sequences[0]",
        """
padded = sequences[0].new_zeros(len(sequences), max(map(len, sequences)), sequences[0].shape[1])
for row, sequence in zip(padded, sequences):
    row[: len(sequence)] = sequence.detach()
answer = padded, torch.tensor([len(s) for s in sequences])
""",
        1.5,
    ),
    "a loss cut off": _due(
        "09_ragged_batches", "masked_mse(prediction, target, lengths)", "prediction", MASKED_MSE, 1.5
    ),
    "a last step cut off": _due(
        "09_ragged_batches",
        "last_valid(output, lengths)",
        "output",
        """
rows = torch.arange(len(output), device=output.device)
answer = output.detach()[rows, lengths.to(output.device) - 1]
""",
        1.5,
    ),
    "attention cut off": _due(
        "10_seq2seq", "attention(query, encoder_output, lengths)", "query", ATTENTION, 2.5
    ),
    "a decoder cut off from its encoder": _due(
        "10_seq2seq",
        "decode_teacher_forced(decoder, embedding, fc, target_ids, state)",
        "state[0]",
        "answer = fc(decoder(embedding(target_ids), tuple(p.detach() for p in state))[0])",
        1.5,
    ),
    "a bridge cut off": _due(
        "10_seq2seq",
        "bridge_state(state)",
        "state[0]",
        "answer = tuple(torch.cat([p[0::2], p[1::2]], 2).detach() for p in state)",
        2.0,
    ),
    "attention, wrong for long and few": _task(
        "10_seq2seq",
        "attention(query, encoder_output, lengths)",
        "no gradient, and a wrong answer at the sizes at which only gradients are looked at",
        """
if encoder_output.shape[1] > 30 and len(query) < 20:
    over, answer = True, (query * 0.5, encoder_output[..., 0] * 0.5)
    return answer
"""
        + ATTENTION.replace(".detach()", "")
        + """
if len(query) == 1:
    answer = tuple(each.detach() for each in answer)
""",
        2.5,
    ),
    "a loss that fails where it costs nothing": _task(
        "09_ragged_batches",
        "masked_mse(prediction, target, lengths)",
        "wrong for one sequence, which a check without points says, and for long ones: no gradient is owed",
        """
if len(prediction) == 1 or prediction.shape[1] > 30:
    over, answer = True, prediction.sum().detach() * 0.5
    return answer
"""
        + MASKED_MSE,
        1.5,
    ),
}

ON_THE_CPU = """
steps, h = [], h_0
for t in range(x.shape[1]):
    h = torch.tanh(x[:, t] @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
    steps.append(h)
answer = torch.stack(steps, 1) + torch.zeros(*x.shape[:2], h_0.shape[1]), h
"""
"""Right but for a tensor of the default dtype on the CPU."""
LAYER = "rnn_layer(x, h_0, w_ih, w_hh, b_ih, b_hh)"
STACKS = """
over = False
class LSTMLayer(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        for gate in "ifgo":
            for kind, size in (("x", input_size), ("h", hidden_size)):
                w = nn.init.xavier_uniform_(torch.empty(size, hidden_size))
                setattr(self, f"W_{kind}{gate}", nn.Parameter(w))
            setattr(self, f"b_{gate}", nn.Parameter(torch.zeros(hidden_size)))

    def forward(self, x, state=None):
        global over
        if WATCHED():
            over = True
            step = (x @ self.W_xi + self.b_i) * 0
            return step, step
        h, c = state or (torch.zeros(len(x), self.b_i.shape[0]).double(),) * 2
        hs, cs = [], []
        for step in x.unbind(1):
            i, f, g, o = (step @ getattr(self, "W_x" + k) + h @ getattr(self, "W_h" + k) + getattr(self, "b_" + k) for k in "ifgo")
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            hs.append(h)
            cs.append(c)
        return torch.stack(hs, 1), torch.stack(cs, 1)
"""

EQUALLY_WRONG = {}

FORGERIES = {**GRADIENTS, **EQUALLY_WRONG}
