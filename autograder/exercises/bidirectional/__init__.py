"""Checks of 08_bidirectional: two directions taken apart, joined into one vector, and built of two LSTMs."""
