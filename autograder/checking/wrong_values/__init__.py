"""Looks at wrong values by making the call again: what they depend on, what would make them right."""
