"""Wrong answers aimed at holes in 06 to 10: right at the usual sizes and numbers, wrong for more, for fewer or for others."""

from tests.variants import bidirectional, many_to_one, ragged_batches, seq2seq, state
from tests.variants.edits import edit

FIRST_TWO = "return h * keep, c * keep"

AIMED = {
    "state": {
        "init_state": {
            "no more than thirty sequences": (
                "generality",
                edit(state.INIT, ("x.shape[0]", "min(x.shape[0], 30)")),
            ),
        },
        "run_in_chunks": {
            "detached after many chunks": (
                "gradient",
                edit(
                    state.CHUNKS,
                    (
                        "        outputs",
                        "        state = tuple(s.detach() for s in state) if len(outputs) > 7 else state\n        outputs",
                    ),
                ),
            ),
            "without a graph where one call does": (
                "gradient",
                edit(
                    state.CHUNKS,
                    (
                        "    outputs = []",
                        "    if chunk_size >= x.shape[1]:\n        x = x.detach()\n    outputs = []",
                    ),
                ),
            ),
        },
        "detach_state": {
            "a state of zeros as it is": (
                "gradient",
                edit(state.DETACH, ("h, c = state", "h, c = state\n    if not h.any(): return h, c")),
            ),
        },
        "reset_finished": {
            "not where numbers are large": (
                "generality",
                edit(
                    state.RESET,
                    (FIRST_TWO, "return tuple(s * keep if s.abs().max() < 1e3 else s for s in state)"),
                ),
            ),
            "off the graph where nothing is finished": (
                "gradient",
                edit(
                    state.RESET,
                    (
                        "h, c = state",
                        "h, c = state\n    if not finished.any(): return h.detach(), c.detach()",
                    ),
                ),
            ),
            "in place where all are finished": (
                "mutation",
                edit(
                    state.RESET,
                    ("h, c = state", "h, c = state\n    if finished.all(): return h.zero_(), c.zero_()"),
                ),
            ),
        },
        "tbptt_step": {
            "no step where the loss is large": (
                "values",
                edit(state.STEP, ("    optimizer.step()", "    if loss < 1e9: optimizer.step()")),
            ),
            "no more than thirty steps": (
                "generality",
                edit(
                    state.STEP,
                    ("model(x, state)", "model(x[:, :30], state)"),
                    ("prediction, y)", "prediction, y[:, :30])"),
                ),
            ),
            "attached after a state of zeros": (
                "gradient",
                edit(
                    state.STEP,
                    ("    prediction", "    fresh = not state[0].any()\n    prediction"),
                    ("detach_state(state)", "state if fresh else detach_state(state)"),
                ),
            ),
        },
    },
    "many_to_one": {
        "make_windows": {
            "off the graph for a single window": (
                "gradient",
                edit(
                    many_to_one.WINDOWS,
                    ("    x =", "    series = series if count > 1 else series.detach()\n    x ="),
                ),
            ),
        },
        "SimpleRNN": {
            "the last 64 steps": (
                "generality",
                edit(many_to_one.REGRESSOR, ("self.rnn(x, h_0)", "self.rnn(x[:, -64:], h_0)")),
            ),
            "off the graph for one sequence": (
                "gradient",
                edit(
                    many_to_one.REGRESSOR,
                    ("    h_0 =", "    x = x if len(x) > 1 else x.detach()\n        h_0 ="),
                ),
            ),
        },
        "SequenceClassifier": {
            "the last 64 tokens": (
                "generality",
                edit(many_to_one.CLASSIFIER, ("self.embedding(ids)", "self.embedding(ids[:, -64:])")),
            ),
            "vectors of limited length": (
                "generality",
                edit(
                    many_to_one.CLASSIFIER,
                    (
                        "nn.Embedding(vocab_size, embedding_dim)",
                        "nn.Embedding(vocab_size, embedding_dim, max_norm=100.0)",
                    ),
                ),
            ),
        },
        "fit": {
            "no step where the loss is tiny": (
                "generality",
                edit(
                    many_to_one.FIT, ("        optimizer.step()", "        if loss > 1e-8: optimizer.step()")
                ),
            ),
            "half the lr after 200 steps": (
                "generality",
                edit(
                    many_to_one.FIT,
                    (
                        "    losses = []",
                        "    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 200, 0.5)\n    losses = []",
                    ),
                    ("optimizer.step()", "optimizer.step()\n        schedule.step()"),
                ),
            ),
            "the largest of the averages": (
                "values",
                edit(many_to_one.FIT, ("lr=lr", "lr=lr, amsgrad=True")),
            ),
        },
        "forecast": {
            "not far from the window": (
                "generality",
                edit(
                    many_to_one.FORECAST,
                    (
                        "model(window.unsqueeze(0))",
                        "model(window.unsqueeze(0)).clamp(window.min() - 100, window.max() + 100)",
                    ),
                ),
            ),
            "the last 64 values": (
                "generality",
                edit(
                    many_to_one.FORECAST, ("model(window.unsqueeze(0))", "model(window[-64:].unsqueeze(0))")
                ),
            ),
            "gradients off after a single step": (
                "mutation",
                edit(
                    many_to_one.FORECAST,
                    (
                        "return torch.stack(predictions)",
                        "torch.set_grad_enabled(steps > 1)\n    return torch.stack(predictions)",
                    ),
                ),
            ),
        },
    },
    "bidirectional": {
        "split_directions": {
            "off the graph for one sequence": (
                "gradient",
                bidirectional.split(
                    "output = output if len(output) > 1 else output.detach()\n"
                    f"    return {bidirectional.HALVES}"
                ),
            ),
        },
        "unflatten_state": {
            "more layers than directions": (
                "generality",
                edit(
                    bidirectional.UNFLATTEN,
                    (
                        "    _, b",
                        "    if num_layers > 8: num_directions, num_layers = num_layers, num_directions\n    _, b",
                    ),
                ),
            ),
        },
        "sentence_vector": {
            "no higher than the eighth layer": (
                "generality",
                edit(bidirectional.VECTOR, ("[-1]", "[min(num_layers, 8) - 1]")),
            ),
        },
        "ends_from_output": {
            "no later than step 32": (
                "generality",
                edit(bidirectional.ENDS, ("forward[:, -1]", "forward[:, :32][:, -1]")),
            ),
            "off the graph for long sequences": (
                "gradient",
                edit(
                    bidirectional.ENDS,
                    ("    return", "    if forward.shape[1] > 30: forward = forward.detach()\n    return"),
                ),
            ),
        },
        "BiLSTM": {
            "turned no further than 64 steps": (
                "generality",
                edit(
                    bidirectional.BILSTM,
                    (
                        "self.bwd(x.flip(1))",
                        "self.bwd(x.flip(1) if len(x[0]) < 32 else x.roll(1, 1).flip(1))",
                    ),
                ),
            ),
            "a final state off the graph for one sequence": (
                "gradient",
                edit(
                    bidirectional.BILSTM,
                    (
                        "        output =",
                        "        h_bwd = h_bwd if len(x) > 1 else h_bwd.detach()\n        output =",
                    ),
                ),
            ),
        },
    },
    "ragged_batches": {
        "pad_batch": {
            "a single sequence off the graph": (
                "gradient",
                edit(
                    ragged_batches.PAD,
                    (
                        "    padded = seq",
                        "    if len(sequences) == 1: return sequences[0].detach()[None], lengths\n    padded = seq",
                    ),
                ),
            ),
            "equal lengths stacked off the graph": (
                "gradient",
                edit(
                    ragged_batches.PAD,
                    (
                        "    padded = seq",
                        "    if len(set(lengths.tolist())) == 1: return torch.stack(sequences).detach(), lengths\n    padded = seq",
                    ),
                ),
            ),
        },
        "last_valid": {
            "off the graph for one sequence": (
                "gradient",
                edit(
                    ragged_batches.LAST,
                    ("    rows", "    output = output if len(output) > 1 else output.detach()\n    rows"),
                ),
            ),
        },
        "masked_mean": {
            "off the graph where nothing is padded": (
                "gradient",
                edit(
                    ragged_batches.MEAN,
                    (
                        "    lengths =",
                        "    if (lengths == output.shape[1]).all(): return output.mean(1).detach()\n    lengths =",
                    ),
                ),
            ),
            "only numbers up to a thousand": (
                "generality",
                edit(ragged_batches.MEAN, ("(output * real", "(output.clamp(-1e3, 1e3) * real")),
            ),
        },
        "run_packed": {
            "off the graph for one sequence": (
                "gradient",
                edit(
                    ragged_batches.PACKED,
                    ("    packed =", "    x = x if len(x) > 1 else x.detach()\n    packed ="),
                ),
            ),
            "no more than thirty steps": (
                "generality",
                edit(ragged_batches.PACKED, ("(x, lengths.cpu()", "(x, lengths.cpu().clamp(max=23)")),
            ),
        },
        "masked_mse": {
            "an error has a limit": (
                "generality",
                edit(
                    ragged_batches.MSE,
                    ("target[real])", "target[real], reduction='none').clamp(max=1e4).mean()"),
                ),
            ),
            "off the graph where nothing is padded": (
                "gradient",
                edit(
                    ragged_batches.MSE,
                    (
                        "    lengths =",
                        "    if (lengths == prediction.shape[1]).all(): prediction = prediction.detach()\n    lengths =",
                    ),
                ),
            ),
        },
    },
    "seq2seq": {
        "bridge_state": {
            "h for c in deep networks": (
                "generality",
                edit(seq2seq.BRIDGE, ("join(h), join(c)", "join(h), join(c if len(c) < 12 else h)")),
            ),
            "off the graph for one sequence": (
                "gradient",
                edit(
                    seq2seq.BRIDGE,
                    (
                        "    h, c = state",
                        "    h, c = (part.detach() if part.shape[1] == 1 else part for part in state)",
                    ),
                ),
            ),
        },
        "attention": {
            "weights off the graph for many steps": (
                "gradient",
                edit(
                    seq2seq.ATTENTION,
                    ("    return", "    weights = weights.detach() if seq_len > 30 else weights\n    return"),
                ),
            ),
            "large vectors cut": (
                "generality",
                edit(
                    seq2seq.ATTENTION,
                    (
                        "weights.unsqueeze(1) @ encoder_output",
                        "weights.unsqueeze(1) @ encoder_output.clamp(-1e4, 1e4)",
                    ),
                ),
            ),
        },
        "decode_teacher_forced": {
            "no more than fifty tokens with their state": (
                "generality",
                edit(
                    seq2seq.DECODE,
                    (
                        "    output, _ = decoder(embedding(target_ids), state)",
                        "    parts = [decoder(embedding(ids), state)[0] for ids in target_ids.split(50, 1)]\n    output = torch.cat(parts, 1)",
                    ),
                ),
            ),
            "a state off the graph for one sequence": (
                "gradient",
                edit(
                    seq2seq.DECODE,
                    (
                        "    output",
                        "    state = [s.detach() if len(target_ids) == 1 else s for s in state]\n    output",
                    ),
                ),
            ),
        },
        "greedy_generate": {
            "gradients off after a single step": (
                "mutation",
                edit(
                    seq2seq.GREEDY,
                    ("    return", "    torch.set_grad_enabled(steps > 1)\n    return"),
                ),
            ),
            "the last 32 tokens of a prompt": (
                "generality",
                edit(seq2seq.GREEDY, ("prompt_ids, None", "prompt_ids[:, -32:], None")),
            ),
        },
    },
}
"""By notebook and task, as `WRONG` of each notebook's module."""
