"""Checks of 00_start: a mean over one dimension, and what is left after Restart and run all."""
