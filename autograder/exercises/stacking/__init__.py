"""Checks of 05_stacking: LSTM layers on top of each other, dropout between them, and how large they get."""
