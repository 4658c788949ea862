"""References of `last_step`."""


def last_step(output):
    return output.unbind(1)[-1]
