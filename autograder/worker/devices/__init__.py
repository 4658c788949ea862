"""Devices that a call may be made on, and modules taken to them."""
