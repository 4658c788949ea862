"""Keeps the collecting and the running of checks apart from what surrounds them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch


@contextmanager
def apart_from_other_sessions() -> Iterator[None]:
    """Keep the surroundings' pytest options and plugins out, and write no bytecode."""
    names = ("PYTEST_ADDOPTS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_CURRENT_TEST", "PYTEST_VERSION")
    kept: Mapping[str, str | None] = {name: os.environ.get(name) for name in names}
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    written = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        with on_one_thread():
            yield
    finally:
        sys.dont_write_bytecode = written
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Have torch use one thread, and leave its generator as it was.

    The checks' tensors are small, and threads that wait for each other on a busy machine made a check take
    ten times as long.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(threads)
