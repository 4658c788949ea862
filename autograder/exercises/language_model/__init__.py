"""Checks of 12_language_model: a text read character by character, and a network that writes one."""
