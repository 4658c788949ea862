"""An assignment as plain data: its notebook, its checks and known mistakes, and answers put into it."""
