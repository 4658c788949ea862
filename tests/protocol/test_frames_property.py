"""A message arrives as it was, whatever it may hold; any other bytes are read or refused."""

from __future__ import annotations

import enum
import json
import math
import random
import socket
import time
import tracemalloc
from collections import OrderedDict, namedtuple
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import fields

from autograder.protocol.answers import AnyAnswer, Reply, Value
from autograder.protocol.frames import MAX_BODY, MAX_HEADER, SIZES, WireError, decode_frame, encode_frame
from autograder.protocol.messages import AnyMessage, Batch
from autograder.protocol.stream import MOST, Stream, WireClosed
from autograder.protocol.tensors import DTYPES, MAX_DIMS, tensors_in
from autograder.protocol.values import Opaque, Ref
from tests.protocol.examples import ANSWERS, BATCHES, MESSAGES, REPLIES, across, assert_same, in_words, parts
from tests.support.properties import PARTS, QUICK, TEXTS, changed, damaged, trees

# --- What a message may hold ---

INTS = st.integers() | st.sampled_from([0, 2**53 + 1, 2**63 - 1, 1 - 2**63, 2**63, -(2**63), 2**70])
FLOATS = st.floats() | st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 5e-324])
LONG = st.text("aé\ud800", min_size=195, max_size=205)
"""Texts about as long as what is kept of a type's name."""
IDS = st.integers(1 - 2**63, 2**63 - 1)

Pair = namedtuple("Pair", "one other")


class Text(str):
    pass


class Number(enum.IntEnum):
    ONE = 1


EXTENDED = st.one_of(
    TEXTS.map(Text),
    st.just(Number.ONE),
    FLOATS.map(np.float64),
    st.builds(Pair, INTS, TEXTS),
    st.dictionaries(TEXTS.map(Text), INTS, max_size=2).map(OrderedDict),
)
"""Values of classes that extend one of the protocol's."""


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """Tensors of any bytes, dtype and shape, which lie in memory in many ways."""
    dtype = draw(st.sampled_from(list(DTYPES.values())))
    shape = draw(st.lists(st.integers(0, 3), max_size=4) | st.just([1] * MAX_DIMS))
    raw = random.Random(draw(st.integers(0, 99))).randbytes(math.prod(shape) * dtype.itemsize)
    if dtype is torch.bool:  # torch counts on 0 and 1
        raw = bytes(byte & 1 for byte in raw)
    tensor = torch.frombuffer(bytearray(raw), dtype=dtype) if raw else torch.empty(0, dtype=dtype)
    tensor = tensor.reshape(shape)
    for _ in range(draw(st.integers(0, 2))):
        dim = draw(st.integers(0, tensor.dim() - 1)) if tensor.dim() else 0
        match draw(st.sampled_from(["permuted", "expanded", "halved", "cut", "conjugated"])):
            case "permuted":
                tensor = tensor.permute(draw(st.permutations(range(tensor.dim()))))
            case "expanded" if tensor.dim() < MAX_DIMS:
                tensor = tensor.unsqueeze(0).expand(draw(st.integers(0, 3)), *tensor.shape)
            case "halved" if tensor.dim():
                tensor = tensor[(slice(None),) * dim + (slice(None, None, 2),)]
            case "cut" if tensor.dim():
                tensor = tensor.tensor_split(2, dim)[1]
            case "conjugated":
                tensor = tensor.conj()
    return tensor


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    INTS,
    FLOATS,
    TEXTS,
    st.sampled_from(list(DTYPES.values())),
    st.builds(Ref, IDS, TEXTS | LONG, st.booleans()),
    st.builds(Opaque, TEXTS | LONG, st.booleans()),
    EXTENDED,
    tensors(),
)
KEYS = st.one_of(st.none(), st.booleans(), INTS, FLOATS, TEXTS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(TEXTS, inner, max_size=4),
        st.dictionaries(KEYS, inner, max_size=4),
    ),
    max_leaves=10,
)


