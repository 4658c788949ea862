"""Frames as a hostile worker may send them: whatever is none is refused quickly, and nothing else happens."""

from __future__ import annotations

import json
import math
import random
import time
from contextlib import suppress
from typing import Any

import pytest
import torch

from autograder.protocol import frames
from autograder.protocol import tensors as layouts
from autograder.protocol.answers import Reply, Value
from autograder.protocol.frames import WireError, decode_frame, encode_frame
from autograder.protocol.values import Opaque, Ref
from tests.protocol.examples import parts


def message(value: str, *layouts: object) -> bytes:
    """The header of an answer with a value."""
    said = f'{{"number":1,"answer":{{"is":"value","value":{value}}}}}'
    return f"[{said},{json.dumps(layouts)}]".encode()


def around(layouts: str) -> bytes:
    """The header of an answer with a tensor, whose layouts are said in JSON."""
    return message("[]").removesuffix(b"[]]") + f"{layouts}]".encode()


def value_of(header: bytes, data: bytes = b"") -> Any:
    return decode_frame(header, bytearray(data), Reply).answer.value


ONE = message("[]", "float32 2")
BYTES = bytes(8)


@pytest.mark.parametrize(
    ("header", "data"),
    [
        # no header
        (b"", b""), (b"{", b""), (b"[]", b""), (b"7", b""), (b"NaN", b""), (b"Infinity", b""), (b"\xff\xfe", b""),
        (b"[" * 10**6, b""), (b'{"a":' * 10**5, b""), (b"1" * 10**6, b""), (b"{}", b""), (b'"ab"', b""), (b"[{}]", b""),
        (b"[{},[],0]", b""), (b"[[],[]]", b""), (b'[["list"],[]]', b""), (b'[["dict",[1,2]],[]]', b""), (b'[["dict",["a",2]],[]', b""),
        (b'{"a":{},"b":[]}', b""), (message("NaN"), b""), (message("-Infinity"), b""), (message("Infinity"), b""),
        # no value
        (message('["dict",["a"]]'), b""), (message('["dict",1]'), b""), (message('["dict",["ab",1,2]]'), b""), (message('["dict","ab"]'), b""),
        (message('["dict",[["list",1],2]]'), b""), (message('["dict",[["tuple"],2]]'), b""), (message('["dict",[[],2]]', "float32 2"), BYTES),
        (message('["dict",[["ref",1,"x",true],2]]'), b""), (message('["dict",[{},2]]'), b""),
        (message(f"{2**63}"), b""), (message(f"-{2**63}"), b""), (message('["ref",1e999,"x",true]'), b""), (message('["ref","1","x",true]'), b""),
        (message(f'["ref",{2**63},"x",true]'), b""), (message('["ref",true,"x",true]'), b""), (message('["ref",1.0,"x",true]'), b""),
        (message('["ref",1,[],true]'), b""), (message('["ref",1,"x",1]'), b""), (message('["ref",1]'), b""), (message('["ref",1,"x",true,0]'), b""),
        (message('["float","1.5"]'), b""), (message('["float",[]]'), b""), (message('["float"]'), b""), (message('["float","nan",1]'), b""),
        (message('["dtype","object"]'), b""), (message('["dtype","float8_e4m3fn"]'), b""), (message('["dtype",["list"]]'), b""),
        (message('["opaque",5]'), b""), (message('["opaque"]'), b""), (message('["opaque","a"]'), b""), (message('["opaque","a","b"]'), b""),
        (message('["__reduce__","os.system"]'), b""), (message("[1]"), b""), (message("[[]]", "float32 2"), BYTES), (message("[null]"), b""),
        (message('[{"a":1}]'), b""), (message('["tensor","float32 2"]', "float32 2"), BYTES), (message('["set",1]'), b""), (message('[["tuple"],1]'), b""),
        (message('["list"' + ",[]" * 10**6 + "]"), b""), (message("[" + "[]," * 10**6 + "[]]"), b""),
        (message('["tuple",' * 20 + "1" + "]" * 20), b""), (message('{"a":' * 20 + "1" + "}" * 20), b""), (message('["dict",["a",' * 20 + "1" + "]]" * 20), b""),
        (message('["dict"' + "".join(f",[{k * (2**61 - 1)},0]" for k in range(9000)) + "]"), b""),
        (message('["dict"' + "".join(f',["{k}",0]' for k in range(7000)) + "]"), b""), (message('["list"' + ",0" * 20_001 + "]"), b""),
        # tensors that are missing, too many, or said in another way
        (message("[]"), b""), (message("[]"), BYTES), (message('["list",[],[]]', "float32 2"), BYTES), (message("1", "float32 2"), BYTES),
        (message("[]", "float32 2", "float32 2"), BYTES * 2), (message("[]", "float32 2", "float32 0"), BYTES), (around('"float32 2"'), BYTES),
        (around('{"float32 2":1}'), BYTES), (around("null"), BYTES), (message("[]", ["float32", [2]]), BYTES), (message("[]", 5), BYTES),
        (message("[]", None), BYTES), (message('["list"' + ",[]" * 513 + "]", *["float32 0"] * 513), b""), (message('["list"' + ",[]" * 513 + "]", *["float32 2"] * 513), BYTES * 513),
        (message("1", *["float32 0"] * 600_000), b""),
        # bodies that are not as the layouts say
        (ONE, b""), (ONE, BYTES[:4]), (ONE, BYTES[:7]), (ONE, BYTES + b"\0"), (ONE, BYTES * 2), (message("1"), BYTES), (message("1"), b"x" * 100),
        (message("[]", "float32 1"), BYTES[:4]), (message("[]", "float32 1"), b"\0\0\0\0\0\0\0\1"), (message("[]", "bool 9"), bytes(9)), (message("[]", "bool 9"), bytes(9) + b"evil..!"),
        (message('["list",[],[]]', "float32 1", "float64"), bytes(12)), (message("[]", "float32"), b""), (message("[]", "float32 0"), BYTES),
        # layouts that are none
        (message("[]", ""), BYTES), (message("[]", "float32  2"), BYTES), (message("[]", "float32 2 "), BYTES), (message("[]", " float32 2"), BYTES), (message("[]", "float32 2\n"), BYTES),
        (message("[]", "float32 -2"), BYTES), (message("[]", "float32 +2"), BYTES), (message("[]", "float32 2.0"), BYTES), (message("[]", "float32 02"), BYTES), (message("[]", "float32 1_0"), BYTES),
        (message("[]", "float32 2e0"), BYTES), (message("[]", "float32 ２"), BYTES), (message("[]", "float32 ٢"), BYTES), (message("[]", "float32,2"), BYTES), (message("[]", "float32 None"), BYTES),
        (message("[]", "f4 2"), BYTES), (message("[]", "O 1"), BYTES), (message("[]", "object 1"), BYTES), (message("[]", "float8_e4m3fn 8"), BYTES), (message("[]", "complex128 0"), b""),
        (message("[]", "Float32 2"), BYTES), (message("[]", "torch.float32 2"), BYTES), (message("[]", f"float32 {2**62} 8"), BYTES), (message("[]", "float32 4294967296 4294967297 2"), BYTES),
        (message("[]", f"float32 0 {2**62} 9"), b""), (message("[]", "float32 0 9999999999 9"), b""), (message("[]", "float32 9999999999"), BYTES), (message("[]", "uint8 67108865"), BYTES),
        (message("[]", "float32" + " 1" * 17 + " 2"), BYTES), (message("[]", "float32" + " 0" * 17), b""), (message("[]", "float32 2" + " 1" * 10**6), BYTES), (message("[]", "9" * 10**6), BYTES),
        (message("[]", "float32 2;"), BYTES), (message("[]", "float32 2; "), BYTES), (message("[]", "float32 1 2; 0 0"), BYTES), (message("[]", "float32 1 2; 0"), BYTES), (message("[]", "float32 1 2; 0 2"), BYTES),
        (message("[]", "float32 1 2; 0 1 2"), BYTES), (message("[]", "float32 1 2; -1 0"), BYTES), (message("[]", "float32 1 2; 1 0; 1 0"), BYTES), (message("[]", "float64; 0"), BYTES), (message("[]", "float32 1 2;1 0"), BYTES),
        (message("[]", f"float32 1 2; {' '.join(map(str, range(400_000)))}"), BYTES),
    ],
)  # fmt: skip
def test_whatever_is_no_frame_is_refused_quickly(header: bytes, data: bytes):
    started = time.process_time()
    with pytest.raises(WireError) as refused:
        decode_frame(header, bytearray(data), Reply)
    # The largest take 1.4 s by themselves, more where the collector has much else to look through; reading that
    # grows with the square of a frame would take minutes.
    assert time.process_time() - started < 15
    # What is wrong with a value is seen before anybody asks whether it is one in an answer.
    assert not (header.startswith(message("")[:20]) and "Reply" in str(refused.value))


