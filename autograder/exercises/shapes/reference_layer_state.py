"""References of `layer_state`."""


def state_of_layer(h_n, layer):
    return h_n.unbind(0)[layer]
