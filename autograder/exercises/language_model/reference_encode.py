"""References of `encode`."""

import torch


def encoded(text):
    chars = sorted(set(text))
    return torch.tensor([chars.index(each) for each in text]), chars
