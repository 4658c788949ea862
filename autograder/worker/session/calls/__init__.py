"""Calls of a student's objects: catching what they print, and limiting how long they take."""
