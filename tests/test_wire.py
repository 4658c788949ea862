"""The language across the wall: what one side says the other reads, and whatever else arrives is refused."""

from __future__ import annotations

import json
import math
import random
import socket
import struct
import threading
import time

import pytest
import torch
from safetensors.torch import save

from autograder.worker import wire
from autograder.worker.objects import Objects
from autograder.worker.wire import Opaque, Ref, Stream, WireClosed, WireError, WireTimeout, decode_frame


def across(message: dict) -> dict:
    """A message as the other side reads it."""
    here, there = socket.socketpair()
    with here, there:
        sender = threading.Thread(target=Stream(here).send, args=(message, 5))
        sender.start()
        try:
            return Stream(there).receive(5)
        finally:
            sender.join()


@pytest.mark.parametrize(
    "value",
    [
        None, True, -1, 2**63 - 1, 1.5, "text ∂ 🦊", [1, [2, (3,)]], (), {"a": {1: (None, "x")}}, math.inf, -math.inf,
        torch.float64, torch.bfloat16, Ref(3, "LSTMCell"), Opaque("a numpy.ndarray"),
    ],
)  # fmt: skip
def test_plain_values_arrive_as_they_are(value):
    seen = across({"value": value})["value"]
    assert seen == value
    assert type(seen) is type(value)


@pytest.mark.parametrize("dtype", list(wire.DTYPES.values()), ids=str)
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
        seen = across({"x": tensor})["x"]
        assert seen.dtype == dtype
        assert torch.equal(seen, tensor)
        if tensor.numel() > 1 and tensor.is_contiguous() != seen.is_contiguous():
            assert not tensor.is_contiguous(), "what was contiguous stays so"
    assert not across({"x": base.mT})["x"].is_contiguous()


def test_tensors_that_share_memory_arrive_apart():
    base = torch.zeros(4)
    seen = across({"a": base, "b": base, "c": base[1:], "d": [base.view(2, 2)]})
    seen["a"].fill_(1)
    assert not seen["b"].any()
    assert not seen["c"].any()


