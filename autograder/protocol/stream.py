"""Messages across the wall: length-prefixed frames, sent and received in a given time.

Both ends use it. What a frame looks like is in `frames.py`, what it may say in `messages.py` and
`answers.py`.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable
from typing import TypeVar

from msgspec import Struct

from autograder.protocol.frames import MAX_BODY, MAX_HEADER, SIZES, WireError, decode_frame, encode_frame

_AT_ONCE = 1 << 16
"""Bytes read at once. Most frames are smaller."""
MOST = MAX_HEADER + MAX_BODY
"""Bytes of a frame, and of all replies to one batch together."""


Kind = TypeVar("Kind", bound=Struct)


class WireClosed(Exception):
    """The other side is gone."""


class WireTimeout(Exception):
    """The other side did not answer in time."""


class Stream:
    """Frames over one connected stream socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._arrived = bytearray()
        """Bytes that have been read beyond the last frame."""
        self.received = 0
        """The bytes of the last frame that was received."""
        self._part = memoryview(bytearray(_AT_ONCE))
        """Memory to read into: new memory each time would cost as much as the reading."""

    def send(self, message: Struct, timeout: float | None = None) -> None:
        """Send one message."""
        self.send_frames([encode_frame(message)], timeout)

    def send_frames(self, frames: Iterable[bytes], timeout: float | None = None) -> None:
        """Send several messages in one go, each encoded already."""
        together = b"".join(frames)
        try:
            self.sock.settimeout(timeout)
            self.sock.sendall(together)
        except TimeoutError as error:
            raise WireTimeout from error
        except OSError as error:
            raise WireClosed from error

    def receive(self, kind: type[Kind], timeout: float | None = None, room: int = MOST) -> Kind:
        """Return the next message, every part of it checked. `timeout` in seconds bounds the whole frame.

        A frame of more than `room` bytes is refused.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        header_size, body_size = SIZES.unpack(self._read(SIZES.size, deadline))
        if header_size > MAX_HEADER or body_size > MAX_BODY or header_size + body_size > room:
            raise WireError("a frame larger than the limit was announced")
        self.received = header_size + body_size
        header = self._read(header_size, deadline)
        return decode_frame(header, self._read(body_size, deadline), kind)

    def _read(self, size: int, deadline: float | None) -> bytearray:
        while len(self._arrived) < size:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise WireTimeout
            try:
                if left is not None or self.sock.gettimeout() is not None:
                    self.sock.settimeout(left)
                count = self.sock.recv_into(self._part)
            except TimeoutError as error:
                raise WireTimeout from error
            except OSError as error:
                raise WireClosed from error
            if not count:
                raise WireClosed
            self._arrived += self._part[:count]
        taken = self._arrived[:size]
        del self._arrived[:size]
        return taken
