"""The language spoken across the wall: length-prefixed frames, sent and received in a given time.

Both ends use it. What a frame may say is in `frames.py`.
"""

from __future__ import annotations

import socket
import time
from typing import Any

from autograder.protocol.frames import MAX_HEADER, SIZES, decode_frame, encode_frame
from autograder.protocol.tensors import MAX_BODY, WireError

_AT_ONCE = 1 << 16
"""Bytes read at once. Most frames are smaller."""


class WireClosed(Exception):
    """The other side is gone."""


class WireTimeout(Exception):
    """The other side did not answer in time."""


class Stream:
    """Frames over one connected stream socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._arrived = bytearray()
        """What has been read beyond the last frame."""
        self._part = memoryview(bytearray(_AT_ONCE))
        """Where it is read to: new memory each time would cost as much as the reading."""

    def send(self, message: dict[str, Any], timeout: float | None = None) -> None:
        """Send one message, a dict of plain data with tensors, `Ref` and `Opaque` anywhere in it."""
        frame = encode_frame(message)
        self.sock.settimeout(timeout)
        try:
            self.sock.sendall(frame)
        except TimeoutError as error:
            raise WireTimeout from error
        except OSError as error:
            raise WireClosed from error

    def receive(self, timeout: float | None = None) -> dict[str, Any]:
        """Return the next message, every part of it checked. `timeout` in seconds bounds the whole frame."""
        deadline = None if timeout is None else time.monotonic() + timeout
        header_size, body_size = SIZES.unpack(self._read(SIZES.size, deadline))
        if header_size > MAX_HEADER or body_size > MAX_BODY:
            raise WireError("a frame larger than the limit was announced")
        header = self._read(header_size, deadline)
        return decode_frame(header, self._read(body_size, deadline))

    def _read(self, size: int, deadline: float | None) -> bytearray:
        while len(self._arrived) < size:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise WireTimeout
            if left is not None or self.sock.gettimeout() is not None:
                self.sock.settimeout(left)
            try:
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
