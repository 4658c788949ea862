"""The words of the confinement: how far, how much, as whom, and what is said when it cannot be done."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """The degree to which a worker is shut in.

    - `NAMESPACES`: pid, mount, network and ipc namespaces with a private root, a user of its own, seccomp,
      limits, no capabilities, and Landlock on top where the kernel has it. Nothing of the machine is visible.
    - `LANDLOCK`: Landlock, seccomp and limits. No file outside opens and nothing outside can be signalled or
      connected to, but names and sizes of files can be asked for, the scratch folder is on disk and bounded
      only by watching it, and an ordinary user's worker shares that user's identity.
    - `NONE`: limits only, for `--unsafe`. It stops accidents, nobody else.
    """

    NAMESPACES = "namespaces"
    LANDLOCK = "landlock"
    NONE = "none"


class Refused(RuntimeError):
    """No acceptable level, or a layer that was promised failed: the work is not begun."""


# What a CUDA context and its libraries take of the machine's memory. An estimate, measured nowhere yet.
_CUDA_HOST_BYTES = 4 << 30


@dataclass(frozen=True)
class Limits:
    """Limits of one worker, with everything it starts."""

    memory_bytes: int = 2 << 30
    """Memory of the whole tree beyond what was inherited at the fork; scratch files come on top."""
    processes: int = 64
    """Processes and threads together."""
    file_bytes: int = 64 << 20
    """Size of the largest file."""
    scratch_bytes: int = 64 << 20
    """Size of /tmp, and of /dev/shm again; of the scratch folder at level LANDLOCK."""
    open_files: int = 256
    """Open files of each process."""
    gpu_bytes: int = 0
    """Memory on each GPU, for tensors: 0 leaves a worker without any. Torch's allocator keeps to it in the
    worker, so it divides a GPU among the well-meaning; hostile code can take it all, as with any process."""

    @property
    def host_bytes(self) -> int:
        """Memory of the whole tree, with what CUDA itself takes of the machine's."""
        return self.memory_bytes + (_CUDA_HOST_BYTES if self.gpu_bytes else 0)


@dataclass(frozen=True)
class Identity:
    """The user a worker becomes; ids as seen inside its user namespace if it has its own."""

    uid: int
    gid: int
    own_user_namespace: bool


@dataclass(frozen=True)
class Layer:
    """One layer of the confinement as found on this machine."""

    name: str
    holds: bool
    detail: str
    """The layers that were tried, and how that went."""
    remedy: str
    """The remedy that a TA has if the layer does not hold; empty if it does."""
