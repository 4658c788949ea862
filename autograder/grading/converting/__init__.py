"""Checks from the test cells of a plain assignment: read, written as a check, compared with the cells."""
