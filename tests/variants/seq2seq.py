"""Right and wrong answers to the tasks of 10_seq2seq."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("10_seq2seq")

BRIDGE, ATTENTION, DECODE, GREEDY = SOLUTIONS.values()


LOGITS = """
def decode_teacher_forced(decoder, embedding, fc, target_ids, state):
    return {}
"""

MASKED = 'scores.masked_fill(padded, float("-inf"))'
SOFTMAX = f"torch.softmax({MASKED}, dim=1)"

CORRECT = right_answers_of("10_seq2seq")

WRONG = {
    "bridge_state": {
        "layers in reverse": ("values", edit(BRIDGE, ("dim=2)", "dim=2).flip(0)"))),
        "float": ("dtype", edit(BRIDGE, ("dim=2)", "dim=2).float()"))),
        "joined on the CPU": ("device", edit(BRIDGE, ("part.reshape", "part.cpu().reshape"))),
    },
    "attention": {
        "one length for all": ("values", edit(ATTENTION, ("lengths.unsqueeze(1)", "lengths.max()"))),
        "a hard choice": (
            "values",
            edit(ATTENTION, (SOFTMAX, f"F.one_hot(torch.argmax({MASKED}, dim=1), seq_len).to(scores.dtype)")),
        ),
        "weights first": ("shape", edit(ATTENTION, ("return context, weights", "return weights, context"))),
        "padding found by its zeros": (
            "values",
            edit(
                ATTENTION,
                ("(steps >= lengths.unsqueeze(1)).to(scores.device)", "(encoder_output == 0).all(2)"),
            ),
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
        "the mask where the lengths are": ("device", edit(ATTENTION, (".to(scores.device)", ""))),
        "steps where the data is, lengths where they were": (
            "device",
            edit(ATTENTION, ("device=lengths.device", "device=query.device")),
        ),
    },
    "decode_teacher_forced": {
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
        "vocabulary before time": (
            "shape",
            LOGITS.format("fc(decoder(embedding(target_ids), state)[0]).transpose(1, 2)"),
        ),
        "the output detached": (
            "gradient",
            LOGITS.format("fc(decoder(embedding(target_ids), state)[0].detach())"),
        ),
        "float": ("dtype", LOGITS.format("fc(decoder(embedding(target_ids), state)[0]).float()")),
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
        "one too many": ("shape", edit(GREEDY, ("range(steps)", "range(steps + 1)"))),
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
        "the graph cut at the logits only": (
            "gradient",
            edit(
                GREEDY,
                ("with torch.no_grad():", "if True:"),
                ("logits[:, -1].argmax", "logits[:, -1].detach().argmax"),
            ),
        ),
        "int32": ("dtype", edit(GREEDY, ("dim=1)\n", "dim=1).int()\n"))),
        "tokens rebuilt on the CPU": (
            "device",
            edit(GREEDY, ("torch.cat(tokens, dim=1)", "torch.tensor(torch.cat(tokens, dim=1).tolist())")),
        ),
    },
}
