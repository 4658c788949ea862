"""Errors with one clear sentence for the person they reach."""


class UserError(Exception):
    """Something the user can mend. Printed once, at the edge, without a traceback; exit status 1."""
