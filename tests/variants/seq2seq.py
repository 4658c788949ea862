"""Right and wrong answers to the tasks of 10_seq2seq."""

from tests.variants.edits import edit

SOLUTIONS = {
    "bridge_state": """
def bridge_state(state):
    def join(part):
        rows, batch_size, hidden_size = part.shape
        layers = part.reshape(rows // 2, 2, batch_size, hidden_size)
        return torch.cat((layers[:, 0], layers[:, 1]), dim=2)

    h, c = state
    return join(h), join(c)
""",
    "attention": """
def attention(query, encoder_output, lengths):
    hidden_size, seq_len = query.shape[1], encoder_output.shape[1]
    scores = (encoder_output @ query.unsqueeze(2)).squeeze(2) / hidden_size**0.5
    steps = torch.arange(seq_len, device=lengths.device)
    padded = (steps >= lengths.unsqueeze(1)).to(scores.device)
    weights = torch.softmax(scores.masked_fill(padded, float("-inf")), dim=1)
    context = (weights.unsqueeze(1) @ encoder_output).squeeze(1)
    return context, weights
""",
    "decode_teacher_forced": """
def decode_teacher_forced(decoder, embedding, fc, target_ids, state):
    output, _ = decoder(embedding(target_ids), state)
    return fc(output)
""",
    "greedy_generate": """
def greedy_generate(model, prompt_ids, steps):
    tokens, ids, state = [], prompt_ids, None
    with torch.no_grad():
        for _ in range(steps):
            logits, state = model(ids, state)
            ids = logits[:, -1].argmax(dim=1, keepdim=True)
            tokens.append(ids)
    return torch.cat(tokens, dim=1)
""",
}

BRIDGE, ATTENTION, DECODE, GREEDY = SOLUTIONS.values()

JOIN = """
def bridge_state(state):
    return tuple({} for part in state)
"""
"""A bridge in one expression of `part`."""

LOGITS = """
def decode_teacher_forced(decoder, embedding, fc, target_ids, state):
    return {}
"""

MASKED = 'scores.masked_fill(padded, float("-inf"))'
SOFTMAX = f"torch.softmax({MASKED}, dim=1)"

