"""References of `sample`."""

import torch

from autograder.exercises.seq2seq.given import continued, history


def cold(vocab_size, prompt_ids, steps):
    return continued(history(vocab_size).module, prompt_ids, steps)


def one_token_a_call(vocab_size, marks, before, prompt_ids, steps):
    """The cold tokens of a driven model that reads the prompt, then these, after so many calls before."""
    model = history(vocab_size, marks=marks, before=before).module
    ids, state, tokens = prompt_ids, None, []
    with torch.no_grad():
        for _ in range(steps):
            logits, state = model(ids, state)
            ids = logits[:, -1:].argmax(2)
            tokens.append(ids)
    return torch.cat(tokens, dim=1)


def probabilities(table, temperature, top_k):
    """The probability of each token after each, (V, V)."""
    least = table.topk(top_k, dim=1).values[:, -1:]
    return (table.masked_fill(table < least, -torch.inf) / temperature).softmax(1)