def of_kind(hint: Any) -> st.SearchStrategy[Any]:
    """Whatever a field of this type may hold."""
    inner = get_args(hint)
    match get_origin(hint) or hint:
        case kind if kind in (Union, UnionType):
            return st.one_of(*map(of_kind, inner))
        case kind if kind in (dict, Mapping):
            return st.dictionaries(TEXTS, of_kind(inner[1]), max_size=2)
        case kind if kind in (list, Sequence) or inner[1:] == (...,):
            return st.lists(of_kind(inner[0]), max_size=2).map(tuple if kind is tuple else list)
        case kind if kind is tuple:
            return st.tuples(*map(of_kind, inner))
        case kind if kind is Literal:
            return st.sampled_from(inner)
        case kind if isinstance(kind, type) and issubclass(kind, Struct):
            return st.deferred(lambda: structs(kind))
    return PLAIN[hint]


def structs(kind: type[Struct]) -> st.SearchStrategy[Any]:
    """Messages, answers or parts of them; fields that need not be there are at times their defaults."""
    hints = get_type_hints(kind)
    every = {field.name: of_kind(hints[field.name]) for field in fields(kind)}
    needed = {field.name: every[field.name] for field in fields(kind) if field.required}
    more = {name: values for name, values in every.items() if name not in needed}
    return st.fixed_dictionaries(needed, optional=more).map(lambda chosen: kind(**chosen))


PLAIN = {
    Any: VALUES,
    str: TEXTS | LONG,
    int: IDS,
    float: FLOATS,
    bool: st.booleans(),
    type(None): st.none(),
}
SENT = st.one_of(
    st.builds(Reply, IDS, of_kind(AnyAnswer)),
    st.builds(Batch, IDS, st.lists(of_kind(AnyMessage), max_size=2).map(tuple)),
)


def arrived(value: Any) -> Any:
    """The value that the other side should have: of no class of ours, each text such as can be written."""
    match value:
        case bool() | None | torch.dtype() | torch.Tensor():
            return value
        case str():
            # Two halves that stand side by side are one character, and half a one is none.
            whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
            return whole.encode("utf-8", "replace").decode()
        case int():
            return int(value) if abs(value) < 2**63 else Opaque("an int of more than 64 bits")
        case float():
            return math.nan if math.isnan(value) else float(value)
        case Ref():
            return Ref(value.id, arrived(value.type)[:200], value.is_module)
        case Opaque():
            return Opaque(arrived(value.what)[:200], value.own)
        case list():
            return list(map(arrived, value))
        case tuple():
            return tuple(map(arrived, value))
        case dict():
            return {arrived_key(key): arrived(item) for key, item in value.items()}
        case Struct():
            return type(value)(**{name: arrived(getattr(value, name)) for name in value.__struct_fields__})
    raise AssertionError(f"no value of the protocol: {value!r}")


def arrived_key(key: Any) -> Any:
    """A key is plain on the other side, too."""
    seen = arrived(key)
    return seen.what if isinstance(seen, Opaque) else seen


@settings(QUICK, max_examples=250)
@given(VALUES)
@example({2**70: 1, 1: 2})
@example(np.float64("nan"))
def test_whatever_a_value_may_be_arrives_as_it_was(value: Any):
    assert_same(across(Reply(1, Value(value=value))).answer.value, arrived(value))


@settings(QUICK, max_examples=400)
@given(SENT)
def test_whatever_a_message_or_an_answer_may_hold_arrives_as_it_was(sent: Batch | Reply):
    assert_same(across(sent), arrived(sent))


@settings(QUICK, max_examples=150)
@given(st.lists(tensors(), max_size=6))
def test_tensors_of_every_dtype_and_shape_arrive_to_the_last_bit(values: list[torch.Tensor]):
    assert_same(across(Reply(1, Value(value=values))).answer.value, values)


# --- What else may arrive ---

