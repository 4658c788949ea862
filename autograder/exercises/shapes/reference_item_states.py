"""References of `item_states`."""


def states_of_item(h_n, item):
    return h_n.unbind(1)[item]
