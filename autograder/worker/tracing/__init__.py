"""What a call does, seen by torch's modes: kernels, dtypes, looks at numbers, and the lines behind them."""