def test_nothing_else_is_sent():
    deep: object = 0
    for _ in range(20):
        deep = [deep]
    assert len(across({"value": dict.fromkeys(range(6000))})["value"]) == 6000
    many = dict.fromkeys(range(7000))
    for value in (
        {1, 2},
        object(),
        b"bytes",
        1j,
        deep,
        many,
        [0] * (wire.MAX_ITEMS + 1),
        torch.nn.Linear(1, 1),
    ):
        with pytest.raises(WireError):
            Stream(socket.socketpair()[0]).send({"value": value})
    with pytest.raises(WireError):
        Stream(socket.socketpair()[0]).send({"value": torch.zeros(wire.MAX_BODY // 4 + 1)})
    with pytest.raises(WireError):
        Stream(socket.socketpair()[0]).send({"value": [torch.zeros(1) for _ in range(wire.MAX_TENSORS + 1)]})


def body(header: object, data: bytes = b"") -> bytes:
    """A safetensors file with any header."""
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


ZEROS = save({"0": torch.zeros(2, 3)})
F32 = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def message(value: str) -> bytes:
    return b'{"dict":[["value",' + value.encode() + b"]]}"


@pytest.mark.parametrize(
    ("header", "data"),
    [
        (b"", b""), (b"{", b""), (b"[]", b""), (b"7", b""), (b"NaN", b""), (b"Infinity", b""), (b"\xff\xfe", b""),
        (b"[" * 10**6, b""), (b'{"dict":' * 10**5, b""), (b"1" * 10**6, b""),
        (b'{"dict":[[1,2]]}', b""), (b'{"dict":[["a"]]}', b""), (b'{"dict":{"a":1}}', b""), (b'{"dict":["ab"]}', b""),
        (message('{"dict":[[[1],2]]}'), b""), (message('{"dict":[[{"tensor":"0"},2]]}'), ZEROS),
        (message(f"{2**63}"), b""), (message('{"ref":1e999,"type":"x","module":true}'), b""), (message('{"ref":"1","type":"x","module":true}'), b""),
        (message('{"ref":1,"type":[],"module":true}'), b""), (message('{"ref":1,"type":"x","module":1}'), b""), (message('{"ref":1}'), b""),
        (message('{"tuple":"ab"}'), b""), (message('{"tuple":{"a":1}}'), b""), (message('{"float":"1.5"}'), b""),
        (message('{"float":[]}'), b""), (message('{"dtype":"object"}'), b""), (message('{"opaque":5}'), b""),
        (message('{"__reduce__":"os.system"}'), b""), (message("{}"), b""), (message('{"tensor":"9"}'), ZEROS),
        (message('{"tensor":[0]}'), ZEROS), (message('{"tensor":"0"}'), b""),
        (message('{"tensor":"0","order":[1e999]}'), ZEROS), (message('{"tensor":"0","order":[0,0]}'), ZEROS),
        (message('{"tensor":"0","order":[0]}'), ZEROS), (message('{"tensor":"0","order":[0,2]}'), ZEROS),
        (message('{"tensor":"0","order":["0","1"]}'), ZEROS), (message('{"tensor":"0","order":[0,-1]}'), ZEROS),
        (message('{"tensor":"0","order":"01"}'), ZEROS),
        (message(f'{{"tensor":"0","order":{list(range(400_000))[::-1]}}}'), ZEROS),
        (message("[" + "[]," * 10**6 + "[]]"), b""),
        (message('{"dict":[' + ",".join(f"[{k * (2**61 - 1)},0]" for k in range(9000)) + "]}"), b""),
        (b"{}", b"\x00"), (b"{}", b"x" * 100), (b"{}", struct.pack("<Q", 2**63) + b"{}"), (b"{}", body([])),
        (b'{"dict":[]}', body({"0": F32}, b"1234")), (b'{"dict":[]}', body({"0": F32, "1": F32}, b"12345678")),
        (b'{"dict":[]}', body({"0": {**F32, "dtype": "F8_E4M3", "shape": [8]}}, b"12345678")),
        (b'{"dict":[]}', body({"0": {**F32, "dtype": "PICKLE"}}, b"12345678")),
        (b'{"dict":[]}', body({"0": {**F32, "shape": [-2]}}, b"12345678")),
        (b'{"dict":[]}', body({"0": {**F32, "shape": [2**62, 8]}}, b"12345678")),
        (b'{"dict":[]}', body({"0": {"dtype": "F32", "shape": [0, 2**62, 9], "data_offsets": [0, 0]}})),
        (b'{"dict":[]}', body({"0": {**F32, "shape": [2, *[1] * 1000]}}, b"12345678")),
        (b'{"dict":[]}', body({str(i): {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(60_000)})),
        (b'{"dict":[]}', save({str(i): torch.zeros(1) for i in range(wire.MAX_TENSORS + 1)})),
    ],
)  # fmt: skip
def test_whatever_is_no_frame_is_refused_quickly(header: bytes, data: bytes):
    started = time.process_time()
    with pytest.raises(WireError):
        decode_frame(header, data)
    assert time.process_time() - started < 3


def test_half_a_surrogate_pair_becomes_a_character_that_can_be_written():
    seen = decode_frame(message(r'["\ud800", {"opaque": "\udfff"}, "\ud83e\udd8a"]'), b"")["value"]
    assert seen == ["?", Opaque("?"), "🦊"]


@pytest.mark.slow
def test_noise_is_refused_and_nothing_else_happens():
    """Frames that were right once, with bytes changed, cut or doubled at random."""
    rng = random.Random(2013)
    x = torch.randn(3, 4).mT
    header = json.dumps(
        wire._encode({"a": (x, [1.5, None], {"k": Ref(1, "T")}), "b": "text"}, {}, 0, [0])
    ).encode()
    data = save({"0": x.mT.contiguous()})
    refused = 0
    for _ in range(4000):
        parts = [bytearray(header), bytearray(data)]
        for _ in range(rng.randint(1, 4)):
            part = rng.choice(parts)
            at = rng.randrange(len(part)) if part else 0
            match rng.randrange(4):
                case 0:
                    part[at : at + 1] = bytes([rng.randrange(256)])
                case 1:
                    del part[at : at + rng.randrange(8)]
                case 2:
                    part[at:at] = part[at : at + rng.randrange(8)]
                case _:
                    part[at:at] = rng.choice([b"[", b"{", b"9" * 30, b"-", b"1e999", b'"', b"null", b"\x00"])
        try:
            assert isinstance(decode_frame(bytes(parts[0]), bytes(parts[1])), dict)
        except WireError:
            refused += 1
    assert refused > 2000


def test_a_stream_waits_no_longer_than_told():
    here, there = socket.socketpair()
    with here, there:
        started = time.monotonic()
        with pytest.raises(WireTimeout):
            Stream(here).receive(0.1)
        there.sendall(struct.pack("!II", 10, 0))
        drip = threading.Thread(target=lambda: [(there.sendall(b"x"), time.sleep(0.05)) for _ in range(6)])
        drip.start()
        with pytest.raises(WireTimeout):
            Stream(here).receive(0.2)
        assert time.monotonic() - started < 1
        drip.join()
        with pytest.raises(WireTimeout):
            Stream(here).send({"x": torch.zeros(1 << 20)}, 0.1)
        there.close()
        with pytest.raises(WireClosed):
            Stream(here).receive(0.1)


def test_a_frame_too_large_is_refused_before_it_is_read():
    here, there = socket.socketpair()
    with here, there:
        there.sendall(struct.pack("!II", wire.MAX_HEADER + 1, 0))
        with pytest.raises(WireError):
            Stream(here).receive(1)


def test_answers_say_in_words_what_does_not_travel():
    def told(value: object) -> object:
        return Objects({"f": lambda: value}).perform({"op": "call", "name": "f"})["value"]

    assert told(torch.zeros(2, dtype=torch.uint16)) == Opaque("a tensor of dtype uint16")
    assert told(torch.zeros(1).expand(10**12)) == Opaque(
        f"a tensor of {10**12} numbers, too large to look at"
    )
    assert told(torch.zeros(2, device="meta")) == Opaque("a tensor on the meta device, without values")
    assert told(torch.eye(2).to_sparse()) == Opaque("a tensor that is not dense")
    assert told({1, 2}) == Opaque("a set")


def test_gradients_are_seen_where_a_cell_switched_them_off():
    objects = Objects({"f": lambda x: x * x})
    with torch.no_grad():
        call = objects.perform({"op": "call", "name": "f", "args": [torch.ones(2)], "grad": True})
        told = objects.perform({"op": "backward", "call": call["call"], "weights": [torch.ones(2)]})
    assert torch.equal(told["inputs"][0], torch.full((2,), 2.0))
