"""Checks of 09_ragged_batches: padding, the last real step, masked means and losses, packed runs."""
