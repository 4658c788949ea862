"""The right answers of `scale`, which students do not get."""


def right(x, weight):
    """Return the right answer."""
    return x * weight
