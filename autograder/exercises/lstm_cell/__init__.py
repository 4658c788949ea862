"""Checks of 03_lstm_cell: the gates, one step, the cell as a module, and torch's weights in it."""
