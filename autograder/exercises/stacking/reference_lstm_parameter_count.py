"""References of `lstm_parameter_count`."""

from torch import nn


def torch_count(input_size, hidden_size, num_layers):
    lstm = nn.LSTM(input_size, hidden_size, num_layers, device="meta")
    return sum(parameter.numel() for parameter in lstm.parameters())


def own_count(input_size, hidden_size, num_layers):
    """The same with one bias vector a gate: torch's second one, (4H,) a layer, is left out."""
    return torch_count(input_size, hidden_size, num_layers) - num_layers * 4 * hidden_size
