"""The language across the wall: what one side says the other reads, in time or not at all."""

from __future__ import annotations

import math
import random
import socket
import struct
import threading
import time
from contextlib import suppress
from typing import Any

import pytest
import torch

from autograder.protocol import frames, tensors
from autograder.protocol.answers import Done, Raised, Reply, Value
from autograder.protocol.frames import SIZES, WireError, encode_frame
from autograder.protocol.messages import Backward, Call, Target
from autograder.protocol.stream import MOST, Stream, WireClosed, WireTimeout
from autograder.protocol.values import Opaque, Ref
from autograder.worker.session.executor import Executor
from tests.protocol.examples import parts


def told(value: Any) -> Reply:
    """An answer with a value."""
    return Reply(1, Value(value=value))


def across(value: Any) -> Any:
    """A value as the other side reads it in an answer."""
    here, there = socket.socketpair()
    with here, there:
        sender = threading.Thread(target=Stream(here).send, args=(told(value), 5))
        sender.start()
        try:
            return Stream(there).receive(Reply, 5).answer.value
        finally:
            sender.join()


@pytest.mark.parametrize(
    "value",
    [
        None, True, -1, 2**63 - 1, 1.5, "text ∂ 🦊", [1, [2, (3,)]], (), {"a": {1: (None, "x")}},
        math.inf, -math.inf, torch.float64, torch.bfloat16, Ref(3, "LSTMCell"), Opaque("a numpy.ndarray"),
    ],
)  # fmt: skip
def test_plain_values_arrive_as_they_are(value):
    seen = across(value)
    assert seen == value
    assert type(seen) is type(value)


@pytest.mark.parametrize("dtype", list(tensors.DTYPES.values()), ids=str)
def test_tensors_arrive_with_values_dtype_and_layout(dtype: torch.dtype):
    base = torch.arange(24).reshape(2, 3, 4).to(dtype)
    for tensor in (
        base,
        base.permute(2, 0, 1),
        base[:, :1],
        base[0, 0, 0],
        base[:0],
        base[..., ::2],
        base.mT,
    ):
        seen = across(tensor)
        assert seen.dtype == dtype
        assert torch.equal(seen, tensor)
        assert seen.stride() == tensor.clone().stride(), "the order in memory stays, without gaps"
    assert not across(base.mT).is_contiguous()


def test_tensors_that_share_memory_arrive_apart():
    base = torch.zeros(4)
    seen = across({"a": base, "b": base, "c": base[1:], "d": [base.view(2, 2)]})
    seen["a"].fill_(1)
    assert not seen["b"].any()
    assert not seen["c"].any()
    assert (seen["a"]._version, seen["b"]._version) == (1, 0), "autograd must not take them for one"
    assert seen["b"].untyped_storage().nbytes() == 16


def test_a_tensor_that_is_more_than_its_memory_arrives_as_it_reads():
    z = torch.arange(6).reshape(2, 3) * torch.tensor(1j)
    seen = across(
        {
            "conj": z.conj(),
            "imag": z.conj().imag,
            "leaf": torch.nn.Parameter(z.real),
            "one": z[0, 1].conj().imag,
        }
    )
    assert torch.equal(seen["conj"], z.conj().resolve_conj())
    assert torch.equal(seen["imag"], z.conj().imag.resolve_neg())
    assert torch.equal(seen["one"], z[0, 1].conj().imag.resolve_neg())
    assert type(seen["leaf"]) is torch.Tensor
    assert not seen["leaf"].requires_grad


def test_dense_tensors_arrive_in_the_order_they_lie_in_and_others_as_a_copy_would():
    rng = random.Random(7)
    for _ in range(300):
        x = torch.randn([rng.randint(0, 3) for _ in range(rng.randint(0, 5))], dtype=torch.float32)
        x = x.permute(rng.sample(range(x.dim()), x.dim()))
        for dim in range(x.dim()):
            if rng.random() < 0.2:
                x = x[(slice(None),) * dim + (slice(None, None, 2),)]
            if rng.random() < 0.1:
                x = x.unsqueeze(dim).expand(*x.shape[:dim], 2, *x.shape[dim:])
        seen = across(x)
        assert torch.equal(seen, x)
        assert seen.is_contiguous() == x.clone().is_contiguous()
        if x.numel():
            assert [s for s, n in zip(seen.stride(), seen.shape, strict=True) if n > 1] == [
                s for s, n in zip(x.clone().stride(), x.shape, strict=True) if n > 1
            ]


class Own(torch.Tensor):
    """A student's subclass, which may say anything of itself."""


