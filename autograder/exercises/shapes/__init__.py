"""Checks of 01_shapes: predicting shapes, reading states out of them, and eight common claims."""
