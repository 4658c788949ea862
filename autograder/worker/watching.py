"""What the modes that watch a call have in common."""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode

_MOST = 40


class Watching(TorchDispatchMode):
    """A mode that sees every kernel."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Torch asks; else the first kernel that is seen imports torch._dynamo, a second of work."""
        return False


class Events(list[dict[str, str]]):
    """What was seen of a call, as plain data, each thing once, and no more of it than a person reads."""

    def note(self, told: dict[str, str]) -> None:
        if told not in self and len(self) < _MOST:
            self.append(told)