def test_the_frames_refused_above_are_so_for_what_they_say():
    """Each piece that they change is read where it is right."""
    seen = value_of(
        message('["dict",["a",["list",[],["tuple",[]]]],[null,["ref",1,"x",true]],[2,["float","nan"]]]',
                "float32 1 2; 1 0", "bool 9"), BYTES + bytes(16),
    )  # fmt: skip
    assert seen["a"][0].shape == (1, 2)
    assert seen["a"][1][0].shape == (9,)
    assert seen[None] == Ref(1, "x", True)
    assert math.isnan(seen[2])
    assert value_of(message("[]", "float32" + " 1" * 15 + " 2"), BYTES).dim() == 16
    assert value_of(message("[]", "uint8 0 67108864")).shape == (0, 1 << 26)
    assert len(value_of(message('["list"' + ",0" * 19_995 + "]"))) == 19_995
    assert value_of(around('["float32 2"]'), BYTES).tolist() == [0, 0]


def test_truth_values_are_two_whatever_bytes_arrive():
    seen = value_of(message("[]", "bool 2 4; 1 0"), bytes([0, 1, 2, 255, 0, 128, 1, 0]))
    assert seen.tolist() == [[False, True, False, True], [True, True, True, False]]
    assert seen.view(torch.uint8).max() == 1


