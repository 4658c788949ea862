"""Expectations of an answer, and the words that a student reads where they are not met."""
