"""Submissions as handed in, before any is judged: the files in a folder, and which one is the notebook.

`folder` reads a submission's files within limits, `candidates` says which of them is this assignment's
notebook, and `resolve` decides what is judged and what is said about the rest.
"""
