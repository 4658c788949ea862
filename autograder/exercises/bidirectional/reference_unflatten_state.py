"""References of `unflatten_state`."""


def unflattened(h_n, num_layers, num_directions):
    return h_n.unflatten(0, (num_layers, num_directions))
