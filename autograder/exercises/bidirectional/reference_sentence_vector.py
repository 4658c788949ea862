"""References of `sentence_vector`."""


def joined(h_n, num_layers):
    return h_n.unflatten(0, (num_layers, 2))[-1].permute(1, 0, 2).flatten(1)
