"""The conversation across the wall: values, tensors as bytes, frames, a stream of them.

The judge and the student's process both import it; it imports nothing of ours, and torch in `tensors` alone.
"""
