"""A test, before a batch, that its workers can use the GPUs that they are promised."""

from __future__ import annotations

import torch

import autograder.protocol.tensors  # noqa: F401  (a tensor is sent)
from autograder.checking.remote.errors import WorkerLost
from autograder.errors import UserError
from autograder.grading.workers.forkserver import ForkServer
from autograder.protocol.answers import Raised
from autograder.protocol.messages import Construct, ProbeCall, Target
from autograder.worker.sandbox import gpu_nodes

_SECONDS = 60.0
"""Seconds for the first call on a GPU, which loads the driver's libraries."""


def require_gpu(workers: ForkServer) -> None:
    """Make a call on a GPU in a worker. Raises `UserError` where none is there or none can be used.

    Else every submission would be told of a fault of the machine.
    """
    if gpu_nodes.describe() is None:
        raise UserError("This machine has no GPU that could be used: leave `--gpu-memory` out.")
    worker = workers.spawn()
    try:
        made = Construct(name="Identity", number=-1)
        call = ProbeCall(target=Target(number=-1), args=(torch.ones(2),), device="cuda")
        answer = worker.perform([made, call], _SECONDS)[-1]
    except WorkerLost as lost:
        raise UserError(f"The GPU of this machine cannot be used by workers: {lost}") from None
    finally:
        worker.end()
    error = answer if isinstance(answer, Raised) else getattr(answer, "error", None)
    if error is not None:
        raise UserError(f"The GPU of this machine cannot be used by workers: {error.message}.")