def freed(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor when nothing is left of its memory."""
    tensor.untyped_storage().resize_(0)
    return tensor


def test_nothing_else_is_sent():
    deep: object = 0
    for _ in range(20):
        deep = [deep]
    assert len(across(dict.fromkeys(range(6000)))) == 6000
    many = dict.fromkeys(range(7000))
    for value in (
        {1, 2},
        object(),
        b"bytes",
        1j,
        deep,
        many,
        [0] * (frames.MAX_ITEMS + 1),
        torch.nn.Linear(1, 1),
        torch.zeros(1, device="meta"),
        torch.zeros(1).expand(10**12),
        torch.zeros(0, 2**40),
        torch.zeros([1] * (tensors.MAX_DIMS + 1)),
        torch.zeros(1, dtype=torch.uint16),
        freed(torch.zeros(4)),
        torch.zeros(1).as_subclass(Own),
    ):
        with pytest.raises(WireError):
            Stream(socket.socketpair()[0]).send(told(value))
    with pytest.raises(WireError):
        Stream(socket.socketpair()[0]).send(told(torch.zeros(frames.MAX_BODY // 4 + 1)))
    with pytest.raises(WireError):
        Stream(socket.socketpair()[0]).send(told([torch.zeros(1) for _ in range(tensors.MAX_TENSORS + 1)]))


def test_what_a_writer_may_say_a_reader_takes():
    """Both count alike: a message at the limit of one is none that the other refuses."""

    def nested(depth: int) -> object:
        return [nested(depth - 1)] if depth else 1

    for value in (
        [torch.zeros(1) for _ in range(tensors.MAX_TENSORS)],
        torch.zeros(frames.MAX_BODY, dtype=torch.uint8),
        nested(frames.MAX_NESTING - 2),  # around it are the reply and the answer
    ):
        assert across(value) is not None
    for most, of_so_many in (
        (frames.MAX_NESTING, nested),
        (frames.MAX_ITEMS, lambda count: [0] * count),
        (frames.MAX_ITEMS, lambda count: dict.fromkeys(map(str, range(count)))),
        (frames.MAX_ITEMS // 3, lambda count: dict.fromkeys(range(count))),
    ):
        said = []
        for count in range(most - 8, most + 1):
            with suppress(WireError):
                said.append(parts(encode_frame(told(of_so_many(count)))))
        assert 1 <= len(said) <= 8
        for header, body in said:
            frames.decode_frame(header, body, Reply)


def test_a_stream_waits_no_longer_than_told():
    here, there = socket.socketpair()
    with here, there:
        started = time.monotonic()
        with pytest.raises(WireTimeout):
            Stream(here).receive(Reply, 0.1)
        there.sendall(struct.pack("!II", 10, 0))
        drip = threading.Thread(target=lambda: [(there.sendall(b"x"), time.sleep(0.05)) for _ in range(6)])
        drip.start()
        with pytest.raises(WireTimeout):
            Stream(here).receive(Reply, 0.2)
        assert time.monotonic() - started < 1
        drip.join()
        with pytest.raises(WireTimeout):
            Stream(here).send(told(torch.zeros(1 << 20)), 0.1)
        there.close()
        with pytest.raises(WireClosed):
            Stream(here).receive(Reply, 0.1)


def test_a_frame_too_large_is_refused_before_it_is_read():
    here, there = socket.socketpair()
    with here, there:
        there.sendall(struct.pack("!II", frames.MAX_HEADER + 1, 0))
        with pytest.raises(WireError):
            Stream(here).receive(Reply, 1)


def test_no_more_is_read_than_there_is_room_for():
    """All replies to one batch share the room: each is refused that does not fit into what is left."""
    frame = encode_frame(told(torch.zeros(100)))
    size = len(frame) - SIZES.size
    for room in (0, size - 1, size, MOST):
        here, there = socket.socketpair()
        with here, there:
            here.sendall(frame)
            stream = Stream(there)
            if room < size:
                with pytest.raises(WireError):
                    stream.receive(Reply, 1, room)
            else:
                assert stream.receive(Reply, 1, room).answer.value.shape == (100,)
                assert stream.received == size


def test_several_frames_go_together_and_are_read_one_by_one():
    replies = [Reply(7, Done()), Reply(7, Value(value=2**40)), Reply(7, Raised(type="E", message="no"))]
    here, there = socket.socketpair()
    with here, there:
        Stream(here).send_frames(map(encode_frame, replies), 1)
        here.close()
        stream = Stream(there)
        assert [stream.receive(Reply, 1) for _ in replies] == replies
        with pytest.raises(WireClosed):
            stream.receive(Reply, 1)


def test_answers_say_in_words_what_does_not_travel():
    def told(value: object) -> object:
        (answer,) = Executor({"f": lambda: value}).perform([Call(target=Target("f"))])
        return answer.value

    assert told(torch.zeros(2, dtype=torch.uint16)) == Opaque("a tensor of dtype uint16")
    assert told(torch.zeros(1).expand(10**12)) == Opaque(
        f"a tensor of {10**12} numbers, too large to look at"
    )
    assert told(torch.zeros(2, device="meta")) == Opaque("a tensor on the meta device, without values")
    assert told(torch.eye(2).to_sparse()) == Opaque("a tensor that is not dense")
    assert told({1, 2}) == Opaque("a set")


def test_gradients_are_seen_where_a_cell_switched_them_off():
    call = Call(target=Target("f"), args=(torch.ones(2),), number=-1, grad=True)
    with torch.no_grad():
        _, told = Executor({"f": lambda x: x * x}).perform([call, Backward(call=-1, weights=[torch.ones(2)])])
    assert torch.equal(told.inputs[0], torch.full((2,), 2.0))
