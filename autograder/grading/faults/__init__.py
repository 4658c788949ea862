"""Faults of checks: exceptions that are the author's to mend, and what the author is told of them."""
