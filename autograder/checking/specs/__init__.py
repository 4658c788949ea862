"""Specifications of tasks, from which the checks that every task needs are made."""
