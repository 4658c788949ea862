"""References of `split_directions`."""


def halves(output, hidden_size):
    return output.split(hidden_size, dim=2)
