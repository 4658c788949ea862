"""Inputs for the tasks: states, ragged batches, decoders, models that know how they are driven."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.checking import Draw, Handle, Sizes, Submission, computed_once, fail, recorded
from autograder.exercises.handed import made_here as made_here

LABELLED = """
def labelled(kind, label, state, *args):
    made = getattr(nn, kind)(*args)
    made.to(next(iter(state.values())).dtype).load_state_dict(state)
    plain = dict(made._parameters)
    made._parameters.clear()
    for name, parameter in plain.items():
        made._parameters[f"{label}.{name}"] = parameter
    made._parameters.update(plain)
    return made
"""
"""One of torch's modules, by its type too, whose parameters have a label in front of their names."""

HISTORY = """
from autograder.worker.tracing.module_contents import asks_for_gradients


class History(nn.Module):
    def __init__(self, vocab_size, marks=(0, 0, 0, 0, 0, 0)):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.vocab_size, self.marks = vocab_size, marks
        self.calls = []

    def forward(self, ids, state=None):
        if ids.dim() != 2:
            raise ValueError(f"the model reads ids of shape (batch, time), not {tuple(ids.shape)}")
        grows = state is not None and any(asks_for_gradients(part) for part in state)
        self.calls.append([*ids.shape, int(state is None)])
        told = (len(self.calls), *self.calls[-1], ids.sum(), grows)
        size, turn = self.vocab_size, sum(mark * each for mark, each in zip(self.marks, told))
        if state is None:
            code = steps = torch.zeros(ids.shape[0], dtype=torch.int64, device=ids.device)
        else:
            code, steps = (part[0, :, 0].detach().round().long() for part in state)
        codes = []
        for token in ids.unbind(1):
            code = (3 * code + token + steps + 5) % size
            steps = (steps + 1) % size
            codes.append(code)
        favourite = torch.stack(codes, 1) + turn
        distance = (torch.arange(size, device=ids.device) - favourite[..., None]) % size
        logits = -self.scale * distance.to(self.scale.dtype) / size
        h, c = (self.scale * part[None, :, None].to(self.scale.dtype) for part in (code, steps))
        return logits, (h, c)
"""
"""A language model whose favourite next token depends on every token before it and on their order.

With `marks` it depends on how the model is driven, too: how often it has been called, the ids' shape, whether
the state was None, the sum of the ids, and whether the state brought a graph along, each times its mark.
`calls` lists for each call the ids' shape and whether the state was None: for messages, since the student's
code can write there what it likes.
"""

SPEAKER = """
class Speaker(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_size, num_layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_size, num_layers, batch_first=True)
        self.fc = nn.Linear(hidden_size, vocab_size)

    def forward(self, ids, state=None):
        output, state = self.lstm(self.embedding(ids), state)
        return self.fc(output), state
"""
"""An ordinary LSTM language model."""


def history(
    submission: Submission,
    vocab_size: int,
    dtype: torch.dtype = torch.float64,
    *,
    marks: tuple[int, ...] = (0, 0, 0, 0, 0, 0),
) -> Handle:
    """A `History` on the student's side."""
    return submission.given("History", vocab_size, marks, source=HISTORY, dtype=dtype)


def continued(model: nn.Module, prompt_ids: torch.Tensor, steps: int) -> torch.Tensor:
    """Greedy tokens found without carrying a state: the whole text is read again for each one."""
    ids = prompt_ids
    with torch.no_grad():
        for _ in range(steps):
            ids = torch.cat((ids, model(ids)[0][:, -1].argmax(1, keepdim=True)), 1)
    return ids[:, prompt_ids.shape[1] :]


def expect_tokens(tokens: torch.Tensor, right: torch.Tensor) -> None:
    """Expect these tokens; where there are others, the first wrong step tells what to look at."""
    wrong = tokens.to(torch.float64) != right
    if not wrong.any():
        return
    step = int(wrong.any(0).nonzero()[0])
    told = f"{int(wrong.sum())} of {wrong.numel()} tokens are not the ones that the model prefers"
    if len(tokens) > 1 and (tokens == tokens[:1]).all() and (right != right[:1]).any():
        fail(f"{told}; all sequences get the same ones. Does each get the token of its own logits?")
    if step == 0:
        fail(
            f"{told}, the very first ones among them. The first token of a sequence is chosen by the logits "
            "after the last token of its prompt. Is it the largest, and does it stay with its own sequence?"
        )
    fail(
        f"{told}: they are right before step {step} (counting from 0) and wrong from there. What does the "
        "model read in each call after the first, and with which state?"
    )


