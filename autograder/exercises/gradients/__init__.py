"""Checks of 11_gradients: slopes by numbers, backward passes by hand, gradients by step, clipping."""