def test_the_largest_frames_are_read_or_refused_in_seconds():
    """What a hostile worker may send at most, of each kind that is much work to read."""
    room = frames.MAX_HEADER - 100
    empty = [f"float32 {k} 0" for k in range(layouts.MAX_TENSORS)]
    started = time.process_time()
    for header, size in (
        (message('["list"' + ",[]" * 512 + "]", *["uint8 131072"] * 512), frames.MAX_BODY),
        (message('["list"' + ",[]" * 512 + "]", *["bool 131072"] * 512), frames.MAX_BODY),
        (message("[]", "bfloat16 32 1024 1024; 2 1 0"), frames.MAX_BODY),
        (message('["list"' + ",[]" * 512 + "]", *empty), 0),
        (message('"' + "\\ud800" * (room // 6) + '"'), 0),
        (message('["list"' + "," + "9" * 4000 + '"]' * 1), 0),
        (message('["list"' + (",1" + "0" * 4290) * (room // 4292) + "]"), 0),
        (message('["list"' + ',["x"]' * (room // 6) + "]"), 0),
        (message("{" + ",".join(f'"{k}":0' for k in range(room // 12)) + "}"), 0),
    ):
        assert len(header) <= frames.MAX_HEADER
        with suppress(WireError):
            decode_frame(header, bytearray(size), Reply)
    assert time.process_time() - started < 10


def test_half_a_surrogate_pair_becomes_a_character_that_can_be_written():
    seen = value_of(message(r'["list","\ud800",["opaque","\udfff",false],"\ud83e\udd8a"]'))
    assert seen == ["?", Opaque("?"), "🦊"]


def test_noise_is_refused_and_nothing_else_happens():
    """Frames that were right once, with bytes changed, cut or doubled at random."""
    rng = random.Random(2013)
    x = torch.randn(3, 4).mT
    value = {"a": (x, [1.5, None], {"k": Ref(1, "T")}), "b": "text", 3: torch.ones(3, dtype=torch.bool)}
    header, data = parts(encode_frame(Reply(1, Value(value=value))))
    refused = 0
    for _ in range(4000):
        changed = [bytearray(header), bytearray(data)]
        for _ in range(rng.randint(1, 4)):
            part = rng.choice(changed)
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
            assert type(decode_frame(*changed, Reply)) is Reply
        except WireError:
            refused += 1
    assert refused > 2000
