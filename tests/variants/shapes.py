"""Right and wrong answers to the tasks of 01_shapes."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

CLAIMS = """
claims = {
    "layers_see_all_timesteps": True,
    "num_layers_equals_seq_len": False,
    "h_n_holds_every_timestep": False,
    "output_holds_every_layer": False,
    "batch_first_changes_h_n": False,
    "output_last_equals_top_h_n": True,
    "lstm_has_extra_cell_state": True,
    "lstm_has_four_times_rnn_parameters": True,
}
"""
"""The right answers alone: the source has them below the cell as it is released."""

SOLUTIONS = solutions_of("01_shapes") | {"claims": CLAIMS}

PREDICT, EMBED, LAST, LAYER, ITEM, _ = SOLUTIONS.values()

CORRECT = right_answers_of("01_shapes")

STATE_LINE = "    state = (num_layers * directions, batch_size, hidden_size)"
OUTPUT_SHAPE = "(batch_size, seq_len, hidden_size * directions)"


def _answered(**other: object) -> str:
    """The right answers but for some."""
    return CLAIMS + f"\nclaims.update({other!r})\n"


WRONG = {
    "predict_shapes": {
        "output has the layers for steps": (
            "values",
            edit(PREDICT, (OUTPUT_SHAPE, "(batch_size, num_layers, hidden_size * directions)")),
        ),
        "everyone has a c_n": ("values", edit(PREDICT, ('if kind == "LSTM"', "if kind"))),
        "no c_n": ("values", edit(PREDICT, ('if kind == "LSTM"', "if False"))),
        "c_n is None where there is none": (
            "shape",
            edit(PREDICT, ("    return shapes", '    shapes.setdefault("c_n", None)\n    return shapes')),
        ),
        "c_n is one layer's": (
            "values",
            edit(PREDICT, ('shapes["c_n"] = state', 'shapes["c_n"] = (directions, batch_size, hidden_size)')),
        ),
        "always two directions": ("values", edit(PREDICT, ("2 if bidirectional else 1", "2"))),
        "bidirectional has no default": ("values", edit(PREDICT, ("bidirectional=False", "bidirectional"))),
        "tensors, not shapes": (
            "shape",
            edit(
                PREDICT,
                ("return shapes", "return {name: torch.zeros(shape) for name, shape in shapes.items()}"),
            ),
        ),
        "sizes as floats": (
            "shape",
            edit(PREDICT, ("2 if bidirectional else 1", "2.0 if bidirectional else 1.0")),
        ),
        "three layers always": (
            "generality",
            edit(PREDICT, (STATE_LINE, STATE_LINE.replace("num_layers", "3"))),
        ),
        "sizes of 1 dropped": (
            "generality",
            edit(
                PREDICT,
                (
                    "return shapes",
                    "return {n: tuple(s for s in shape if s != 1) for n, shape in shapes.items()}",
                ),
            ),
        ),
        "one layer without a layers dimension": (
            "generality",
            edit(PREDICT, (STATE_LINE, STATE_LINE + "\n    if num_layers == 1:\n        state = state[1:]")),
        ),
    },
    "embed_then_rnn": {
        "a new embedding": (
            "values",
            edit(
                EMBED,
                (
                    "embedding(token_ids)",
                    "nn.Embedding(embedding.num_embeddings, embedding.embedding_dim)(token_ids)",
                ),
            ),
        ),
        "a new RNN": (
            "values",
            edit(
                EMBED,
                (
                    "rnn(vectors)",
                    "nn.RNN(rnn.input_size, rnn.hidden_size, rnn.num_layers, batch_first=True)(vectors)",
                ),
            ),
        ),
        "ids off by one": (
            "values",
            edit(EMBED, ("embedding(token_ids)", "embedding((token_ids - 1).clamp(min=0))")),
        ),
        "read backwards": ("values", edit(EMBED, ("embedding(token_ids)", "embedding(token_ids.flip(1))"))),
        "run twice": (
            "values",
            edit(EMBED, ("    return", "    output, h_n = rnn(vectors, h_n)\n    return")),
        ),
        "no memory between tokens": (
            "values",
            edit(
                EMBED,
                (
                    "output, h_n = rnn(vectors)",
                    "output = torch.cat([rnn(v)[0] for v in vectors.split(1, 1)], 1)\n    h_n = rnn(vectors)[1]",
                ),
            ),
        ),
        "h_n upside down": ("values", edit(EMBED, ("return output, h_n", "return output, h_n.flip(0)"))),
        "the vectors too": ("shape", edit(EMBED, ("return output", "return vectors, output"))),
        "ids straight into the RNN": ("shape", edit(EMBED, ("rnn(vectors)", "rnn(token_ids)"))),
        "at most twelve tokens": ("generality", edit(EMBED, ("rnn(vectors)", "rnn(vectors[:, :12])"))),
        "squeeze": ("generality", edit(EMBED, ("embedding(token_ids)", "embedding(token_ids.squeeze())"))),
        "three layers of zeros": (
            "generality",
            edit(
                EMBED, ("rnn(vectors)", "rnn(vectors, vectors.new_zeros(3, len(vectors), rnn.hidden_size))")
            ),
        ),
        "vectors detached": (
            "gradient",
            edit(EMBED, ("embedding(token_ids)", "embedding(token_ids).detach()")),
        ),
        "table read through data": (
            "gradient",
            edit(EMBED, ("embedding(token_ids)", "embedding.weight.data[token_ids]")),
        ),
        "no gradients": ("gradient", "@torch.no_grad()" + EMBED),
        "looked up on the CPU": (
            "device",
            edit(
                EMBED,
                ("embedding(token_ids)", "embedding.weight.cpu()[token_ids.cpu()].to(token_ids.device)"),
            ),
        ),
        "ids clamped in place": (
            "mutation",
            edit(EMBED, ("    return", "    token_ids.clamp_(max=0)\n    return")),
        ),
        "table zeroed afterwards": (
            "mutation",
            edit(
                EMBED,
                (
                    "    return",
                    "    output, h_n = output + 0, h_n + 0\n    embedding.weight.data.zero_()\n    return",
                ),
            ),
        ),
        "RNN initialized again afterwards": (
            "mutation",
            edit(EMBED, ("    return", "    rnn.reset_parameters()\n    return")),
        ),
    },
    "last_step": {
        "the last but one": ("values", edit(LAST, ("output[:, -1]", "output[:, -2 % output.shape[1]]"))),
        "the mean": ("values", edit(LAST, ("output[:, -1]", "output.mean(1)"))),
        "the largest": ("values", edit(LAST, ("output[:, -1]", "output.amax(1)"))),
        "the batch size as the index": (
            "values",
            edit(LAST, ("-1", "min(output.shape[0], output.shape[1] - 1)")),
        ),
        "of the first sequence only": (
            "values",
            edit(LAST, ("output[:, -1]", "output[:1, -1].expand(len(output), -1)")),
        ),
        "sequences in reverse": ("values", edit(LAST, ("output[:, -1]", "output[:, -1].flip(0)"))),
        "the last sequence by its number": ("shape", edit(LAST, ("[:, -1]", "[output.shape[0] - 1]"))),
        "everything": ("shape", edit(LAST, ("[:, -1]", ""))),
        "nothing is returned": ("shape", edit(LAST, ("return ", ""))),
        "the twentieth at most": ("generality", edit(LAST, ("[:, -1]", "[:, :20][:, -1]"))),
        "view": ("generality", edit(LAST, ("output[:, -1]", "output.view(-1).view(output.shape)[:, -1]"))),
        "two steps at least": ("generality", edit(LAST, ("output[:, -1]", "output[:, 1:][:, -1]"))),
        "rebuilt": (
            "gradient",
            edit(LAST, ("output[:, -1]", "torch.tensor(output.tolist(), dtype=output.dtype)[:, -1]")),
        ),
        "in double": ("dtype", edit(LAST, ("[:, -1]", "[:, -1] * torch.ones(1, dtype=torch.float64)"))),
        "output zeroed": (
            "mutation",
            edit(
                LAST,
                (
                    "    return output[:, -1]",
                    "    last = output[:, -1].clone()\n    output.zero_()\n    return last",
                ),
            ),
        ),
    },
    "layer_state": {
        "the sum up to it": ("values", edit(LAYER, ("h_n[layer]", "h_n[: layer + 1].sum(0)"))),
        "the mean of all": ("values", edit(LAYER, ("h_n[layer]", "h_n.mean(0)"))),
        "the first sequence for all": (
            "values",
            edit(LAYER, ("h_n[layer]", "h_n[layer, :1].expand(h_n.shape[1], -1)")),
        ),
        "the unit of that number": ("shape", edit(LAYER, ("[layer]", "[:, :, layer % h_n.shape[2]]"))),
        "transposed": ("shape", edit(LAYER, ("[layer]", "[layer].T"))),
        "nothing is returned": ("shape", edit(LAYER, ("return ", ""))),
        "three layers at most": ("generality", edit(LAYER, ("[layer]", "[min(layer, 2)]"))),
        "view": ("generality", edit(LAYER, ("h_n[layer]", "h_n.view(-1).view(h_n.shape)[layer]"))),
        "through data": ("gradient", edit(LAYER, ("h_n[layer]", "h_n.data[layer]"))),
        "in float": ("dtype", edit(LAYER, ("[layer]", "[layer].float()"))),
        "h_n zeroed": (
            "mutation",
            edit(
                LAYER,
                (
                    "    return h_n[layer]",
                    "    state = h_n[layer].clone()\n    h_n.zero_()\n    return state",
                ),
            ),
        ),
        "the others zeroed": ("mutation", edit(LAYER, ("    return", "    h_n[:layer] = 0\n    return"))),
    },
    "item_states": {
        "counted from the end": ("values", edit(ITEM, ("item]", "-item - 1]"))),
        "the top layer for all": (
            "values",
            edit(ITEM, ("h_n[:, item]", "h_n[-1:, item].expand(len(h_n), -1)")),
        ),
        "the mean of all": ("values", edit(ITEM, ("h_n[:, item]", "h_n.mean(1)"))),
        "the layer of that number": ("shape", edit(ITEM, ("[:, item]", "[item % len(h_n)]"))),
        "the unit of that number": ("shape", edit(ITEM, ("[:, item]", "[:, :, item % h_n.shape[2]]"))),
        "transposed": ("shape", edit(ITEM, ("[:, item]", "[:, item].T"))),
        "a list of vectors": ("shape", edit(ITEM, ("h_n[:, item]", "[layer[item] for layer in h_n]"))),
        "squeezed before": ("generality", edit(ITEM, ("h_n[:, item]", "h_n.squeeze(1)[:, item]"))),
        "view": ("generality", edit(ITEM, ("h_n[:, item]", "h_n.view(-1).view(h_n.shape)[:, item]"))),
        "in a default buffer": (
            "dtype",
            edit(
                ITEM,
                (
                    "return h_n[:, item]",
                    "return h_n[:, item] + torch.zeros(1, 1, dtype=torch.get_default_dtype())",
                ),
            ),
        ),
        "in float": ("dtype", edit(ITEM, ("[:, item]", "[:, item].float()"))),
        "h_n zeroed": (
            "mutation",
            edit(
                ITEM,
                (
                    "    return h_n[:, item]",
                    "    states = h_n[:, item].clone()\n    h_n.zero_()\n    return states",
                ),
            ),
        ),
    },
    "claims": {
        "a layer a step": ("values", _answered(layers_see_all_timesteps=False)),
        "as many layers as steps": ("values", _answered(num_layers_equals_seq_len=True)),
        "h_n has every step": ("values", _answered(h_n_holds_every_timestep=True)),
        "output has every layer": ("values", _answered(output_holds_every_layer=True)),
        "batch_first turns h_n": ("values", _answered(batch_first_changes_h_n=True)),
        "output ends elsewhere": ("values", _answered(output_last_equals_top_h_n=False)),
        "an LSTM has one state": ("values", _answered(lstm_has_extra_cell_state=False)),
        "an LSTM is as large": ("values", _answered(lstm_has_four_times_rnn_parameters=0)),
        "everything is true": ("values", CLAIMS.replace("False", "True")),
        "everything is false": ("values", CLAIMS.replace("True", "False")),
        "everything the wrong way round": (
            "values",
            CLAIMS + "\nclaims = {name: not answer for name, answer in claims.items()}\n",
        ),
        "one left open": ("shape", _answered(batch_first_changes_h_n=None)),
        "one left out": ("shape", CLAIMS + '\ndel claims["batch_first_changes_h_n"]\n'),
        "a name misspelt": ("shape", CLAIMS.replace("batch_first_changes_h_n", "batch_first_changes_hn")),
        "text": ("shape", CLAIMS.replace("True", "'True'").replace("False", "'False'")),
        "a number that is no truth": ("shape", _answered(h_n_holds_every_timestep=2)),
        "a list": ("shape", CLAIMS + "\nclaims = list(claims.values())\n"),
        "a function": ("shape", CLAIMS + "\nanswers = claims\ndef claims():\n    return answers\n"),
        "the released cell": ("shape", CLAIMS.replace("True", "None").replace("False", "None")),
        "None": ("shape", "claims = None\n"),
    },
}
