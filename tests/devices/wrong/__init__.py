"""Code with one fault each of devices or dtypes, and right otherwise."""
