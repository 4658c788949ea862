"""Modes of torch that see what a call does: kernels, dtypes, looks at numbers, and the lines behind them."""
