"""What students hand in, before any of it is judged: what a folder holds, and which file is the notebook.

`folder` reads a submission's files within limits, `candidates` says which of them is this assignment's
notebook, and `resolve` decides what is judged and what is said about the rest.
"""