CORRECT = {
    "bridge_state": {
        "even and odd rows": JOIN.format("torch.cat((part[0::2], part[1::2]), dim=-1)"),
        "permute, a list": """
def bridge_state(state):
    result = []
    for part in state:
        L = part.size(0) // 2
        result.append(part.unflatten(0, (L, 2)).permute(0, 2, 1, 3).flatten(2))
    return result
""",
        "a loop over layers": """
def bridge_state(state):
    h, c = state
    hs, cs = [], []
    for layer in range(h.shape[0] // 2):
        hs.append(torch.cat([h[2 * layer], h[2 * layer + 1]], dim=1))
        cs.append(torch.cat([c[2 * layer], c[2 * layer + 1]], dim=1))
    return torch.stack(hs), torch.stack(cs)
""",
        "preallocated": """
def bridge_state(state):
    def one(s):
        rows, B, H = s.shape
        out = s.new_empty(rows // 2, B, 2 * H)
        out[:, :, :H] = s[::2]
        out[..., H:] = s[1::2]
        return out
    return [one(state[0]), one(state[1])]
""",
        "batch first and back: not contiguous": JOIN.format(
            "part.transpose(0, 1).reshape(part.shape[1], part.shape[0] // 2, -1).transpose(0, 1)"
        ),
        "both at once": """
def bridge_state(state):
    both = torch.stack(tuple(state))
    _, rows, B, H = both.shape
    both = both.view(2, rows // 2, 2, B, H).swapaxes(2, 3).reshape(2, rows // 2, B, 2 * H)
    return both[0], both[1]
""",
        "a named tuple, chunks": """
from typing import NamedTuple

class State(NamedTuple):
    h: torch.Tensor
    c: torch.Tensor

def bridge_state(state):
    pairs = [[torch.cat(pair.unbind(0), -1) for pair in part.split(2)] for part in state]
    return State(*(torch.stack(pair) for pair in pairs))
""",
        "einsum with unit matrices": """
def bridge_state(state):
    def widen(part):
        H = part.shape[2]
        eye = torch.eye(2 * H, dtype=part.dtype, device=part.device)
        return part[0::2] @ eye[:H] + part[1::2] @ eye[H:]
    return widen(state[0]), widen(state[1])
""",
    },
    "attention": {
        "einsum, where": """
def attention(query, encoder_output, lengths):
    scores = torch.einsum("bh,bth->bt", query, encoder_output) * query.size(-1) ** -0.5
    steps = torch.arange(encoder_output.size(1), device=query.device)
    real = steps[None] < lengths.to(query.device)[:, None]
    weights = F.softmax(torch.where(real, scores, -torch.inf), dim=-1)
    return torch.einsum("bt,bth->bh", weights, encoder_output), weights
""",
        "bmm, a huge negative score": """
def attention(query, encoder_output, lengths):
    scores = torch.bmm(encoder_output, query[:, :, None])[:, :, 0] / (query.shape[1] ** 0.5)
    mask = torch.arange(scores.shape[1]).expand(scores.shape) >= lengths.cpu()[:, None]
    scores = scores.masked_fill(mask.to(scores.device), -1e9)
    weights = scores.softmax(1)
    return [torch.bmm(weights[:, None], encoder_output)[:, 0], weights]
""",
        "one sequence at a time": """
def attention(query, encoder_output, lengths):
    contexts, rows = [], []
    for q, steps, n in zip(query, encoder_output, lengths.tolist()):
        w = torch.softmax(steps[:n] @ q / len(q) ** 0.5, 0)
        contexts.append(w @ steps[:n])
        rows.append(F.pad(w, (0, len(steps) - n)))
    return torch.stack(contexts), torch.stack(rows)
""",
        "padding zeroed, exponentials by hand": """
def attention(query, encoder_output, lengths):
    real = torch.arange(encoder_output.shape[1], device=lengths.device).unsqueeze(0) < lengths.unsqueeze(1)
    real = real.to(encoder_output.device)
    clean = encoder_output.masked_fill(~real.unsqueeze(2), 0)
    scores = (clean * query.unsqueeze(1)).sum(2) / torch.sqrt(torch.tensor(query.shape[1], dtype=query.dtype))
    e = torch.exp(scores - scores.amax(1, keepdim=True).detach()) * real
    weights = e / e.sum(1, keepdim=True)
    return (weights.unsqueeze(2) * clean).sum(1), weights
""",
        "torch's own attention": """
def attention(query, encoder_output, lengths):
    B, T, H = encoder_output.shape
    mask = (torch.arange(T).to(query.device) < lengths.to(query.device)[:, None])[:, None]
    q = query[:, None]
    unit = torch.eye(T, dtype=query.dtype, device=query.device).expand(B, T, T)
    context = F.scaled_dot_product_attention(q, encoder_output, encoder_output, attn_mask=mask)
    weights = F.scaled_dot_product_attention(q, encoder_output, unit, attn_mask=mask)
    return context.squeeze(1), weights.squeeze(1)
""",
        "rows of a preallocated result": """
def attention(query, encoder_output, lengths):
    weights = encoder_output.new_zeros(encoder_output.shape[:2])
    for b in range(len(query)):
        n = int(lengths[b])
        weights[b, :n] = ((encoder_output[b, :n] @ query[b]) / query.shape[1] ** 0.5).softmax(0)
    return (weights.unsqueeze(-1) * encoder_output).sum(dim=1), weights
""",
        "the smallest number of the dtype, lengths on the CPU": """
def attention(query, encoder_output, lengths):
    lengths = lengths.cpu()
    T = encoder_output.shape[1]
    mask = torch.zeros(len(query), T, dtype=torch.bool)
    for row, n in enumerate(lengths):
        mask[row, n:] = True
    scores = torch.matmul(encoder_output, (query / query.shape[1] ** 0.5).unsqueeze(-1)).squeeze(-1)
    scores[mask] = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores, dim=1)
    return torch.matmul(weights.unsqueeze(1), encoder_output).squeeze(1), weights
""",
        "computed in float64 and cast back, a comparison below": """
def attention(query, encoder_output, lengths):
    q, e = query.double(), encoder_output.double()
    scores = (e @ q[..., None])[..., 0] / q.shape[-1] ** 0.5
    lengths = lengths.to(e.device)
    padded = torch.arange(e.shape[1], device=e.device) >= lengths[:, None]
    scores = scores + torch.zeros_like(scores).masked_fill(padded, float("-inf"))
    weights = scores.softmax(-1)
    return (weights[:, None] @ e)[:, 0].to(query.dtype), weights.to(query.dtype)

context, weights = attention(torch.randn(2, 3), torch.randn(2, 4, 3), torch.tensor([1, 4]))
print(weights.sum(1))
""",
    },
    "decode_teacher_forced": {
        "in steps with names": """
def decode_teacher_forced(decoder, embedding, fc, target_ids, state):
    vectors = embedding(target_ids)
    states, final = decoder(vectors, state)
    logits = fc(states)
    return logits
""",
        "one token a call": """
def decode_teacher_forced(decoder, embedding, fc, target_ids, state):
    logits = []
    for t in range(target_ids.shape[1]):
        output, state = decoder(embedding(target_ids[:, t : t + 1]), state)
        logits.append(fc(output))
    return torch.cat(logits, dim=1)
""",
        "functional": """
def decode_teacher_forced(decoder, embedding, fc, target_ids, state):
    x = F.embedding(target_ids, embedding.weight)
    h, c = state
    out = decoder(x, (h, c))[0]
    return F.linear(out, fc.weight, fc.bias)
""",
        "forward by name, types": """
def decode_teacher_forced(decoder: nn.LSTM, embedding: nn.Embedding, fc: nn.Linear, target_ids, state):
    assert isinstance(decoder, nn.LSTM) and type(fc) is nn.Linear and type(embedding) is nn.Embedding
    out, (h_n, c_n) = decoder.forward(embedding.forward(target_ids), tuple(state))
    return fc.forward(out)
""",
        "preallocated": """
def decode_teacher_forced(decoder, embedding, fc, target_ids, state):
    B, T = target_ids.shape
    logits = state[0].new_zeros(B, T, fc.out_features)
    for t in range(T):
        step, state = decoder(embedding(target_ids[:, t]).unsqueeze(1), state)
        logits[:, t] = fc(step.squeeze(1))
    return logits
""",
        "indexed weights, flattened fc": """
def decode_teacher_forced(decoder, embedding, fc, target_ids, state):
    out, _ = decoder(embedding.weight[target_ids], state)
    B, T, H = out.shape
    return fc(out.reshape(B * T, H)).reshape(B, T, -1)
""",
        "one-hot product, time first inside": """
def decode_teacher_forced(decoder, embedding, fc, target_ids, state):
    table = embedding.weight
    one_hot = F.one_hot(target_ids, table.shape[0]).to(table.dtype)
    out = decoder(one_hot @ table, (state[0], state[1]))[0]
    return fc(out.transpose(0, 1)).transpose(0, 1)
""",
    },
    "greedy_generate": {
        "the prompt before the loop": """
def greedy_generate(model, prompt_ids, steps):
    with torch.no_grad():
        logits, state = model(prompt_ids, None)
        out = [logits[:, -1, :].argmax(-1)]
        while len(out) < steps:
            logits, state = model(out[-1].unsqueeze(1), state)
            out.append(logits[:, -1, :].argmax(-1))
    return torch.stack(out, dim=1)
""",
        "a superfluous last call": """
@torch.no_grad()
def greedy_generate(model, prompt_ids, steps):
    logits, state = model(prompt_ids, None)
    result = []
    for step in range(steps):
        token = torch.argmax(logits[:, -1], dim=-1)
        result.append(token)
        logits, state = model(token[:, None], state)
    return torch.stack(result, 1)
""",
        "inference mode, preallocated, eval": """
def greedy_generate(model, prompt_ids, steps):
    model.eval()
    tokens = torch.zeros(prompt_ids.shape[0], steps, dtype=torch.long, device=prompt_ids.device)
    with torch.inference_mode():
        logits, state = model(prompt_ids, None)
        for i in range(steps):
            tokens[:, i] = logits[:, -1].argmax(dim=1)
            if i + 1 < steps:
                logits, state = model(tokens[:, i : i + 1], state)
    return tokens
""",
        "softmax first, topk, keywords": """
def greedy_generate(model, prompt_ids, steps):
    state, newest, text = None, prompt_ids, prompt_ids.clone()
    for _ in range(steps):
        with torch.no_grad():
            logits, state = model(newest, state=state)
        probabilities = F.softmax(logits[:, -1].double(), dim=-1)
        newest = probabilities.topk(1, dim=-1).indices
        text = torch.hstack((text, newest))
    return text[:, prompt_ids.shape[1] :]
""",
        "the state detached at each step": """
def greedy_generate(model, prompt_ids, steps):
    logits, state = model(prompt_ids)
    tokens = logits[:, -1:].detach().argmax(2)
    for _ in range(steps - 1):
        state = tuple(part.detach() for part in state)
        logits, state = model(tokens[:, -1:], state)
        tokens = torch.cat([tokens, logits.detach().argmax(2)], 1)
    return tokens
""",
        "lists of rows, forward by name": """
def greedy_generate(model, prompt_ids, steps):
    rows = [[] for _ in range(len(prompt_ids))]
    ids, state = prompt_ids, None
    with torch.no_grad():
        for _ in range(steps):
            logits, state = model.forward(ids, state)
            best = [int(row[-1].argmax()) for row in logits]
            for row, token in zip(rows, best):
                row.append(token)
            ids = torch.tensor(best, device=prompt_ids.device).unsqueeze(1)
    return torch.tensor(rows, device=prompt_ids.device)
""",
        "recursion, max, assertions": """
def greedy_generate(model, prompt_ids, steps):
    def go(ids, state, left):
        if not left:
            return []
        logits, state = model(ids, state)
        token = logits[:, -1].max(dim=1)[1].reshape(-1, 1)
        assert token.shape == (prompt_ids.size(0), 1) and token.dtype == torch.int64
        return [token, *go(token, state, left - 1)]
    with torch.set_grad_enabled(False):
        return torch.cat(go(prompt_ids, None, steps), -1)
""",
    },
}

