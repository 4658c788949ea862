"""Right and wrong answers to the tasks of 09_ragged_batches."""

from tests.variants.edits import edit
from tests.variants.kept import right_answers_of, solutions_of

SOLUTIONS = solutions_of("09_ragged_batches")

PAD, LAST, MEAN, PACKED, MSE = SOLUTIONS.values()

MULTIPLIED = """
def masked_mse(prediction, target, lengths):
    lengths = lengths.to(prediction.device)
    steps = torch.arange(prediction.shape[1], device=prediction.device)
    mask = steps.expand(len(lengths), -1) < lengths.unsqueeze(1)
    mask = mask.unsqueeze(-1).to(prediction.dtype)
    squared = ((prediction - target) * mask) ** 2
    return squared.sum() / (lengths.sum() * prediction.shape[2])
"""

SORTED = """
def run_packed(lstm, x, lengths):
    ordered, order = lengths.sort(descending=True)
    back = order.argsort()
    packed = nn.utils.rnn.pack_padded_sequence(x[order], ordered.cpu(), batch_first=True)
    output, (h, c) = lstm(packed)
    output, _ = nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=x.size(1))
    return output[back], (h[:, back], c[:, back])
"""

CORRECT = right_answers_of("09_ragged_batches")

WRONG = {
    "pad_batch": {
        "sequences sorted, lengths not": (
            "values",
            edit(PAD, ("enumerate(sequences)", "enumerate(sorted(sequences, key=len, reverse=True))")),
        ),
        "brought back to the CPU": ("device", edit(PAD, ("return padded,", "return padded.cpu(),"))),
        "padded in float": ("dtype", edit(PAD, ("return padded,", "return padded.float(),"))),
        "rebuilt from numbers": (
            "gradient",
            edit(PAD, ("= sequence\n", "= torch.tensor(sequence.tolist(), dtype=sequence.dtype)\n")),
        ),
        "the list emptied": ("mutation", edit(PAD, ("    return", "    sequences.pop()\n    return"))),
    },
    "last_valid": {
        "the longest length for all": (
            "values",
            edit(LAST, ("lengths.to(output.device) - 1", "(lengths * 0 + lengths.max()) - 1")),
        ),
        "everything up to the last step": (
            "shape",
            "def last_valid(output, lengths):\n    return output[:, : lengths.max()]\n",
        ),
        "no gradients": ("gradient", "@torch.no_grad()" + LAST),
        "through data": ("gradient", edit(LAST, ("output[rows,", "output.data[rows,"))),
        "in float": ("dtype", edit(LAST, ("- 1]", "- 1].float()"))),
        "steps of the flattened batch on the CPU": (
            "device",
            "def last_valid(output, lengths):\n    B, T, H = output.shape\n"
            "    return output.reshape(B * T, H).index_select(0, torch.arange(B) * T + lengths - 1)\n",
        ),
        "lengths where they were": (
            "device",
            "def last_valid(output, lengths):\n"
            "    return torch.take_along_dim(output, (lengths - 1)[:, None, None], dim=1)[:, 0]\n",
        ),
    },
    "masked_mean": {
        "the last real step": (
            "values",
            "def masked_mean(output, lengths):\n    return last_valid(output, lengths)\n",
        ),
        "averaged over the batch": (
            "shape",
            edit(
                MEAN,
                ("sum(dim=1)", "sum(dim=0)"),
                ("return total / lengths[:, None]", "return total / len(lengths)"),
            ),
        ),
        "lengths along the hidden dimension": (
            "shape",
            "def masked_mean(output, lengths):\n"
            "    real = torch.arange(output.shape[1]) < lengths[:, None]\n"
            "    return (output * real[:, :, None]).sum(1)[:, None] / lengths[None, :, None]\n",
        ),
        "lengths of float32": ("dtype", edit(MEAN, ("/ lengths[:, None]", "/ lengths[:, None].float()"))),
        "no gradients": ("gradient", "@torch.no_grad()" + MEAN),
        "output masked in place": (
            "mutation",
            edit(MEAN, ("    total", "    output *= real[:, :, None]\n    total")),
        ),
        "lengths where they were": (
            "device",
            edit(MEAN, ("    lengths = lengths.to(output.device)\n", "")),
        ),
        "steps where the lengths are": (
            "device",
            edit(
                MEAN,
                ("    lengths = lengths.to(output.device)\n", ""),
                ("device=output.device", "device=lengths.device"),
            ),
        ),
        "everything on the CPU": (
            "device",
            edit(MEAN, ("    steps", "    output, lengths = output.cpu(), lengths.cpu()\n    steps")),
        ),
    },
    "run_packed": {
        "sorted x, lengths as they were": (
            "values",
            edit(
                PACKED,
                ("pack_padded_sequence(x,", "pack_padded_sequence(x[lengths.argsort(descending=True)],"),
            ),
        ),
        "every sequence at full length": (
            "values",
            edit(PACKED, ("lengths.cpu()", "torch.full_like(lengths, x.shape[1])")),
        ),
        "one packed call a sequence": (
            "from-scratch",
            "def run_packed(lstm, x, lengths):\n    outs, hs, cs = [], [], []\n"
            "    for row, n in zip(x, lengths.tolist()):\n"
            "        p, (h, c) = lstm(nn.utils.rnn.pack_sequence([row[:n]]))\n"
            "        o, _ = nn.utils.rnn.pad_packed_sequence(p, batch_first=True, total_length=x.shape[1])\n"
            "        outs.append(o)\n        hs.append(h)\n        cs.append(c)\n"
            "    return torch.cat(outs), (torch.cat(hs, 1), torch.cat(cs, 1))\n",
        ),
        "a padded call too": ("from-scratch", edit(PACKED, ("    return", "    lstm(x)\n    return"))),
        "another LSTM with its weights": (
            "from-scratch",
            edit(
                PACKED,
                (
                    "    output, state = lstm(packed)",
                    "    twin = nn.LSTM(lstm.input_size, lstm.hidden_size, lstm.num_layers, batch_first=True).to(x)\n    output, state = torch.func.functional_call(twin, dict(lstm.named_parameters()), (packed,))",
                ),
            ),
        ),
        "x detached": (
            "gradient",
            edit(PACKED, ("pack_padded_sequence(x,", "pack_padded_sequence(x.detach(),")),
        ),
        "output in float": ("dtype", edit(PACKED, ("return output,", "return output.float(),"))),
        "the order where the lengths are": (
            "device",
            edit(SORTED, ("x[order]", "x.index_select(0, order)")),
        ),
        "zero states on the CPU": (
            "device",
            edit(
                PACKED,
                (
                    "lstm(packed)",
                    "lstm(packed, (torch.zeros(lstm.num_layers, len(x), lstm.hidden_size, dtype=x.dtype),) * 2)",
                ),
            ),
        ),
    },
    "masked_mse": {
        "only the prediction is masked": (
            "values",
            edit(MULTIPLIED, ("((prediction - target) * mask)", "(prediction * mask - target)")),
        ),
        "a tensor of one": ("shape", edit(MSE, ("target[real])", "target[real]).reshape(1)"))),
        "with the count": ("shape", edit(MSE, ("target[real])", "target[real]), real.sum()"))),
        "one feature is squeezed": (
            "generality",
            edit(
                MULTIPLIED,
                (
                    "squared = ((prediction - target) * mask) ** 2",
                    "squared = ((prediction.squeeze() - target.squeeze()) * mask) ** 2",
                ),
            ),
        ),
        "detached": ("gradient", edit(MSE, ("target[real])", "target[real]).detach().requires_grad_()"))),
        "no gradients": ("gradient", "@torch.no_grad()" + MSE),
        "the gradient goes to the target": (
            "gradient",
            edit(MSE, ("prediction[real]", "prediction.detach()[real]")),
        ),
        "a count of float32": ("dtype", edit(MULTIPLIED, ("(lengths.sum() *", "(lengths.sum().float() *"))),
        "steps on the CPU, lengths where they were": (
            "device",
            "def masked_mse(prediction, target, lengths):\n"
            "    mask = torch.arange(prediction.size(1))[None, :] < lengths[:, None]\n"
            "    return F.mse_loss(prediction, target, reduction='none')[mask].mean()\n",
        ),
        "a total on the CPU": (
            "device",
            "def masked_mse(prediction, target, lengths):\n"
            "    total = torch.zeros((), dtype=prediction.dtype)\n"
            "    for p, t, n in zip(prediction, target, lengths.tolist()):\n"
            "        total = total + (p[:n] - t[:n]).square().sum().cpu()\n"
            "    return total / (int(lengths.sum()) * prediction.shape[-1])\n",
        ),
        "padding of the target cleared": (
            "mutation",
            edit(MSE, ("    return", "    target[~real] = 0\n    return")),
        ),
    },
}
