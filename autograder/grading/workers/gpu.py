"""Whether the workers of a batch can use the GPUs that they are promised."""

from __future__ import annotations

import torch

from autograder.checking.remote.errors import WorkerLost
from autograder.errors import UserError
from autograder.grading.workers.forkserver import ForkServer
from autograder.worker.sandbox import gpu_nodes

_SECONDS = 60.0
"""For the first call on a GPU, which loads the driver's libraries."""


def require_gpu(workers: ForkServer) -> None:
    """Make a call on a GPU in a worker. Raises `UserError` where none is there or none can be used.

    Else every submission would be told of a fault of the machine.
    """
    if gpu_nodes.describe() is None:
        raise UserError("This machine has no GPU that could be used: leave `--gpu-memory` out.")
    worker = workers.spawn()
    try:
        build = {"op": "build", "name": "Identity", "args": (), "kwargs": {}, "as": 1}
        place = {"op": "place", "object": 1, "args": (torch.ones(2),), "device": "cuda"}
        told = worker.ask({**place, "first": [build]}, _SECONDS)
    except WorkerLost as lost:
        raise UserError(f"The GPU of this machine cannot be used by workers: {lost}") from None
    finally:
        worker.end()
    error = told.get("raised") or told.get("error")
    if error:
        raise UserError(f"The GPU of this machine cannot be used by workers: {error['message']}.")
