"""Checks of 04_lstm_layer: time-major order, torch's cell over a sequence, a layer from scratch."""
