"""One notebook in the worker: its cells run in a shell, and calls to its objects are answered."""
