"""Checks of 07_many_to_one: windows, a regressor, a classifier, training, and a forecast."""
