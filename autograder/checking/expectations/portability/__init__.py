"""Expectations of calls on another device or in another dtype."""