NAMES = st.sampled_from(["list", "tuple", "dict", "dtype", "ref", "opaque", "float", "nan", "inf", "float32"])
SIZES_SAID = st.sampled_from(["0", "1", "2", "3", "8", "67108864", "4294967297", "9999999999", "02", "-1"])
LAYOUTS = st.builds(
    lambda dtype, sizes, order: " ".join([dtype, *sizes]) + (f"; {' '.join(order)}" if order else ""),
    st.sampled_from([*DTYPES, "object", "complex128"]),
    st.lists(SIZES_SAID, max_size=4),
    st.lists(st.sampled_from("0123"), max_size=4),
)
WORDS = st.one_of(PARTS, NAMES, LAYOUTS, st.just([]))
SAID = trees(WORDS)
"""JSON that says nothing, or something by chance."""
RIGHT = st.recursive(
    st.one_of(
        PARTS,
        st.sampled_from(
            [["float", "nan"], ["dtype", "int8"], ["ref", 1, "x", True], ["opaque", "a set", False]]
        ),
    ),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["list", "tuple"]), inner, inner),
        st.dictionaries(TEXTS, inner, max_size=3),
        st.lists(st.tuples(PARTS, inner), max_size=3).map(lambda pairs: ["dict", *pairs]),
    ),
    max_leaves=6,
)
"""JSON that says a value, but for numbers that are too large."""


@st.composite
def nearly(draw: st.DrawFn, examples: tuple[Struct, ...]) -> dict[str, Any]:
    """JSON of one of these messages or answers in which a field or two are odd, or not there."""
    example = draw(st.sampled_from(examples))
    said = in_json(in_words(example))
    for name in draw(st.lists(st.sampled_from(sorted(said)), min_size=1, max_size=2)):
        if draw(st.integers(0, 7)):
            said[name] = draw(WORDS | RIGHT | st.sampled_from(sorted(said)).map(said.get))
        else:
            said.pop(name, None)
    return said


NEARLY = nearly(MESSAGES) | nearly(ANSWERS)


def kind_of(said: dict[str, Any]) -> type[Struct]:
    return Reply if "is" in said else Batch


def header_of(kind: type[Struct], inside: Any, layouts: Any) -> bytes:
    """The header of a frame with one message or with an answer."""
    around = {"messages": ["tuple", inside]} if kind is Batch else {"answer": inside}
    return json.dumps([{"number": 7, **around}, layouts]).encode()


def in_json(value: Any) -> Any:
    """Return what the JSON of a value says, `[]` for each tensor."""
    header, _ = parts(encode_frame(Reply(7, Value(value=value))))
    return json.loads(header)[0]["answer"]["value"]


HEADERS = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=30).map(lambda text: text.encode()),
    SAID.map(lambda tree: json.dumps(tree).encode()),
    RIGHT.map(lambda tree: header_of(Reply, {"is": "value", "value": tree}, [])),
    st.builds(
        lambda tree, layouts: header_of(Reply, {"is": "value", "value": tree}, layouts),
        SAID | st.lists(SAID, max_size=4).flatmap(lambda said: NAMES.map(lambda name: [name, *said])),
        st.lists(LAYOUTS, max_size=3) | SAID,
    ),
    st.builds(
        lambda said, count: header_of(kind_of(said), said, ["float32 2"] * count),
        NEARLY,
        st.integers(0, 2),
    ),
)
BODIES = st.just(b"") | st.binary(max_size=48) | st.sampled_from([8, 16, 24, 32]).map(bytes)

VALUES_SENT = (
    ((1.5, None), [True, "t∂"], {1: math.nan, None: -math.inf, "k": {"x": ()}}, [[[9]]]),
    {"r": Ref(3, "LSTMCell", True), "o": Opaque("a set"), "d": torch.bfloat16, "x": torch.zeros(3, 0)},
    [torch.ones(k, dtype=dtype) for k, dtype in enumerate(DTYPES.values())],
)
FRAMES = [
    (encode_frame(sent), type(sent))
    for sent in (*BATCHES, *REPLIES, *(Reply(7, Value(value=value)) for value in VALUES_SENT))
]
"""Frames that are right before they are changed, each with what is read of it."""
KINDS = st.sampled_from([Batch, Reply])


