"""The confinement of a worker: what this machine offers, the layers, and the supervisor that ends it.

Nothing here imports torch.
"""
