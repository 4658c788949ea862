"""A student's objects as a check holds them, wherever they live, and what is seen of them."""
