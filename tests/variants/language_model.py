"""Right answers to the tasks of 12_language_model, and wrong ones that the catalogue does not have."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("12_language_model")

ENCODE, LANES, CHARLM, LOSS, SAMPLE = SOLUTIONS.values()

CORRECT = right_answers_of("12_language_model")

WRONG = {
    "encode": {
        "the first is 1": ("values", edit(ENCODE, ("enumerate(chars)", "enumerate(chars, 1)"))),
        "ids reversed": ("values", edit(ENCODE, ("for char in text]", "for char in reversed(text)]"))),
        "a column": ("shape", edit(ENCODE, ("for char in text])", "for char in text])[:, None]"))),
        "at most 256": (
            "generality",
            edit(
                ENCODE,
                ("sorted(set(text))", "sorted(set(text))[:256]"),
                ("number[char]", "number.get(char, 0)"),
            ),
        ),
        "int32": ("dtype", edit(ENCODE, ("for char in text])", "for char in text], dtype=torch.int32)"))),
    },
    "lanes": {
        "each row one early": ("values", edit(LANES, ("return ids", "return ids.roll(1)"))),
        "the same row": (
            "values",
            edit(
                LANES,
                (
                    "return ids[: batch_size * length].reshape(batch_size, length)",
                    "return ids[:length].repeat(batch_size, 1)",
                ),
            ),
        ),
        "for more than one row": (
            "generality",
            edit(
                LANES,
                (
                    "return ids",
                    "ids = ids if batch_size > 1 else ids[:-1]\n    length = len(ids) // batch_size\n    return ids",
                ),
            ),
        ),
        "int32": ("dtype", edit(LANES, ("(batch_size, length)", "(batch_size, length).int()"))),
        "through the CPU": ("device", edit(LANES, ("return ids[", "return ids.cpu()["))),
        "sorted in place": (
            "mutation",
            edit(
                LANES,
                (
                    "return ids[: batch_size * length].reshape(batch_size, length)",
                    "rows = ids[: batch_size * length].reshape(batch_size, length).clone()\n    ids.zero_()\n    return rows",
                ),
            ),
        ),
    },
    "CharLM": {
        "tied through the data": (
            "registration",
            edit(
                CHARLM,
                (
                    "self.fc.weight = self.embedding.weight",
                    "self.fc.weight.data.copy_(self.embedding.weight)",
                ),
            ),
        ),
        "a buffer more": (
            "registration",
            edit(CHARLM, ("if tied:", 'self.register_buffer("count", torch.zeros(1))\n        if tied:')),
        ),
        "two directions": (
            "registration",
            edit(
                CHARLM,
                ("num_layers, batch_first=True)", "num_layers, batch_first=True, bidirectional=True)"),
                ("nn.Linear(size,", "nn.Linear(2 * size,"),
            ),
        ),
        "the first layer's state alone": (
            "shape",
            edit(
                CHARLM,
                (
                    "return self.fc(output), state",
                    "return self.fc(output), tuple(part[:1] for part in state)",
                ),
            ),
        ),
        "the reversed text": ("values", edit(CHARLM, ("self.embedding(ids)", "self.embedding(ids.flip(1))"))),
        "padding at 0": (
            "gradient",
            edit(CHARLM, ("nn.Embedding(vocab_size, size)", "nn.Embedding(vocab_size, size, padding_idx=0)")),
        ),
        "frozen embedding": (
            "registration",
            edit(CHARLM, ("if tied:", "self.embedding.weight.requires_grad_(False)\n        if tied:")),
        ),
        "float": (
            "dtype",
            edit(CHARLM, ("return self.fc(output), state", "return self.fc(output).float(), state")),
        ),
    },
    "next_token_loss": {
        "one row's loss": (
            "values",
            edit(LOSS, ("logits[:, :-1], ids[:, 1:]", "logits[:1, :-1], ids[:1, 1:]")),
        ),
        "two ahead": ("values", edit(LOSS, ("logits[:, :-1], ids[:, 1:]", "logits[:, :-2], ids[:, 2:]"))),
        "negative": ("values", edit(LOSS, ("return F", "return -F"))),
        "smoothed": ("values", edit(LOSS, ("target.flatten())", "target.flatten(), label_smoothing=0.1)"))),
        "for two rows and more": (
            "generality",
            edit(LOSS, ("logits[:, :-1], ids[:, 1:]", "logits.squeeze()[:, :-1], ids.squeeze()[:, 1:]")),
        ),
        "float": ("dtype", edit(LOSS, ("target.flatten())", "target.flatten()).float()"))),
    },
    "sample": {
        "the second most probable": (
            "values",
            edit(SAMPLE, ("logits = logits[:, -1] / temperature", "logits = -logits[:, -1] / temperature")),
        ),
        "one text for all": (
            "values",
            edit(
                SAMPLE, ("1, generator=generator)", "1, generator=generator)[:1].expand(len(prompt_ids), 1)")
            ),
        ),
        "square of the temperature": ("values", edit(SAMPLE, ("/ temperature", "/ temperature**2"))),
        "temperature of one at most": ("values", edit(SAMPLE, ("/ temperature", "/ min(temperature, 1.0)"))),
        "tokens as rows": ("shape", edit(SAMPLE, ("torch.cat(tokens, dim=1)", "torch.cat(tokens, dim=1).T"))),
        "the first layer of the state": (
            "generality",
            edit(
                SAMPLE,
                (
                    "tokens.append(ids)",
                    "tokens.append(ids)\n            state = tuple(part[:1].expand_as(part) for part in state)",
                ),
            ),
        ),
        "int32": ("dtype", edit(SAMPLE, ("torch.cat(tokens, dim=1)", "torch.cat(tokens, dim=1).int()"))),
    },
}
