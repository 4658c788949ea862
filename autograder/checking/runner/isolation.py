"""Keeps a session of checks and what surrounds it apart."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keep the surroundings' pytest options and plugins out, and torch's generator as it was.

    On one thread: the checks' tensors are small, and threads that wait for each other on a busy machine
    made a check take ten times as long.
    """
    names = ("PYTEST_ADDOPTS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_CURRENT_TEST", "PYTEST_VERSION")
    kept: Mapping[str, str | None] = {name: os.environ.get(name) for name in names}
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    written = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(threads)
        sys.dont_write_bytecode = written
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
