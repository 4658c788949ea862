"""Code that is right on any device and in any dtype, however it is written."""

from tests.devices import Case, H, V

LSTM = """
class Model(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.H = H
        self.W_x = nn.Parameter(torch.empty(D, 4 * H))
        self.W_h = nn.Parameter(torch.empty(H, 4 * H))
        self.b = nn.Parameter(torch.zeros(4 * H))
        nn.init.xavier_uniform_(self.W_x)
        nn.init.xavier_uniform_(self.W_h)

    def forward(self, x, state=None):
        B, T, _ = x.shape
        h, c = {state}
        {before}
        for t in range(T):
            i, f, g, o = (x[:, t] @ self.W_x + h @ self.W_h + self.b).chunk(4, dim=-1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            {keep}
        return {output}, h, c
"""


def lstm(
    state="(x.new_zeros(B, self.H), x.new_zeros(B, self.H))",
    before="outputs = []",
    keep="outputs.append(h)",
    output="torch.stack(outputs, 1)",
):
    """A layer from scratch with its zero state, its buffer and its result written in the given way."""
    return LSTM.format(state=state, before=before, keep=keep, output=output)


CORRECT = {
    "new_zeros": Case(lstm()),
    "looked at by printing": Case(lstm(before='print(x, f"{h.mean():.3f}"); outputs = []')),
    "zeros on the input's device and dtype": Case(
        lstm("(torch.zeros(B, self.H, device=x.device, dtype=x.dtype) for _ in range(2))")
    ),
    "zeros moved": Case(lstm("torch.zeros(2, B, self.H).to(x.device, x.dtype)")),
    "zeros moved by to(x)": Case(lstm("torch.zeros(2, B, self.H).to(x)")),
    "zeros by type_as": Case(lstm("torch.zeros(2, B, self.H).type_as(x)")),
    "zeros_like of a product": Case(lstm("(torch.zeros_like(x[:, 0] @ self.W_x[:, : self.H]),) * 2")),
    "zeros from the weights' device": Case(
        lstm("torch.zeros(2, B, self.H, device=self.W_x.device, dtype=self.W_x.dtype)")
    ),
    "zeros from the first parameter": Case(lstm("next(self.parameters()).new_zeros(2, B, self.H).unbind(0)")),
    "state as a product with nothing": Case(lstm("(x[:, 0, :1] * 0 + self.b.new_zeros(self.H),) * 2")),
    "full and expand": Case(lstm("x.new_full((), 0.0).expand(2, B, self.H)")),
    "empty then zero_": Case(lstm("torch.empty(2, B, self.H, device=x.device, dtype=x.dtype).zero_()")),
    "device kept in a variable": Case(
        lstm(
            "(torch.zeros(B, self.H, **like), torch.zeros(B, self.H, **like))",
        ).replace(
            "B, T, _ = x.shape", "B, T, _ = x.shape\n        like = dict(device=x.device, dtype=x.dtype)"
        )
    ),
    "with torch.device": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.rnn = nn.RNN(D, H, batch_first=True)
            def forward(self, x):
                with torch.device(x.device):
                    h = torch.zeros(1, x.shape[0], self.rnn.hidden_size, dtype=x.dtype)
                return self.rnn(x, h)
        """
    ),
    "preallocated output": Case(
        lstm(before="out = x.new_empty(B, T, self.H)", keep="out[:, t] = h", output="out")
    ),
    "preallocated output, time first": Case(
        lstm(
            before="out = torch.empty(T, B, self.H, device=x.device, dtype=x.dtype)",
            keep="out[t].copy_(h)",
            output="out.transpose(0, 1)",
        )
    ),
    "concatenated one by one": Case(
        lstm(
            before="out = x.new_zeros(B, 0, self.H)",
            keep="out = torch.cat([out, h.unsqueeze(1)], 1)",
            output="out",
        )
    ),
    "unsqueeze in place": Case(
        lstm(keep="outputs.append(h.clone().unsqueeze_(1))", output="torch.cat(outputs, 1)")
    ),
    "nn.LSTM": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lstm = nn.LSTM(D, H, num_layers=2, batch_first=True, bidirectional=True)
            def forward(self, x):
                output, (h, c) = self.lstm(x)
                return output, h, c
        """
    ),
    "cells driven by hand": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.cells = nn.ModuleList([nn.LSTMCell(D, H), nn.LSTMCell(H, H)])
            def forward(self, x):
                for cell in self.cells:
                    state, steps = None, []
                    for x_t in x.unbind(1):
                        state = cell(x_t, state)
                        steps.append(state[0])
                    x = torch.stack(steps, dim=1)
                return x
        """
    ),
    "packed sequence": Case(
        """
        from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.lstm = nn.LSTM(D, H, batch_first=True)
            def forward(self, x, lengths):
                packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
                packed, (h, c) = self.lstm(packed)
                output, _ = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])
                return output, h, c
        """,
        inputs="x lengths",
    ),
    "packed by a list of lengths": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.gru = nn.GRU(D, H, batch_first=True)
            def forward(self, x, lengths):
                rnn = nn.utils.rnn
                packed = rnn.pack_padded_sequence(x, lengths.tolist(), batch_first=True)
                output, h = self.gru(packed)
                return rnn.pad_packed_sequence(output, batch_first=True)[0], h
        """,
        inputs="x lengths",
    ),
    "mask from lengths": Case(
        """
        def f(x, lengths):
            mask = torch.arange(x.shape[1], device=x.device)[None, :] < lengths[:, None].to(x.device)
            return (x * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        """,
        inputs="x lengths",
        made_with=None,
    ),
    "mask made on the CPU and moved": Case(
        """
        def f(x, lengths):
            steps = torch.arange(x.size(1)).unsqueeze(0).expand(x.size(0), -1)
            mask = (steps < lengths.cpu().unsqueeze(1)).to(x.device)
            return x.masked_fill(~mask[..., None], 0.0).sum(1) / lengths.to(x)[:, None]
        """,
        inputs="x lengths",
        made_with=None,
    ),
    "last step by gather": Case(
        """
        def f(e, lengths):
            at = (lengths.to(e.device) - 1).view(-1, 1, 1).expand(-1, 1, e.shape[2])
            return e.gather(1, at).squeeze(1)
        """,
        inputs="e lengths",
        made_with=None,
    ),
    "last step by indices on the CPU": Case(
        """
        def f(e, lengths):
            return e[torch.arange(e.shape[0]), lengths - 1]
        """,
        inputs="e lengths",
        made_with=None,
    ),
    "loop up to the longest": Case(
        """
        def f(x, lengths):
            total = torch.zeros_like(x[:, 0])
            for t in range(int(lengths.max())):
                total = total + x[:, t] * (t < lengths).to(x.dtype)[:, None]
            return total
        """,
        inputs="x lengths",
        made_with=None,
    ),
    "slices by length": Case(
        """
        def f(x, lengths):
            return torch.stack([row[: int(n)].mean(0) for row, n in zip(x, lengths)])
        """,
        inputs="x lengths",
        made_with=None,
    ),
    "attention": Case(
        """
        def f(q, e, lengths):
            scores = torch.einsum("bh,bth->bt", q, e) / e.shape[-1] ** 0.5
            padding = torch.arange(e.shape[1], device=e.device) >= lengths[:, None]
            weights = scores.masked_fill(padding, float("-inf")).softmax(dim=-1)
            return torch.einsum("bt,bth->bh", weights, e), weights
        """,
        inputs="q e lengths",
        made_with=None,
    ),
    "numbers without dimensions": Case(
        """
        def f(x):
            scale = torch.tensor(0.5)
            return torch.where(x > torch.tensor(0.0), x * scale, x - torch.tensor(1.0, dtype=x.dtype))
        """,
        made_with=None,
    ),
    "a loss that starts as a number": Case(
        """
        def f(x, y):
            loss = torch.tensor(0.0, dtype=x.dtype)
            for t in range(x.shape[1]):
                loss = loss + F.mse_loss(x[:, t], y[:, t])
            return loss / x.shape[1]
        """,
        inputs="x y",
        made_with=None,
    ),
    "checkpointed": Case(
        """
        from torch.utils.checkpoint import checkpoint
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.layer = nn.Sequential(nn.Linear(D, H), nn.Tanh(), nn.Dropout(0.2), nn.Linear(H, D))
            def forward(self, x):
                return x + checkpoint(self.layer, x, use_reentrant=False)
        """
    ),
    "checkpointed the old way": Case(
        """
        from torch.utils.checkpoint import checkpoint
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.layer = nn.Linear(D, H)
            def forward(self, x):
                return checkpoint(lambda v: torch.tanh(self.layer(v)), x, use_reentrant=True)
        """
    ),
    "a scripted function": Case(
        """
        @torch.jit.script
        def step(x, h, w, u):
            return torch.tanh(x @ w + h @ u)
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.w, self.u = nn.Parameter(torch.randn(D, H)), nn.Parameter(torch.randn(H, H))
            def forward(self, x):
                h = x.new_zeros(x.shape[0], self.u.shape[0])
                for t in range(x.shape[1]):
                    h = step(x[:, t], h, self.w, self.u)
                return h
        """
    ),
    "a traced part": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.part = torch.jit.trace(nn.Sequential(nn.Linear(D, H), nn.Tanh()), torch.zeros(1, D))
            def forward(self, x):
                return self.part(x)
        """
    ),
    "buffers and ties": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.register_buffer("mask", torch.ones(D, D).tril(), persistent=False)
                self.encode, self.decode = nn.Linear(D, H), nn.Linear(H, D)
                self.decode.weight = nn.Parameter(self.encode.weight.detach().T.clone())
                self.again = nn.Linear(D, H)
                self.again.weight = self.encode.weight
                self.all = [self.encode.weight, self.decode.weight]
            def forward(self, x):
                x = x @ self.mask
                w, u = self.all
                return self.decode(torch.tanh(self.encode(x) + self.again(x))) + x @ w.T @ u.T
        """
    ),
    "layers shaped by their first input": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc, self.out = nn.Sequential(nn.LazyLinear(H), nn.Tanh()), nn.LazyLinear(2, bias=False)
                self.norm = nn.LazyBatchNorm1d()
            def forward(self, x):
                return self.out(self.norm(self.fc(x)[:, -1]))
        """
    ),
    "embedding and one-hot": Case(
        """
        class Model(nn.Module):
            def __init__(self, V, H):
                super().__init__()
                self.embedding, self.fc = nn.Embedding(V, H), nn.Linear(V, H)
            def forward(self, ids):
                hot = F.one_hot(ids, self.fc.in_features).to(self.fc.weight.dtype)
                return self.embedding(ids) + self.fc(hot)
        """,
        inputs="ids",
        made_with=(V, H),
    ),
    "positions": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.place = nn.Embedding(64, D)
                self.fc = nn.Linear(D, H)
            def forward(self, x):
                return self.fc(x + self.place(torch.arange(x.shape[1], device=x.device)))
        """
    ),
    "sinusoids computed there": Case(
        """
        def f(x):
            t = torch.arange(x.shape[1], device=x.device, dtype=x.dtype)[:, None]
            rates = torch.exp(torch.arange(x.shape[2], device=x.device, dtype=x.dtype) / -x.shape[2])
            return x + torch.sin(t * rates)
        """,
        made_with=None,
    ),
    "a cache kept by device": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc, self._mask = nn.Linear(D, H), None
            def forward(self, x):
                if self._mask is None or self._mask.device != x.device or self._mask.dtype != x.dtype:
                    self._mask = torch.ones(x.shape[1], 1, device=x.device, dtype=x.dtype)
                return self.fc(x * self._mask)
        """
    ),
    "a plain tensor moved by its own _apply": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc, self.scale = nn.Linear(D, H), torch.full((H,), 0.5)
            def _apply(self, fn, recurse=True):
                super()._apply(fn, recurse)
                self.scale = fn(self.scale)
                return self
            def forward(self, x):
                return self.fc(x) * self.scale
        """
    ),
    "a plain tensor moved when used": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc, self.scale = nn.Linear(D, H), [0.5] * H
            def forward(self, x):
                return self.fc(x) * torch.tensor(self.scale, device=x.device, dtype=x.dtype)
        """
    ),
    "asks whether it is a GPU": Case(
        """
        def f(x):
            h = torch.zeros(x.shape[0], x.shape[2], dtype=x.dtype)
            if x.is_cuda:
                h = h.cuda(x.get_device())
            return h + x.mean(1)
        """,
        made_with=None,
    ),
    "autocast switched off inside": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc = nn.Linear(D, H)
            def forward(self, x):
                with torch.autocast(device_type=x.device.type, enabled=False):
                    return torch.tanh(F.linear(x, self.fc.weight, self.fc.bias))
        """
    ),
    "float32 inside and back": Case(
        """
        def f(x):
            wide = x if x.dtype == torch.float64 else x.float()
            return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)
        """,
        made_with=None,
    ),
    "dropout and norm": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc, self.norm, self.drop = nn.Linear(D, H), nn.LayerNorm(H), nn.Dropout(0.3)
            def forward(self, x):
                return self.drop(self.norm(self.fc(x)))
        """
    ),
    "locked dropout": Case(
        """
        def f(x):
            keep = torch.bernoulli(torch.full_like(x[:, :1], 0.7))
            noise = torch.rand(x.shape, device=x.device, dtype=x.dtype)
            return x * keep / 0.7 + 0 * noise
        """,
        made_with=None,
    ),
    "convolution and batch norm": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.conv, self.norm = nn.Conv1d(D, H, 3, padding=1), nn.BatchNorm1d(H)
            def forward(self, x):
                return self.norm(self.conv(x.transpose(1, 2))).relu().transpose(1, 2)
        """
    ),
    "torch's attention": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.up, self.attend = nn.Linear(D, H), nn.MultiheadAttention(H, 2, batch_first=True)
            def forward(self, x, lengths):
                x, padding = self.up(x), torch.arange(x.shape[1], device=x.device) >= lengths[:, None]
                return self.attend(x, x, x, key_padding_mask=padding)[0]
        """,
        inputs="x lengths",
    ),
    "rows reset by where": Case(
        """
        def f(s, finished):
            return torch.where(finished[None, :, None], torch.zeros((), dtype=s.dtype, device=s.device), s)
        """,
        inputs="s finished",
        made_with=None,
    ),
    "rows reset by a mask": Case(
        """
        def f(s, finished):
            s = s.clone()
            s[:, finished] = 0
            return s
        """,
        inputs="s finished",
        made_with=None,
    ),
    "rows reset by a product": Case(
        """
        def f(s, finished):
            return s * (~finished).to(s.dtype).view(1, -1, 1)
        """,
        inputs="s finished",
        made_with=None,
    ),
    "state from a method": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.rnn = nn.RNN(D, H, batch_first=True)
            def init_state(self, batch_size, device, dtype):
                return torch.zeros(1, batch_size, self.rnn.hidden_size, device=device, dtype=dtype)
            def forward(self, x):
                return self.rnn(x, self.init_state(x.size(0), x.device, x.dtype))
        """
    ),
    "a learned state": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.rnn, self.h_0 = nn.GRU(D, H, batch_first=True), nn.Parameter(torch.zeros(1, 1, H))
            def forward(self, x):
                return self.rnn(x, self.h_0.expand(-1, x.shape[0], -1).contiguous())
        """
    ),
    "its own backward": Case(
        """
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return 2 * x
            @staticmethod
            def backward(ctx, grad):
                return 2 * grad + torch.zeros_like(ctx.saved_tensors[0])
        def f(x):
            return Double.apply(x)
        """,
        made_with=None,
    ),
    "a dict of results": Case(
        """
        def f(x):
            return {"output": x.cumsum(1), "h_n": x.flip(1)[:, 0]}
        """,
        made_with=None,
    ),
    "checks its input by name": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc = nn.Linear(D, H)
            def forward(self, x):
                assert x.device == self.fc.weight.device, f"{x.device} and {self.fc.weight.device}"
                if x.device.type not in ("cpu", "cuda"):
                    raise ValueError(f"no kernel for {x.device}")
                return self.fc(x)
        """
    ),
    "sequences padded by hand": Case(
        """
        def f(x, lengths):
            rows = [row[:n] for row, n in zip(x, lengths.tolist())]
            out = x.new_zeros(len(rows), max(map(len, rows)), x.shape[2])
            for k, row in enumerate(rows):
                out[k, : len(row)] = row
            return out + nn.utils.rnn.pad_sequence(rows, batch_first=True)
        """,
        inputs="x lengths",
        made_with=None,
    ),
    "greedy without asking": Case(
        """
        class Model(nn.Module):
            def __init__(self, V, H):
                super().__init__()
                self.embedding, self.cell, self.fc = nn.Embedding(V, H), nn.GRUCell(H, H), nn.Linear(H, V)
            def forward(self, ids):
                h = self.embedding.weight.new_zeros(ids.shape[0], self.cell.hidden_size)
                token, made = ids[:, 0], []
                for _ in range(3):
                    h = self.cell(self.embedding(token), h)
                    token = self.fc(h).argmax(-1)
                    made.append(token)
                return torch.stack(made, 1)
        """,
        inputs="ids",
        made_with=(V, H),
    ),
    "scatter": Case(
        """
        def f(e, ids):
            out = torch.zeros(e.shape[0], 7, e.shape[2], device=e.device, dtype=e.dtype)
            return out.scatter_add(1, ids.unsqueeze(-1).expand_as(e), e)
        """,
        inputs="e ids",
        made_with=None,
    ),
    "lists as indices": Case(
        """
        def f(x, ids):
            y = x[:, [t for t in range(x.shape[1])]] + x[[0, 1], :][:, range(x.shape[1])]
            z = y.clone()
            z[[0], 1] = 0.0
            return z + x[[True, False]].sum(0)
        """,
        inputs="x ids",
        made_with=None,
    ),
    "inference mode, filled in place": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc = nn.Linear(D, H)
            @torch.inference_mode()
            def forward(self, x):
                out = x.new_zeros(x.shape[0], x.shape[1], self.fc.out_features)
                for t in range(x.shape[1]):
                    out[:, t] = self.fc(x)[:, t] + self.fc.weight[0, 0]
                return out
        """
    ),
    "a parametrization": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.fc = nn.utils.parametrizations.spectral_norm(nn.Linear(D, H)).eval()
            def forward(self, x):
                return self.fc(x)
        """
    ),
    "torch's encoder, padded": Case(
        """
        class Model(nn.Module):
            def __init__(self, D, H):
                super().__init__()
                self.up = nn.Linear(D, H)
                self.encoder = nn.TransformerEncoderLayer(H, 2, 8, batch_first=True).eval()
            def forward(self, x, lengths):
                padding = torch.arange(x.shape[1], device=x.device) >= lengths[:, None]
                with torch.no_grad():
                    return self.encoder(self.up(x), src_key_padding_mask=padding)
        """,
        inputs="x lengths",
    ),
    "vmap": Case(
        """
        def f(x):
            return torch.vmap(lambda row: row.cumsum(0) * 2)(x)
        """,
        made_with=None,
    ),
    "steps shifted": Case(
        """
        def f(x):
            return torch.roll(F.pad(x, (0, 0, 1, 0)), 1, dims=1)[:, : x.size(1)]
        """,
        made_with=None,
    ),
}