WRONG = {
    "bridge_state": {
        "reshaped to the shape": (
            "values",
            JOIN.format("part.reshape(part.shape[0] // 2, part.shape[1], -1)"),
        ),
        "the first half beside the second": (
            "values",
            JOIN.format("torch.cat((part[: len(part) // 2], part[len(part) // 2 :]), dim=2)"),
        ),
        "backward first": (
            "values",
            edit(BRIDGE, ("(layers[:, 0], layers[:, 1])", "(layers[:, 1], layers[:, 0])")),
        ),
        "forward twice": ("values", edit(BRIDGE, ("layers[:, 1])", "layers[:, 0])"))),
        "interleaved": (
            "values",
            edit(
                BRIDGE,
                (
                    "torch.cat((layers[:, 0], layers[:, 1]), dim=2)",
                    "torch.stack((layers[:, 0], layers[:, 1]), dim=3).flatten(2)",
                ),
            ),
        ),
        "h in the place of c": ("values", edit(BRIDGE, ("join(c)", "join(h)"))),
        "c before h": ("values", edit(BRIDGE, ("h, c = state", "c, h = state"))),
        "c is zero": ("values", edit(BRIDGE, ("join(c)", "torch.zeros_like(join(c))"))),
        "layers in reverse": ("values", edit(BRIDGE, ("dim=2)", "dim=2).flip(0)"))),
        "halves split as directions": (
            "values",
            edit(
                BRIDGE,
                ("reshape(rows // 2, 2, batch_size", "reshape(2, rows // 2, batch_size"),
                ("layers[:, 0], layers[:, 1]", "layers[0], layers[1]"),
            ),
        ),
        "the sum of the directions": (
            "shape",
            edit(BRIDGE, ("torch.cat((layers[:, 0], layers[:, 1]), dim=2)", "layers.sum(1)")),
        ),
        "only h": ("shape", edit(BRIDGE, ("return join(h), join(c)", "return join(h)"))),
        "the top layer only": ("shape", edit(BRIDGE, ("dim=2)", "dim=2)[-1]"))),
        "joined along the batch": ("shape", edit(BRIDGE, ("dim=2", "dim=1"))),
        "unchanged": ("shape", JOIN.format("part")),
        "squeezed": ("generality", edit(BRIDGE, ("dim=2)", "dim=2).squeeze()"))),
        "viewed": ("generality", edit(BRIDGE, ("part.reshape", "part.view(-1).view"))),
        "for three layers": (
            "generality",
            JOIN.format("torch.stack([torch.cat((part[k], part[k + 1]), 1) for k in (0, 2, 4)])"),
        ),
        "detached": (
            "gradient",
            edit(BRIDGE, ("return join(h), join(c)", "return join(h).detach(), join(c).detach()")),
        ),
        "c detached": ("gradient", edit(BRIDGE, ("join(c)", "join(c.detach())"))),
        "float": ("dtype", edit(BRIDGE, ("dim=2)", "dim=2).float()"))),
        "zeros of the default dtype": (
            "dtype",
            edit(
                BRIDGE,
                (
                    "return torch.cat((layers[:, 0], layers[:, 1]), dim=2)",
                    "out = torch.zeros(rows // 2, batch_size, 2 * hidden_size)\n        out[..., :hidden_size], out[..., hidden_size:] = layers[:, 0], layers[:, 1]\n        return out",
                ),
            ),
        ),
        "zeros on the CPU": (
            "device",
            edit(
                BRIDGE,
                (
                    "return torch.cat((layers[:, 0], layers[:, 1]), dim=2)",
                    "out = torch.zeros(rows // 2, batch_size, 2 * hidden_size, dtype=part.dtype)\n        out[..., :hidden_size], out[..., hidden_size:] = layers[:, 0], layers[:, 1]\n        return out",
                ),
            ),
        ),
        "joined on the CPU": ("device", edit(BRIDGE, ("part.reshape", "part.cpu().reshape"))),
        "zeroed after use": (
            "mutation",
            edit(
                BRIDGE,
                ("return join(h), join(c)", "result = join(h), join(c)\n    h.zero_()\n    return result"),
            ),
        ),
        "sorted in place": (
            "mutation",
            edit(
                BRIDGE,
                (
                    "return torch",
                    "part.copy_(torch.cat((part[0::2], part[1::2])))\n        n = rows // 2\n        return torch",
                ),
                ("(layers[:, 0], layers[:, 1])", "(part[:n], part[n:])"),
            ),
        ),
    },
    "attention": {
        "not scaled": ("values", edit(ATTENTION, (" / hidden_size**0.5", ""))),
        "scaled by H": ("values", edit(ATTENTION, ("hidden_size**0.5", "hidden_size"))),
        "scaled by the length": ("values", edit(ATTENTION, ("/ hidden_size**0.5", "/ seq_len**0.5"))),
        "softmax over the batch": ("values", edit(ATTENTION, ("dim=1)\n    context", "dim=0)\n    context"))),
        "no mask": ("values", edit(ATTENTION, (MASKED, "scores"))),
        "padded scores are 0": ("values", edit(ATTENTION, ('float("-inf")', "0.0"))),
        "padded weights are 0, the rest as it was": (
            "values",
            edit(ATTENTION, (SOFTMAX, "torch.softmax(scores, dim=1).masked_fill(padded, 0.0)")),
        ),
        "the mask is one step short": ("values", edit(ATTENTION, ("steps >= lengths", "steps > lengths"))),
        "the mask is one step long": (
            "values",
            edit(
                ATTENTION,
                ("steps >= lengths.unsqueeze(1)", "steps >= (lengths - 1).clamp(min=1).unsqueeze(1)"),
            ),
        ),
        "the mask the other way round": ("values", edit(ATTENTION, ("steps >= ", "steps < "))),
        "one length for all": ("values", edit(ATTENTION, ("lengths.unsqueeze(1)", "lengths.max()"))),
        "a small negative score": ("values", edit(ATTENTION, ('float("-inf")', "-10.0"))),
        "sigmoid for softmax": (
            "values",
            edit(ATTENTION, (SOFTMAX, f"torch.sigmoid({MASKED})")),
        ),
        "the mean of the steps": (
            "values",
            edit(ATTENTION, ("(weights.unsqueeze(1) @ encoder_output).squeeze(1)", "encoder_output.mean(1)")),
        ),
        "a hard choice": (
            "values",
            edit(ATTENTION, (SOFTMAX, f"F.one_hot(torch.argmax({MASKED}, dim=1), seq_len).to(scores.dtype)")),
        ),
        "only the context": ("shape", edit(ATTENTION, ("return context, weights", "return context"))),
        "weights first": ("shape", edit(ATTENTION, ("return context, weights", "return weights, context"))),
        "weights with a dimension of one": (
            "shape",
            edit(ATTENTION, ("return context, weights", "return context, weights.unsqueeze(1)")),
        ),
        "the context not summed": (
            "shape",
            edit(
                ATTENTION,
                (
                    "(weights.unsqueeze(1) @ encoder_output).squeeze(1)",
                    "weights.unsqueeze(2) * encoder_output",
                ),
            ),
        ),
        "masked after the softmax, then divided": (
            "generality",
            edit(
                ATTENTION,
                (
                    SOFTMAX,
                    "torch.softmax(scores, dim=1).masked_fill(padded, 0.0)\n    weights = weights / weights.sum(1, keepdim=True)",
                ),
            ),
        ),
        "1e9 subtracted on padding": (
            "generality",
            edit(ATTENTION, (MASKED, "scores - 1e9 * padded.to(scores.dtype)")),
        ),
        "rounds of exp times the mask": (
            "generality",
            edit(
                ATTENTION,
                (SOFTMAX, "scores.exp() * ~padded\n    weights = weights / weights.sum(1, keepdim=True)"),
            ),
        ),
        "padding found by its zeros": (
            "values",
            edit(
                ATTENTION,
                ("(steps >= lengths.unsqueeze(1)).to(scores.device)", "(encoder_output == 0).all(2)"),
            ),
        ),
        "squeezed everywhere": (
            "generality",
            edit(
                ATTENTION,
                (".squeeze(2)", ".squeeze()"),
                (".unsqueeze(1) @ encoder_output).squeeze(1)", ".unsqueeze(1) @ encoder_output).squeeze()"),
            ),
        ),
        "viewed": (
            "generality",
            edit(
                ATTENTION,
                ("(encoder_output @", "(encoder_output.view(-1, hidden_size).view(encoder_output.shape) @"),
            ),
        ),
        "the weights off the graph": ("gradient", edit(ATTENTION, (SOFTMAX, f"{SOFTMAX}.detach()"))),
        "scores from a detached encoder": (
            "gradient",
            edit(ATTENTION, ("(encoder_output @", "(encoder_output.detach() @")),
        ),
        "the query detached": (
            "gradient",
            edit(ATTENTION, ("query.unsqueeze(2)", "query.detach().unsqueeze(2)")),
        ),
        "without gradients": ("gradient", ATTENTION.replace("\ndef", "\n@torch.no_grad()\ndef")),
        "a float32 mask": (
            "dtype",
            edit(
                ATTENTION,
                (SOFTMAX, f"{SOFTMAX} * (~padded).float()"),
                ("@ encoder_output).squeeze(1)", "@ encoder_output.to(weights.dtype)).squeeze(1)"),
            ),
        ),
        "softmax in float32": (
            "dtype",
            edit(
                ATTENTION,
                (
                    "dim=1)\n    context",
                    "dim=1, dtype=torch.promote_types(torch.float32, query.dtype))\n    context",
                ),
                ("@ encoder_output).squeeze(1)", "@ encoder_output.to(weights.dtype)).squeeze(1)"),
            ),
        ),
        "steps on the CPU": ("device", edit(ATTENTION, (", device=lengths.device)", ")"))),
        "the mask where the lengths are": ("device", edit(ATTENTION, (".to(scores.device)", ""))),
        "steps where the data is, lengths where they were": (
            "device",
            edit(ATTENTION, ("device=lengths.device", "device=query.device")),
        ),
        "a scale on the CPU": (
            "device",
            edit(
                ATTENTION, ("/ hidden_size**0.5", "/ torch.full((1,), hidden_size, dtype=query.dtype).sqrt()")
            ),
        ),
        "padding zeroed in place": (
            "mutation",
            edit(ATTENTION, ("    weights =", "    encoder_output[padded] = 0\n    weights =")),
        ),
        "the query scaled in place": (
            "mutation",
            edit(
                ATTENTION,
                (" / hidden_size**0.5", ""),
                ("    scores =", "    query /= hidden_size**0.5\n    scores ="),
            ),
        ),
        "the lengths counted down in place": (
            "mutation",
            edit(ATTENTION, ("    weights =", "    lengths.sub_(1)\n    weights =")),
        ),
    },
    "decode_teacher_forced": {
        "shifted inside": (
            "values",
            LOGITS.format("fc(decoder(embedding(F.pad(target_ids[:, :-1], (1, 0))), state)[0])"),
        ),
        "rolled": ("values", LOGITS.format("fc(decoder(embedding(target_ids.roll(1, 1)), state)[0])")),
        "the state left out": ("values", LOGITS.format("fc(decoder(embedding(target_ids))[0])")),
        "h without c": (
            "values",
            LOGITS.format("fc(decoder(embedding(target_ids), (state[0], torch.zeros_like(state[1])))[0])"),
        ),
        "h and c exchanged": (
            "values",
            LOGITS.format("fc(decoder(embedding(target_ids), (state[1], state[0]))[0])"),
        ),
        "softmax": ("values", LOGITS.format("fc(decoder(embedding(target_ids), state)[0]).softmax(-1)")),
        "log-softmax": (
            "values",
            LOGITS.format("F.log_softmax(fc(decoder(embedding(target_ids), state)[0]), -1)"),
        ),
        "relu": ("values", LOGITS.format("fc(decoder(embedding(target_ids), state)[0].relu())")),
        "read backwards": (
            "values",
            LOGITS.format("fc(decoder(embedding(target_ids.flip(1)), state)[0]).flip(1)"),
        ),
        "its own tokens fed back": (
            "values",
            """
def decode_teacher_forced(decoder, embedding, fc, target_ids, state):
    ids, logits = target_ids[:, :1], []
    for _ in range(target_ids.shape[1]):
        output, state = decoder(embedding(ids), state)
        logits.append(fc(output))
        ids = logits[-1].argmax(2)
    return torch.cat(logits, 1)
""",
        ),
        "the same state at every step": (
            "values",
            """
def decode_teacher_forced(decoder, embedding, fc, target_ids, state):
    steps = [decoder(embedding(target_ids[:, t : t + 1]), state)[0] for t in range(target_ids.shape[1])]
    return fc(torch.cat(steps, 1))
""",
        ),
        "an output layer of its own": (
            "values",
            LOGITS.format(
                "nn.Linear(fc.in_features, fc.out_features).to(fc.weight)(decoder(embedding(target_ids), state)[0])"
            ),
        ),
        "the output layer's bias left out": (
            "values",
            LOGITS.format("decoder(embedding(target_ids), state)[0] @ fc.weight.T"),
        ),
        "only the last step": ("shape", LOGITS.format("fc(decoder(embedding(target_ids), state)[0][:, -1])")),
        "from h_n": ("shape", LOGITS.format("fc(decoder(embedding(target_ids), state)[1][0])")),
        "tokens": ("shape", LOGITS.format("fc(decoder(embedding(target_ids), state)[0]).argmax(-1)")),
        "the last token dropped": (
            "shape",
            LOGITS.format("fc(decoder(embedding(target_ids[:, :-1]), state)[0])"),
        ),
        "without the output layer": ("shape", LOGITS.format("decoder(embedding(target_ids), state)[0]")),
        "with the state": (
            "shape",
            edit(DECODE, ("output, _", "output, state"), ("return fc(output)", "return fc(output), state")),
        ),
        "vocabulary before time": (
            "shape",
            LOGITS.format("fc(decoder(embedding(target_ids), state)[0]).transpose(1, 2)"),
        ),
        "squeezed": ("generality", LOGITS.format("fc(decoder(embedding(target_ids), state)[0].squeeze())")),
        "viewed": (
            "generality",
            edit(
                DECODE,
                ("embedding(target_ids)", "embedding(target_ids.view(-1)).view(*target_ids.shape, -1)"),
            ),
        ),
        "the state detached": (
            "gradient",
            LOGITS.format("fc(decoder(embedding(target_ids), tuple(s.detach() for s in state))[0])"),
        ),
        "the embedding through .data": (
            "gradient",
            LOGITS.format("fc(decoder(F.embedding(target_ids, embedding.weight.data), state)[0])"),
        ),
        "the output detached": (
            "gradient",
            LOGITS.format("fc(decoder(embedding(target_ids), state)[0].detach())"),
        ),
        "without gradients": ("gradient", "\n@torch.no_grad()" + DECODE),
        "float": ("dtype", LOGITS.format("fc(decoder(embedding(target_ids), state)[0]).float()")),
        "written into a tensor of the default dtype": (
            "dtype",
            edit(
                DECODE,
                (
                    "    return fc(output)",
                    "    logits = torch.zeros(*target_ids.shape, fc.out_features)\n    logits[:] = fc(output)\n    return logits",
                ),
            ),
        ),
        "written into a tensor on the CPU": (
            "device",
            edit(
                DECODE,
                (
                    "    return fc(output)",
                    "    logits = torch.zeros(*target_ids.shape, fc.out_features, dtype=output.dtype)\n    logits[:] = fc(output)\n    return logits",
                ),
            ),
        ),
        "one-hot rows on the CPU": (
            "device",
            edit(
                DECODE,
                (
                    "embedding(target_ids)",
                    "torch.eye(embedding.num_embeddings, dtype=state[0].dtype)[target_ids] @ embedding.weight",
                ),
            ),
        ),
        "the new state written back": (
            "mutation",
            edit(
                DECODE,
                ("output, _", "output, final"),
                ("    return", "    with torch.no_grad():\n        state[0].copy_(final[0])\n    return"),
            ),
        ),
        "tokens shifted in place afterwards": (
            "mutation",
            edit(DECODE, ("    return", "    target_ids[:, 0] = 0\n    return")),
        ),
        "the weights scaled": (
            "mutation",
            edit(
                DECODE,
                (
                    "    return fc(output)",
                    "    logits = fc(output)\n    embedding.weight.data.mul_(0.99)\n    return logits",
                ),
            ),
        ),
    },
    "greedy_generate": {
        "one token for all rows": (
            "values",
            edit(
                GREEDY,
                (
                    "logits[:, -1].argmax(dim=1, keepdim=True)",
                    "logits[0, -1].argmax().expand(len(prompt_ids), 1)",
                ),
            ),
        ),
        "the first step's logits": ("values", edit(GREEDY, ("logits[:, -1]", "logits[:, 0]"))),
        "the least probable": ("values", edit(GREEDY, ("argmax", "argmin"))),
        "sampled": (
            "values",
            edit(
                GREEDY,
                (
                    "logits[:, -1].argmax(dim=1, keepdim=True)",
                    "torch.multinomial(logits[:, -1].softmax(1), 1)",
                ),
            ),
        ),
        "the second most probable": (
            "values",
            edit(
                GREEDY,
                ("logits[:, -1].argmax(dim=1, keepdim=True)", "logits[:, -1].topk(2, dim=1).indices[:, 1:]"),
            ),
        ),
        "its first token left out": (
            "values",
            edit(GREEDY, ("range(steps)", "range(steps + 1)"), ("dim=1)\n", "dim=1)[:, 1:]\n")),
        ),
        "c dropped between the calls": (
            "values",
            edit(
                GREEDY,
                (
                    "            ids =",
                    "            state = (state[0], torch.zeros_like(state[1]))\n            ids =",
                ),
            ),
        ),
        "the prompt's state every time": (
            "values",
            edit(
                GREEDY,
                (
                    "logits, state = model(ids, state)",
                    "logits, new = model(ids, state)\n            state = new if state is None else state",
                ),
            ),
        ),
        "rows mixed": (
            "values",
            edit(GREEDY, ("torch.cat(tokens, dim=1)", "torch.cat(tokens).reshape(-1, steps)")),
        ),
        "rows in reverse": ("values", edit(GREEDY, ("keepdim=True)", "keepdim=True).flip(0)"))),
        "the prompt's last token fed twice": (
            "values",
            edit(
                GREEDY,
                (
                    "        for",
                    "        _, state = model(prompt_ids, None)\n        ids = prompt_ids[:, -1:]\n        for",
                ),
            ),
        ),
        "with the prompt": ("shape", edit(GREEDY, ("torch.cat(tokens", "torch.cat([prompt_ids, *tokens]"))),
        "a list": (
            "shape",
            edit(GREEDY, ("torch.cat(tokens, dim=1)", "[token.tolist() for token in tokens]")),
        ),
        "stacked": ("shape", edit(GREEDY, ("torch.cat", "torch.stack"))),
        "logits": ("shape", edit(GREEDY, ("append(ids)", "append(logits[:, -1:])"))),
        "one too many": ("shape", edit(GREEDY, ("range(steps)", "range(steps + 1)"))),
        "only the last token": ("shape", edit(GREEDY, ("torch.cat(tokens, dim=1)", "ids"))),
        "time first": ("shape", edit(GREEDY, ("torch.cat(tokens, dim=1)", "torch.cat(tokens, dim=1).T"))),
        "the whole text read again for each token": (
            "from-scratch",
            """
@torch.no_grad()
def greedy_generate(model, prompt_ids, steps):
    text = prompt_ids
    for _ in range(steps):
        logits, _ = model(text, None)
        text = torch.cat((text, logits[:, -1].argmax(1, keepdim=True)), 1)
    return text[:, prompt_ids.shape[1] :]
""",
        ),
        "the prompt one token at a time": (
            "from-scratch",
            edit(
                GREEDY,
                (
                    "        for _ in range(steps):",
                    "        for t in range(prompt_ids.shape[1] - 1):\n            _, state = model(prompt_ids[:, t : t + 1], state)\n        ids = prompt_ids[:, -1:]\n        for _ in range(steps):",
                ),
            ),
        ),
        "the prompt read twice": (
            "from-scratch",
            edit(GREEDY, ("        for", "        model(prompt_ids, None)\n        for")),
        ),
        "each call twice": (
            "from-scratch",
            edit(
                GREEDY,
                (
                    "            logits, state = model(ids, state)",
                    "            logits = model(ids, state)[0]\n            state = model(ids, state)[1]",
                ),
            ),
        ),
        "one row at a time": (
            "from-scratch",
            """
@torch.no_grad()
def greedy_generate(model, prompt_ids, steps):
    rows = []
    for row in prompt_ids:
        ids, state, tokens = row[None], None, []
        for _ in range(steps):
            logits, state = model(ids, state)
            ids = logits[:, -1:].argmax(2)
            tokens.append(ids)
        rows.append(torch.cat(tokens, 1))
    return torch.cat(rows)
""",
        ),
        "squeezed": (
            "generality",
            edit(GREEDY, ("torch.cat(tokens, dim=1)", "torch.cat(tokens, dim=1).squeeze()")),
        ),
        "stops when all rows repeat themselves, at most 20": (
            "generality",
            edit(GREEDY, ("range(steps)", "range(min(steps, 20))")),
        ),
        "a graph from token to token": ("gradient", edit(GREEDY, ("with torch.no_grad():", "if True:"))),
        "the graph cut at the logits only": (
            "gradient",
            edit(
                GREEDY,
                ("with torch.no_grad():", "if True:"),
                ("logits[:, -1].argmax", "logits[:, -1].detach().argmax"),
            ),
        ),
        "the model frozen": (
            "gradient",
            edit(GREEDY, ("with torch.no_grad():", "if model.requires_grad_(False):")),
        ),
        "int32": ("dtype", edit(GREEDY, ("dim=1)\n", "dim=1).int()\n"))),
        "floats": (
            "dtype",
            edit(
                GREEDY,
                (
                    "    return torch.cat(tokens, dim=1)",
                    "    result = torch.zeros(len(prompt_ids), steps)\n    result[:] = torch.cat(tokens, dim=1)\n    return result",
                ),
            ),
        ),
        "tokens written into a tensor on the CPU": (
            "device",
            edit(
                GREEDY,
                (
                    "    return torch.cat(tokens, dim=1)",
                    "    result = torch.zeros(len(prompt_ids), steps, dtype=torch.int64)\n    result[:] = torch.cat(tokens, dim=1)\n    return result",
                ),
            ),
        ),
        "tokens rebuilt on the CPU": (
            "device",
            edit(GREEDY, ("torch.cat(tokens, dim=1)", "torch.tensor(torch.cat(tokens, dim=1).tolist())")),
        ),
        "the prompt overwritten": (
            "mutation",
            edit(
                GREEDY,
                ("            tokens", "            prompt_ids[:, -1:] = ids\n            tokens"),
                ("append(ids)", "append(ids.clone())"),
            ),
        ),
    },
}
