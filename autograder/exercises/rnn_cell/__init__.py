"""Checks of 02_rnn_cell: one step, a layer, a stack, and torch's module driven step by step."""
