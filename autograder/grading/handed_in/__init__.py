"""Submissions as handed in, before any is judged: the files in a folder, and which one is the notebook."""
