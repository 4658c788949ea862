"""The GPUs of this machine, known by files: nothing here talks to the driver, so a fork may follow.

A process that has touched CUDA cannot fork workers that use it (torch says so: "Cannot re-initialize CUDA in
forked subprocess"), and asking torch whether CUDA is available touches it.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

MEMORY_VARIABLE = "AUTOGRADER_GPU_BYTES"
"""Tells a worker its share of each GPU's memory; absent, there is no limit."""
KEPT_VARIABLES = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
"""Variables of the caller's environment that say which GPUs may be used."""
DRIVER_FILES = ("/proc/driver/nvidia", "/proc/devices")
"""Files that the driver's library reads besides the devices, where files are allowed one by one."""

_CARD = re.compile(r"nvidia\d+")
_NEEDED = ("nvidiactl", "nvidia-uvm")


def device_files(folder: str = "/dev") -> tuple[str, ...]:
    """The files that CUDA opens: each card's, the control device, unified memory. None without a card."""
    cards = _cards(folder)
    rest = [name for name in (*_NEEDED, "nvidia-uvm-tools") if _is_device(folder, name)]
    return tuple(f"{folder}/{name}" for name in (*cards, *rest)) if cards else ()


def describe(devices: str = "/dev", driver: str = "/proc/driver/nvidia") -> str | None:
    """The GPUs in words, and what CUDA would miss; None without any."""
    cards = _cards(devices)
    if not cards:
        return None
    models = [_model(file) for file in sorted(Path(driver).glob("gpus/*/information"))]
    named = ", ".join(models) or "model unknown: the driver does not tell"
    missing = [f"{devices}/{name}" for name in _NEEDED if not _is_device(devices, name)]
    lacking = f"; not usable without {', '.join(missing)}" if missing else ""
    return f"{len(cards)} ({named}){lacking}"


def _cards(folder: str) -> list[str]:
    try:
        found = [name for name in os.listdir(folder) if _CARD.fullmatch(name) and _is_device(folder, name)]
    except OSError:
        return []
    return sorted(found, key=lambda name: int(name.removeprefix("nvidia")))


def _is_device(folder: str, name: str) -> bool:
    try:
        return stat.S_ISCHR(os.stat(f"{folder}/{name}").st_mode)
    except OSError:
        return False


def _model(file: Path) -> str:
    try:
        lines = dict(line.split(":", 1) for line in file.read_text().splitlines() if ":" in line)
    except OSError:
        return "unknown"
    return lines.get("Model", "unknown").strip()
