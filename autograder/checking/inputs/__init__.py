"""Inputs of a check: sizes, seeded draws, and references computed from them."""
