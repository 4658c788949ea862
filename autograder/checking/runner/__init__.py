"""Checks as they are collected, run and judged."""
