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

OUTPUT_SHAPE = "(batch_size, seq_len, hidden_size * directions)"


WRONG = {
    "predict_shapes": {
        "output has the layers for steps": (
            "values",
            edit(PREDICT, (OUTPUT_SHAPE, "(batch_size, num_layers, hidden_size * directions)")),
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
        "the vectors too": ("shape", edit(EMBED, ("return output", "return vectors, output"))),
        "ids straight into the RNN": ("shape", edit(EMBED, ("rnn(vectors)", "rnn(token_ids)"))),
        "looked up on the CPU": (
            "device",
            edit(
                EMBED,
                ("embedding(token_ids)", "embedding.weight.cpu()[token_ids.cpu()].to(token_ids.device)"),
            ),
        ),
    },
    "last_step": {
        "everything": ("shape", edit(LAST, ("[:, -1]", ""))),
        "in double": ("dtype", edit(LAST, ("[:, -1]", "[:, -1] * torch.ones(1, dtype=torch.float64)"))),
    },
    "layer_state": {
        "transposed": ("shape", edit(LAYER, ("[layer]", "[layer].T"))),
        "nothing is returned": ("shape", edit(LAYER, ("return ", ""))),
        "view": ("generality", edit(LAYER, ("h_n[layer]", "h_n.view(-1).view(h_n.shape)[layer]"))),
        "in float": ("dtype", edit(LAYER, ("[layer]", "[layer].float()"))),
    },
    "item_states": {
        "transposed": ("shape", edit(ITEM, ("[:, item]", "[:, item].T"))),
        "squeezed before": ("generality", edit(ITEM, ("h_n[:, item]", "h_n.squeeze(1)[:, item]"))),
        "in float": ("dtype", edit(ITEM, ("[:, item]", "[:, item].float()"))),
    },
    "claims": {
        "a name misspelt": ("shape", CLAIMS.replace("batch_first_changes_h_n", "batch_first_changes_hn")),
        "a list": ("shape", CLAIMS + "\nclaims = list(claims.values())\n"),
        "a function": ("shape", CLAIMS + "\nanswers = claims\ndef claims():\n    return answers\n"),
        "the released cell": ("shape", CLAIMS.replace("True", "None").replace("False", "None")),
        "None": ("shape", "claims = None\n"),
    },
}