def read_or_refused(header: bytes, body: bytes, kind: type[Struct]) -> Struct | None:
    """Return the message, or `None` if it is refused: quickly, and without taking more memory than it has.

    What is read must be a message that could be sent, and no other after it has been.
    """
    data = bytearray(body)
    message = None
    tracemalloc.start()
    started = time.process_time()
    try:
        with suppress(WireError):
            message = decode_frame(header, data, kind)
        took, (_, most) = time.process_time() - started, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert took < 1
    assert most < 500_000 + 200 * (len(header) + len(body))
    if message is not None:
        assert type(message) is kind
        # torch's memory is not among what Python traces. Truth values are copied, one byte each.
        taken = sum(tensor.untyped_storage().nbytes() for tensor in tensors_in(message))
        assert taken <= 2 * len(body)
        assert_same(across(message), message)
    return message


def test_the_frames_are_right_before_they_are_changed():
    for frame, kind in FRAMES:
        assert read_or_refused(*parts(frame), kind) is not None


@settings(QUICK, max_examples=300)
@given(HEADERS, BODIES, KINDS)
def test_any_bytes_are_a_message_or_refused(header: bytes, body: bytes, kind: type[Struct]):
    read_or_refused(header, body, kind)


@settings(QUICK, max_examples=500)
@given(NEARLY)
def test_a_message_with_odd_fields_is_one_or_refused(said: dict[str, Any]):
    """Send as many tensors as are named, so that it is the fields that count."""
    count = json.dumps(said).count("[]")
    read_or_refused(header_of(kind_of(said), said, ["float32 2"] * count), bytes(8 * count), kind_of(said))


@settings(QUICK, max_examples=300)
@given(st.data())
def test_the_json_of_a_frame_with_parts_changed_is_a_message_or_refused(data: st.DataObject):
    frame, kind = data.draw(st.sampled_from(FRAMES))
    header, body = parts(frame)
    said = json.loads(header)
    if data.draw(st.booleans()):
        said = data.draw(changed(said, WORDS | SAID))
    else:
        said[0] = data.draw(changed(said[0], WORDS | RIGHT, most=2))
    text = json.dumps(said, ensure_ascii=data.draw(st.booleans()))
    read_or_refused(text.encode("utf-8", "surrogatepass"), body, kind)


@QUICK
@given(st.data())
def test_the_bytes_of_a_frame_with_places_changed_are_a_message_or_refused(data: st.DataObject):
    frame, kind = data.draw(st.sampled_from(FRAMES))
    header, body = parts(frame)
    which = data.draw(st.sampled_from(["header", "body", "both"]))
    if which != "body":
        header = data.draw(damaged(header))
    if which != "header":
        body = bytearray(data.draw(damaged(bytes(body))))
    read_or_refused(header, body, kind)


@QUICK
@given(st.data())
def test_a_stream_of_changed_frames_is_read_or_refused_or_at_its_end(data: st.DataObject):
    """The two sizes that a frame begins with are changed, too, and what comes next begins anywhere."""
    frame, kind = data.draw(st.sampled_from(FRAMES))
    more = [frame for frame, other in FRAMES if other is kind]
    raw = data.draw(damaged(frame)) + data.draw(st.sampled_from([b"", *more]))
    here, there = socket.socketpair()
    with here, there:
        here.sendall(raw)
        here.close()
        stream = Stream(there)
        with suppress(WireError, WireClosed):
            while True:
                assert type(stream.receive(kind, 5)) is kind


@QUICK
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, MOST))
def test_sizes_that_are_too_large_are_refused_before_anything_is_waited_for(
    header: int, body: int, room: int
):
    here, there = socket.socketpair()
    with here, there:
        here.sendall(SIZES.pack(header, body))
        here.close()
        told: type[Exception] | None = None
        try:
            Stream(there).receive(Reply, 5, room)
        except (WireError, WireClosed) as error:
            told = type(error)
        large = header > MAX_HEADER or body > MAX_BODY or header + body > room
        # An empty header is no message; of any other, and of its body, nothing has arrived.
        assert told is (WireError if large or not (header or body) else WireClosed)
