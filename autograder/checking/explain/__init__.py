"""Failures, and what explains them: wrong shapes by name, where values differ, evidence for a card."""
