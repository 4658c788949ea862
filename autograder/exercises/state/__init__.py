"""Checks of 06_state: the state between calls made, carried, cut off, reset, and trained with."""
