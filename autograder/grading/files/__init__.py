"""Permissions of the files that grading writes, and signals held back while they are put in place."""
