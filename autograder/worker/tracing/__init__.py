"""Modes of torch that see what a call does: dtypes, looks at numbers, and the lines behind them."""
