"""Uploads from learning platforms on their way into `submitted/`: who sent what, and what becomes of it."""
