"""References of `make_windows`."""

import torch


def windows(series, window):
    places = torch.arange(len(series) - window)
    return series[places[:, None] + torch.arange(window), None], series[places + window, None]
