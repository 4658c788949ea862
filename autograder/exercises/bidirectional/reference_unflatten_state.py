"""References of `unflatten_state`."""


def unflattened(h_n, num_layers, num_directions):
    return h_n.unflatten(0, (num_layers, num_directions))


def directions_first(h_n):
    """What a well-known slip gives."""
    return h_n.unflatten(0, (2, len(h_n) // 2))
