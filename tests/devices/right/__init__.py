"""Code that is right on any device and in any dtype, in many styles."""
