"""Right and wrong answers to the tasks of 10_seq2seq."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("10_seq2seq")

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

CORRECT = right_answers_of("10_seq2seq")

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
        "the top layer only": ("shape", edit(BRIDGE, ("dim=2)", "dim=2)[-1]"))),
        "unchanged": ("shape", JOIN.format("part")),
        "squeezed": ("generality", edit(BRIDGE, ("dim=2)", "dim=2).squeeze()"))),
        "viewed": ("generality", edit(BRIDGE, ("part.reshape", "part.view(-1).view"))),
        "for three layers": (
            "generality",
            JOIN.format("torch.stack([torch.cat((part[k], part[k + 1]), 1) for k in (0, 2, 4)])"),
        ),
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
        "the mask is one step long": (
            "values",
            edit(
                ATTENTION,
                ("steps >= lengths.unsqueeze(1)", "steps >= (lengths - 1).clamp(min=1).unsqueeze(1)"),
            ),
        ),
        "one length for all": ("values", edit(ATTENTION, ("lengths.unsqueeze(1)", "lengths.max()"))),
        "the mean of the steps": (
            "values",
            edit(ATTENTION, ("(weights.unsqueeze(1) @ encoder_output).squeeze(1)", "encoder_output.mean(1)")),
        ),
        "a hard choice": (
            "values",
            edit(ATTENTION, (SOFTMAX, f"F.one_hot(torch.argmax({MASKED}, dim=1), seq_len).to(scores.dtype)")),
        ),
        "weights first": ("shape", edit(ATTENTION, ("return context, weights", "return weights, context"))),
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
        "vocabulary before time": (
            "shape",
            LOGITS.format("fc(decoder(embedding(target_ids), state)[0]).transpose(1, 2)"),
        ),
        "squeezed": ("generality", LOGITS.format("fc(decoder(embedding(target_ids), state)[0].squeeze())")),
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
        "a list": (
            "shape",
            edit(GREEDY, ("torch.cat(tokens, dim=1)", "[token.tolist() for token in tokens]")),
        ),
        "one too many": ("shape", edit(GREEDY, ("range(steps)", "range(steps + 1)"))),
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
