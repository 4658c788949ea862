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
        "padded with minus one": (
            "values",
            edit(
                PAD,
                (
                    "new_zeros(len(sequences), int(lengths.max()), sequences[0].shape[1])",
                    "new_full((len(sequences), int(lengths.max()), sequences[0].shape[1]), -1)",
                ),
            ),
        ),
        "padded on the left": (
            "values",
            edit(PAD, ("padded[row, : len(sequence)]", "padded[row, padded.shape[1] - len(sequence) :]")),
        ),
        "sequences sorted, lengths not": (
            "values",
            edit(PAD, ("enumerate(sequences)", "enumerate(sorted(sequences, key=len, reverse=True))")),
        ),
        "the longest length for all": (
            "values",
            edit(PAD, ("padded, lengths\n", "padded, torch.full_like(lengths, int(lengths.max()))\n")),
        ),
        "lengths counted from steps that are not zero": (
            "values",
            edit(PAD, ("padded, lengths\n", "padded, (padded != 0).any(-1).sum(-1)\n")),
        ),
        "uninitialised memory": (
            "values",
            edit(
                PAD,
                ("new_zeros(", "new_empty("),
                (
                    "int(lengths.max()), sequences[0].shape[1])",
                    "int(lengths.max()), sequences[0].shape[1]).fill_(7.0)",
                ),
            ),
        ),
        "cut to the shortest": (
            "shape",
            "def pad_batch(sequences):\n    n = min(map(len, sequences))\n"
            "    return torch.stack([s[:n] for s in sequences]), torch.tensor([len(s) for s in sequences])\n",
        ),
        "time first": (
            "shape",
            "def pad_batch(sequences):\n"
            "    return nn.utils.rnn.pad_sequence(sequences), torch.tensor([len(s) for s in sequences])\n",
        ),
        "lengths as a column": ("shape", edit(PAD, ("padded, lengths\n", "padded, lengths[:, None]\n"))),
        "as long as the first": (
            "shape",
            edit(
                PAD,
                ("int(lengths.max())", "len(sequences[0])"),
                ("= sequence\n", "= sequence[: padded.shape[1]]\n"),
            ),
        ),
        "a fixed longest length": (
            "generality",
            edit(
                PAD,
                ("int(lengths.max())", "min(int(lengths.max()), 11)"),
                ("= sequence\n", "= sequence[:11]\n"),
            ),
        ),
        "view": ("generality", edit(PAD, ("= sequence\n", "= sequence.view(-1).view(sequence.shape)\n"))),
        "stacked when nothing is to pad, time first": (
            "generality",
            edit(
                PAD,
                (
                    "    return",
                    "    if len(lengths.unique()) == 1:\n        padded = torch.stack(sequences, 1)\n    return",
                ),
            ),
        ),
        "brought back to the CPU": ("device", edit(PAD, ("return padded,", "return padded.cpu(),"))),
        "lengths as floats": ("dtype", edit(PAD, ("padded, lengths\n", "padded, lengths.float()\n"))),
        "padded in float": ("dtype", edit(PAD, ("return padded,", "return padded.float(),"))),
        "rebuilt from numbers": (
            "gradient",
            edit(PAD, ("= sequence\n", "= torch.tensor(sequence.tolist(), dtype=sequence.dtype)\n")),
        ),
        "detached": ("gradient", edit(PAD, ("return padded,", "return padded.detach(),"))),
        "the first sequence detached": (
            "gradient",
            edit(PAD, ("= sequence\n", "= sequence if row else sequence.detach()\n")),
        ),
        "the list sorted in place, then put back in order": (
            "mutation",
            edit(PAD, ("    return", "    sequences.sort(key=len)\n    return")),
        ),
        "the list emptied": ("mutation", edit(PAD, ("    return", "    sequences.pop()\n    return"))),
        "sequences cleared afterwards": (
            "mutation",
            edit(
                PAD,
                (
                    "    return",
                    "    padded = padded.clone()\n    with torch.no_grad():\n        sequences[-1].zero_()\n    return",
                ),
            ),
        ),
    },
    "last_valid": {
        "the last step of the batch": (
            "values",
            edit(LAST, ("lengths.to(output.device) - 1", "output.shape[1] - 1")),
        ),
        "one step late": (
            "values",
            edit(LAST, ("lengths.to(output.device) - 1", "lengths.clamp(max=output.shape[1] - 1)")),
        ),
        "one step early": (
            "values",
            edit(LAST, ("lengths.to(output.device) - 1", "(lengths - 2).clamp(min=0)")),
        ),
        "the first step": ("values", edit(LAST, ("lengths.to(output.device) - 1", "0 * lengths"))),
        "the longest length for all": (
            "values",
            edit(LAST, ("lengths.to(output.device) - 1", "(lengths * 0 + lengths.max()) - 1")),
        ),
        "the first length for all": (
            "values",
            edit(LAST, ("lengths.to(output.device) - 1", "(lengths * 0 + lengths[0]) - 1")),
        ),
        "counted from the end": ("values", edit(LAST, ("lengths.to(output.device) - 1", "-lengths"))),
        "lengths in sorted order": (
            "values",
            edit(LAST, ("lengths.to(output.device) - 1", "lengths.sort().values - 1")),
        ),
        "the last step that is not zero": (
            "values",
            edit(
                LAST,
                (
                    "lengths.to(output.device) - 1",
                    "((output != 0).any(2) * torch.arange(output.shape[1])).argmax(1)",
                ),
            ),
        ),
        "the mean of the real steps": (
            "values",
            "def last_valid(output, lengths):\n    return torch.stack([o[:n].mean(0) for o, n in zip(output, lengths)])\n",
        ),
        "the sum against the padding": (
            "values",
            "def last_valid(output, lengths):\n"
            "    rest = [o.sum(0) - o[: n - 1].sum(0) - o[n:].sum(0) for o, n in zip(output, lengths)]\n"
            "    return torch.stack(rest)\n",
        ),
        "rows reversed": ("values", edit(LAST, ("output[rows,", "output[rows.flip(0),"))),
        "its last sequence, not its last step": (
            "shape",
            "def last_valid(output, lengths):\n    return output[output.shape[0] - 1]\n",
        ),
        "the time dimension stays": ("shape", edit(LAST, ("- 1]", "- 1][:, None]"))),
        "everything up to the last step": (
            "shape",
            "def last_valid(output, lengths):\n    return output[:, : lengths.max()]\n",
        ),
        "a list": (
            "shape",
            edit(
                LAST,
                (
                    "return output[rows, lengths.to(output.device) - 1]",
                    "return list(output[rows, lengths - 1])",
                ),
            ),
        ),
        "gather without the hidden dimension": (
            "shape",
            "def last_valid(output, lengths):\n    return output.gather(1, (lengths - 1)[:, None, None])[:, 0]\n",
        ),
        "squeezed": ("generality", edit(LAST, ("- 1]", "- 1].squeeze()"))),
        "view": (
            "generality",
            edit(LAST, ("    rows", "    output = output.view(-1).view(output.shape)\n    rows")),
        ),
        "full length is one step early": (
            "generality",
            edit(
                LAST,
                ("lengths.to(output.device) - 1", "lengths - 1 - (lengths == output.shape[1]).all().long()"),
            ),
        ),
        "by the batch size when it fits": (
            "generality",
            edit(
                LAST,
                (
                    "    return",
                    "    if output.shape[0] == output.shape[1]:\n        return output[:, -1]\n    return",
                ),
            ),
        ),
        "detached": ("gradient", edit(LAST, ("- 1]", "- 1].detach()"))),
        "no gradients": ("gradient", "@torch.no_grad()" + LAST),
        "through data": ("gradient", edit(LAST, ("output[rows,", "output.data[rows,"))),
        "in float": ("dtype", edit(LAST, ("- 1]", "- 1].float()"))),
        "a buffer of the default dtype": (
            "dtype",
            "def last_valid(output, lengths):\n"
            "    result = torch.zeros(output.shape[0], output.shape[2])\n"
            "    for b, n in enumerate(lengths):\n        result[b] = output[b, n - 1]\n    return result\n",
        ),
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
        "a buffer on the CPU": (
            "device",
            "def last_valid(output, lengths):\n"
            "    result = torch.zeros(output.shape[0], output.shape[2], dtype=output.dtype)\n"
            "    for b, n in enumerate(lengths):\n        result[b] = output[b, n - 1]\n    return result\n",
        ),
        "lengths counted down in place": (
            "mutation",
            edit(
                LAST,
                ("    return", "    lengths -= 1\n    return"),
                ("lengths.to(output.device) - 1", "lengths"),
            ),
        ),
        "padding cleared in place": (
            "mutation",
            edit(
                LAST,
                ("    return", "    for b, n in enumerate(lengths):\n        output[b, n:] = 0\n    return"),
            ),
        ),
    },
    "masked_mean": {
        "the mean of everything": (
            "values",
            "def masked_mean(output, lengths):\n    return output.mean(dim=1)\n",
        ),
        "one divisor for all": ("values", edit(MEAN, ("/ lengths[:, None]", "/ lengths.to(output).mean()"))),
        "mask read off the values": (
            "values",
            "def masked_mean(output, lengths):\n"
            "    padded = torch.stack([F.pad(o[:n], (0, 0, 0, len(o) - n)) for o, n in zip(output, lengths.tolist())])\n"
            "    return padded.sum(1) / (padded != 0).any(2).sum(1, keepdim=True)\n",
        ),
        "the longest length's mask for all": (
            "values",
            edit(MEAN, ("< lengths[:, None]", "< lengths.max().expand(len(lengths))[:, None]")),
        ),
        "the last real step": (
            "values",
            "def masked_mean(output, lengths):\n    return last_valid(output, lengths)\n",
        ),
        "the median": (
            "values",
            "def masked_mean(output, lengths):\n    return torch.stack([o[:n].median(0).values for o, n in zip(output, lengths)])\n",
        ),
        "one mean for all units": (
            "shape",
            edit(MEAN, ("return total / lengths[:, None]", "return (total / lengths[:, None]).mean(1)")),
        ),
        "one mean for the batch": (
            "shape",
            "def masked_mean(output, lengths):\n"
            "    real = torch.arange(output.shape[1]) < lengths[:, None]\n    return output[real].mean(0)\n",
        ),
        "averaged over the batch": (
            "shape",
            edit(
                MEAN,
                ("sum(dim=1)", "sum(dim=0)"),
                ("return total / lengths[:, None]", "return total / len(lengths)"),
            ),
        ),
        "a list of means": (
            "shape",
            "def masked_mean(output, lengths):\n    return [o[:n].mean(0) for o, n in zip(output, lengths)]\n",
        ),
        "lengths along the hidden dimension": (
            "shape",
            "def masked_mean(output, lengths):\n"
            "    real = torch.arange(output.shape[1]) < lengths[:, None]\n"
            "    return (output * real[:, :, None]).sum(1)[:, None] / lengths[None, :, None]\n",
        ),
        "the mask is aligned by size": (
            "generality",
            edit(
                MEAN,
                (
                    "output * real[:, :, None]",
                    "output * (real[:, None, :] if output.shape[1] == output.shape[2] else real[:, :, None])",
                ),
            ),
        ),
        "view": (
            "generality",
            edit(MEAN, ("    total", "    output = output.view(-1).view(output.shape)\n    total")),
        ),
        "at least two steps": (
            "generality",
            edit(
                MEAN,
                (
                    "return total / lengths[:, None]",
                    "return total / (lengths.clamp(min=2) if (lengths == 1).all() else lengths)[:, None]",
                ),
            ),
        ),
        "lengths of float32": ("dtype", edit(MEAN, ("/ lengths[:, None]", "/ lengths[:, None].float()"))),
        "a mask of the default dtype": (
            "dtype",
            edit(MEAN, ("real[:, :, None]", "real[:, :, None].to(torch.get_default_dtype())")),
        ),
        "in double": ("dtype", edit(MEAN, ("(output * real", "(output.double() * real"))),
        "detached": ("gradient", edit(MEAN, ("return total", "return total.detach()"))),
        "the first step detached": (
            "gradient",
            edit(
                MEAN,
                (
                    "    total",
                    "    output = torch.cat([output[:, :1].detach(), output[:, 1:]], 1)\n    total",
                ),
            ),
        ),
        "no gradients": ("gradient", "@torch.no_grad()" + MEAN),
        "padding cleared in place": (
            "mutation",
            edit(MEAN, ("    total", "    output.masked_fill_(~real[:, :, None], 0)\n    total")),
        ),
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
        "lengths changed": (
            "mutation",
            edit(
                MEAN,
                ("    total =", "    lengths.clamp_(max=2)\n    total ="),
                ("/ lengths[:, None]", "/ real.sum(1, keepdim=True)"),
            ),
        ),
    },
    "run_packed": {
        "the padded batch as it is": (
            "values",
            "def run_packed(lstm, x, lengths):\n    return lstm(x)\n",
        ),
        "padded run, output masked afterwards": (
            "values",
            "def run_packed(lstm, x, lengths):\n    output, state = lstm(x)\n"
            "    real = torch.arange(x.shape[1]) < lengths[:, None]\n    return output * real[..., None], state\n",
        ),
        "states left in sorted order": ("values", edit(SORTED, ("(h[:, back], c[:, back])", "(h, c)"))),
        "output left in sorted order": ("values", edit(SORTED, ("return output[back]", "return output"))),
        "c_n left in sorted order": ("values", edit(SORTED, ("c[:, back]", "c"))),
        "sorted twice in place of back": ("values", edit(SORTED, ("back = order.argsort()", "back = order"))),
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
        "h_n is the top layer in every layer": (
            "values",
            edit(
                PACKED,
                ("return output, state", "return output, (state[0][-1:].expand_as(state[0]), state[1])"),
            ),
        ),
        "a random initial state": (
            "values",
            edit(
                PACKED,
                (
                    "lstm(packed)",
                    "lstm(packed, tuple(torch.randn(2, lstm.num_layers, len(x), lstm.hidden_size, dtype=x.dtype)))",
                ),
            ),
        ),
        "the state of the last call": (
            "values",
            edit(
                PACKED,
                (
                    "lstm(packed)",
                    "lstm(packed, run_packed.kept if run_packed.kept and run_packed.kept[0].shape[1] == len(x) else None)",
                ),
                ("    return", "    run_packed.kept = tuple(s.detach() for s in state)\n    return"),
            )
            + "run_packed.kept = ()\n",
        ),
        "the lengths returned too": (
            "shape",
            edit(PACKED, ("return output, state", "return output, state, lengths")),
        ),
        "states flat": ("shape", edit(PACKED, ("return output, state", "return output, *state"))),
        "states batch first": (
            "shape",
            edit(PACKED, ("return output, state", "return output, tuple(s.transpose(0, 1) for s in state)")),
        ),
        "squeezed": ("generality", edit(PACKED, ("return output,", "return output.squeeze(1),"))),
        "three layers always": (
            "generality",
            edit(PACKED, ("lstm(packed)", "lstm(packed, (x.new_zeros(3, len(x), lstm.hidden_size),) * 2)")),
        ),
        "view": (
            "generality",
            edit(PACKED, ("    packed =", "    x = x.view(-1).view(x.shape)\n    packed =")),
        ),
        "sorting without a way back when lengths repeat": (
            "generality",
            edit(
                SORTED,
                (
                    "back = order.argsort()",
                    "back = order.argsort() if len(lengths.unique()) > 2 else order.new_tensor(range(len(order)))",
                ),
            ),
        ),
        "one call a sequence": (
            "from-scratch",
            "def run_packed(lstm, x, lengths):\n    outs, hs, cs = [], [], []\n"
            "    for row, n in zip(x, lengths.tolist()):\n"
            "        o, (h, c) = lstm(row[None, :n])\n"
            "        outs.append(F.pad(o, (0, 0, 0, x.shape[1] - n)))\n        hs.append(h)\n        cs.append(c)\n"
            "    return torch.cat(outs), (torch.cat(hs, 1), torch.cat(cs, 1))\n",
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
        "packed twice": (
            "from-scratch",
            edit(PACKED, ("    output, state =", "    lstm(packed)\n    output, state =")),
        ),
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
        "no gradients": ("gradient", "@torch.no_grad()" + PACKED),
        "x detached": (
            "gradient",
            edit(PACKED, ("pack_padded_sequence(x,", "pack_padded_sequence(x.detach(),")),
        ),
        "states detached": (
            "gradient",
            edit(PACKED, ("return output, state", "return output, tuple(s.detach() for s in state)")),
        ),
        "output in a buffer without gradients": (
            "gradient",
            edit(PACKED, ("return output,", "return output.data,")),
        ),
        "output in float": ("dtype", edit(PACKED, ("return output,", "return output.float(),"))),
        "output in a default buffer": (
            "dtype",
            edit(
                PACKED,
                (
                    "    return output,",
                    "    buffer = torch.zeros(output.shape)\n    buffer[:] = output\n    return buffer,",
                ),
            ),
        ),
        "zero states of the default dtype": (
            "dtype",
            edit(
                PACKED,
                (
                    "lstm(packed)",
                    "lstm(packed, (torch.zeros(lstm.num_layers, len(x), lstm.hidden_size),) * 2)",
                ),
            ),
        ),
        "lengths sorted in place": (
            "mutation",
            edit(
                PACKED, ("    return", "    lengths.copy_(lengths.sort(descending=True).values)\n    return")
            ),
        ),
        "padding of x cleared in place": (
            "mutation",
            edit(
                PACKED,
                ("    packed =", "    for b, n in enumerate(lengths):\n        x[b, n:] = 0\n    packed ="),
            ),
        ),
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
        "weights touched": (
            "mutation",
            edit(PACKED, ("    return", "    lstm.bias_hh_l0.data.mul_(0.5)\n    return")),
        ),
    },
    "masked_mse": {
        "padding counts": (
            "values",
            "def masked_mse(prediction, target, lengths):\n    return F.mse_loss(prediction, target)\n",
        ),
        "divided by everything": (
            "values",
            edit(MULTIPLIED, ("(lengths.sum() * prediction.shape[2])", "prediction.numel()")),
        ),
        "divided by the steps": (
            "values",
            edit(MULTIPLIED, ("(lengths.sum() * prediction.shape[2])", "lengths.sum()")),
        ),
        "divided by the batch": (
            "values",
            edit(MULTIPLIED, ("(lengths.sum() * prediction.shape[2])", "len(lengths)")),
        ),
        "masked, then the mean of everything": (
            "values",
            edit(MULTIPLIED, ("squared.sum() / (lengths.sum() * prediction.shape[2])", "squared.mean()")),
        ),
        "the mean of the sequences' means": (
            "values",
            "def masked_mse(prediction, target, lengths):\n    return masked_mean((prediction - target) ** 2, lengths).mean()\n",
        ),
        "not divided": ("values", edit(MULTIPLIED, (" / (lengths.sum() * prediction.shape[2])", ""))),
        "absolute differences": (
            "values",
            edit(MULTIPLIED, ("((prediction - target) * mask) ** 2", "((prediction - target) * mask).abs()")),
        ),
        "the first step left out": (
            "values",
            edit(
                MSE,
                (
                    "steps[None, :] < lengths[:, None]",
                    "(steps[None, :] < lengths[:, None]) & ((steps > 0)[None] | (lengths == 1)[:, None])",
                ),
            ),
        ),
        "only the prediction is masked": (
            "values",
            edit(MULTIPLIED, ("((prediction - target) * mask)", "(prediction * mask - target)")),
        ),
        "targets of zero taken for padding": (
            "values",
            "def masked_mse(prediction, target, lengths):\n"
            "    real = (torch.arange(target.shape[1]) < lengths[:, None]) & (target != 0).any(2)\n"
            "    return F.mse_loss(prediction[real], target[real])\n",
        ),
        "everything minus the padding": (
            "values",
            edit(
                MULTIPLIED,
                ("((prediction - target) * mask) ** 2", "(prediction - target) ** 2"),
                ("squared.sum() /", "(squared.sum() - (squared * (1 - mask)).sum()) /"),
            ),
        ),
        "the last real step only": (
            "values",
            "def masked_mse(prediction, target, lengths):\n    return F.mse_loss(last_valid(prediction, lengths), last_valid(target, lengths))\n",
        ),
        "a loss a sequence": (
            "shape",
            edit(
                MULTIPLIED,
                ("squared.sum() / (lengths.sum() * prediction.shape[2])", "squared.sum((1, 2)) / lengths"),
            ),
        ),
        "squared differences": (
            "shape",
            edit(MULTIPLIED, ("squared.sum() / (lengths.sum() * prediction.shape[2])", "squared")),
        ),
        "a tensor of one": ("shape", edit(MSE, ("target[real])", "target[real]).reshape(1)"))),
        "with the count": ("shape", edit(MSE, ("target[real])", "target[real]), real.sum()"))),
        "T taken from the longest": (
            "generality",
            edit(MULTIPLIED, ("torch.arange(prediction.shape[1],", "torch.arange(int(lengths.max()),")),
        ),
        "view": (
            "generality",
            edit(
                MSE, ("    steps", "    prediction = prediction.view(-1).view(prediction.shape)\n    steps")
            ),
        ),
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
        "two sequences at least": (
            "generality",
            edit(
                MSE,
                (
                    "    steps",
                    "    lengths = lengths if len(lengths) > 1 else lengths.new_tensor([prediction.shape[1]])\n    steps",
                ),
            ),
        ),
        "detached": ("gradient", edit(MSE, ("target[real])", "target[real]).detach().requires_grad_()"))),
        "no gradients": ("gradient", "@torch.no_grad()" + MSE),
        "half of the square detached": (
            "gradient",
            edit(
                MULTIPLIED,
                (
                    "((prediction - target) * mask) ** 2",
                    "((prediction - target) * mask) * ((prediction - target) * mask).detach()",
                ),
            ),
        ),
        "the gradient goes to the target": (
            "gradient",
            edit(MSE, ("prediction[real]", "prediction.detach()[real]")),
        ),
        "a mask of float32": ("dtype", edit(MULTIPLIED, (".to(prediction.dtype)", ".float()"))),
        "a mask of the default dtype": (
            "dtype",
            edit(MULTIPLIED, (".to(prediction.dtype)", ".to(torch.get_default_dtype())")),
        ),
        "a count of float32": ("dtype", edit(MULTIPLIED, ("(lengths.sum() *", "(lengths.sum().float() *"))),
        "in double": (
            "dtype",
            edit(MSE, ("prediction[real], target[real]", "prediction[real].double(), target[real].double()")),
        ),
        "steps on the CPU": ("device", edit(MULTIPLIED, (", device=prediction.device)", ")"))),
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
        "the difference in place": (
            "mutation",
            edit(MULTIPLIED, ("((prediction - target) * mask)", "(prediction.sub_(target) * mask)")),
        ),
        "padding of the target cleared": (
            "mutation",
            edit(MSE, ("    return", "    target[~real] = 0\n    return")),
        ),
        "both masked in place": (
            "mutation",
            edit(MULTIPLIED, ("    squared", "    prediction *= mask\n    target *= mask\n    squared")),
        ),
        "lengths summed in place": (
            "mutation",
            edit(
                MULTIPLIED,
                ("    return", "    total = lengths.sum()\n    lengths.zero_()\n    return"),
                ("(lengths.sum() *", "(total *"),
            ),
        ),
    },
}