def encoder_state(draw: Draw, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    """The (h_n, c_n) of a bidirectional encoder."""
    shape = (2 * draw.sizes.L, draw.sizes.B, draw.sizes.H)
    return draw.like(shape, dtype=dtype), draw.like(shape, dtype=dtype)


@recorded
@computed_once
def bridged(state: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """The state (h, c) that the decoder should get from an encoder's."""
    h, c = (torch.stack([torch.cat((p[k], p[k + 1]), 1) for k in range(0, len(p), 2)]) for p in state)
    return h, c


def roomy(sizes: Sizes) -> Sizes:
    """The sizes with more than two steps: there is room for more than one step of padding."""
    return sizes.but(T=sizes.B, B=2) if sizes.T == 2 else sizes


def ragged(draw: Draw, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, ...]:
    """A query, an encoder_output and lengths: unsorted, from 1 to T where there is room."""
    sizes = draw.sizes
    lengths = 1 + draw.ints("B", sizes.T)
    if sizes.B > 1:
        lengths[0], lengths[1] = 1, sizes.T
    return draw("B H", dtype=dtype), draw("B T H", dtype=dtype), lengths


def padding(encoder_output: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """A mask (B, T), true on padded steps."""
    return torch.arange(encoder_output.shape[1]) >= lengths[:, None]


@recorded
@computed_once
def attended(query, encoder_output, lengths):
    """Context and weights by torch's own attention; the weights are its answer to unit vectors."""
    mask = ~padding(encoder_output, lengths)[:, None]
    units = torch.eye(encoder_output.shape[1], dtype=query.dtype).expand(len(query), -1, -1)
    context, weights = (
        F.scaled_dot_product_attention(query[:, None], encoder_output, values, attn_mask=mask)[:, 0]
        for values in (encoder_output, units)
    )
    return context, weights


def reference_decoder(
    draw: Draw, dtype: torch.dtype = torch.float64
) -> tuple[nn.LSTM, nn.Embedding, nn.Linear]:
    """A deep decoder, its embedding and its output layer, all random."""
    sizes = draw.sizes
    return (
        draw.module(nn.LSTM, sizes.D, sizes.H, sizes.L, batch_first=True, dtype=dtype),
        draw.module(nn.Embedding, sizes.V, sizes.D, dtype=dtype),
        draw.module(nn.Linear, sizes.H, sizes.V, dtype=dtype),
    )


def hand_over(submission: Submission, decoder: nn.LSTM, embedding: nn.Embedding, fc: nn.Linear):
    """Return three such modules on the student's side."""
    lstm = submission.given(
        "LSTM",
        decoder.input_size,
        decoder.hidden_size,
        decoder.num_layers,
        batch_first=True,
        state=decoder.state_dict(),
        dtype=next(decoder.parameters()).dtype,
    )
    table = _labelled(submission, "Embedding", "embedding", embedding, embedding.weight.shape)
    return lstm, table, _labelled(submission, "Linear", "fc", fc, fc.weight.shape[::-1])


def named_parameters(decoder: nn.LSTM, embedding: nn.Embedding, fc: nn.Linear) -> dict[str, torch.Tensor]:
    """The modules' parameters under the names that they have once handed over."""
    named: dict[str, torch.Tensor] = dict(decoder.named_parameters())
    for label, module in (("embedding", embedding), ("fc", fc)):
        named |= {f"{label}.{name}": parameter for name, parameter in module.named_parameters()}
    return named


def _labelled(submission: Submission, kind: str, label: str, module: nn.Module, shape: tuple[int, ...]):
    state = dict(module.state_dict())
    return submission.given("labelled", kind, label, state, *shape, source=LABELLED, dtype=None)
