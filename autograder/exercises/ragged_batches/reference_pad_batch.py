"""References of `pad_batch`."""

import torch


def padded_batch(sequences):
    padded = torch.nn.utils.rnn.pad_sequence(list(sequences), batch_first=True)
    return padded, torch.tensor([len(sequence) for sequence in sequences])
