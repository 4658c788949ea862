"""One message and one answer of each class with all its fields set, and how they are compared."""

from __future__ import annotations

import struct
from typing import Any, TypeVar

import torch
from msgspec import Struct
from msgspec.structs import fields

from autograder.protocol import answers, messages
from autograder.protocol.events import Event, Line
from autograder.protocol.frames import SIZES, decode_frame, encode_frame
from autograder.protocol.values import Opaque, Ref

Kind = TypeVar("Kind", bound=Struct)

TARGET = messages.Target("cell", -2, ("lstm", "forward"))
ROWS = torch.arange(6.0).reshape(2, 3).mT
MODULE = Ref(3, "LSTMCell", True)
USUAL = {"default_dtype": "float64"}
LINE = Line(7, "h = torch.zeros(2, 3)")
RAISED = answers.Raised(
    printed="x\n",
    type="ValueError",
    message="no",
    lines=("line 7: x = 1", "line 8: y"),
    owners=("f", ""),
    bases=("Exception",),
)

MESSAGES: tuple[messages.AnyMessage, ...] = (
    messages.Begin(name="cell", seed=3, **USUAL),
    messages.Construct(
        name="LSTM",
        number=-1,
        args=(3, ROWS),
        kwargs={"bias": False, "like": ROWS},
        source="class LSTM: ...",
        state={"weight": ROWS, "bias": torch.zeros(3, 0)},
        dtype="bfloat16",
        assembled=messages.WithoutConstructor({"hidden_size": 5}, {"_all_weights": ["w", "b"]}, ["b"]),
        **USUAL,
    ),
    messages.Make(target=TARGET, number=-4, args=(3, [None, MODULE]), kwargs={"bias": 1.5}, **USUAL),
    messages.Load(target=TARGET, state={"weight": ROWS}, **USUAL),
    messages.Convert(target=TARGET, dtype="float16", **USUAL),
    messages.Call(
        target=TARGET,
        args=(ROWS, (ROWS, {1: None})),
        kwargs={"mask": torch.tensor([True, False]), "module": MODULE},
        number=-5,
        grad=True,
        arguments=True,
        numpy=True,
        unanswered=True,
        packed=True,
        **USUAL,
    ),
    messages.Backward(call=-5, weights=[ROWS, torch.tensor(1.0)], **USUAL),
    messages.ListRegistered(target=TARGET, **USUAL),
    messages.Parameters(target=TARGET, computed=True, **USUAL),
    messages.Attribute(target=TARGET, packed=True, **USUAL),
    messages.ProbeCall(
        target=TARGET,
        args=(ROWS, 2),
        device="cuda:1",
        dtype="bfloat16",
        made=messages.Made((3, ROWS), {"weight": ROWS}),
        as_made=True,
        method="forward",
        on_cpu=(0, 1),
        seed=4,
        gradients=True,
        trace="all",
        **USUAL,
    ),
    messages.RunCell(source="x = 1\n", count=9, task="x", added=True, **USUAL),
    messages.WriteFile(path="data/a.txt", content="AAECAwQ=", continues=True, **USUAL),
)
ANSWERS: tuple[answers.AnyAnswer, ...] = (
    answers.Done(printed="x\n"),
    answers.Missing(printed="x\n"),
    RAISED,
    answers.NoModule(printed="x\n", value=[ROWS, Opaque("a set", True)]),
    answers.Late(printed="x\n", seconds=1.5, line="line 7: x = 1"),
    answers.Value(printed="x\n", value={"a": (ROWS, 1), 2: MODULE}),
    answers.Called(
        printed="x\n",
        value=(ROWS, None),
        attached=(True, False),
        arguments=(ROWS, [1]),
        left=("default dtype", (1, "a hook")),
    ),
    answers.Gradients(
        printed="x\n", inputs=(ROWS, None), parameters={"weight": ROWS}, attached=True, frozen=("bias",)
    ),
    answers.Registered(
        printed="x\n",
        is_module=True,
        type="LSTMCell",
        shapes={"weight": (2, 3), "bias": ()},
        trainable=("weight",),
        leaves=("bias",),
        modules={"fc": "Linear"},
        kinds=("Linear", "Module"),
        saved=("weight", "bias"),
        shared=(("weight", "tied"), ("a", "b", "c")),
    ),
    answers.ParameterValues(printed="x\n", parameters={"weight": ROWS, "odd": Opaque("a sparse tensor")}),
    answers.Probed(
        printed="x\n",
        device="cuda:7",
        value=(ROWS, torch.bfloat16),
        places=("cuda:7", "cpu"),
        stayed=("mask",),
        inputs=(ROWS, None),
        parameters={"weight": ROWS},
        gradient_places=("cuda:7",),
        events=(
            Event("met", operation="add", line=LINE, made=LINE, name="self.mask", held=True, dtype="float32"),
        ),
        error=RAISED,
    ),
    answers.CellRan(
        printed="x\n",
        outputs=[{"output_type": "stream", "name": "stdout", "text": "1"}],
        error=RAISED,
        missed=True,
    ),
    answers.Refused(printed="x\n", message="no space left on device"),
)

# What they are sent in.
BATCHES = tuple(messages.Batch(7, (message,)) for message in MESSAGES)
REPLIES = tuple(answers.Reply(7, answer) for answer in ANSWERS)


def parts(frame: bytes) -> tuple[bytes, bytearray]:
    """A frame's header and its body, which fill it."""
    header, body = SIZES.unpack(frame[: SIZES.size])
    assert len(frame) == SIZES.size + header + body
    return frame[SIZES.size :][:header], bytearray(frame[SIZES.size + header :])


def across(message: Kind) -> Kind:
    """A batch or a reply as the other side reads it."""
    return decode_frame(*parts(encode_frame(message)), type(message))


def in_words(value: Any) -> Any:
    """Structs anywhere in a value as dicts, each with its tag."""
    if isinstance(value, Struct):
        config = value.__struct_config__
        tag = {config.tag_field: config.tag} if config.tag_field is not None else {}
        return tag | {field.name: in_words(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {key: in_words(item) for key, item in value.items()}
    return type(value)(map(in_words, value)) if type(value) in (list, tuple) else value


def assert_same(seen: Any, wanted: Any) -> None:
    """Fail unless both are the same to the last bit, not a number and minus zero included."""
    assert type(seen) is type(wanted)
    match wanted:
        case torch.Tensor():
            assert (seen.dtype, seen.shape) == (wanted.dtype, wanted.shape)
            assert bits(seen) == bits(wanted)
        case float():
            assert struct.pack("d", seen) == struct.pack("d", wanted)
        case list() | tuple():
            assert len(seen) == len(wanted)
            for one, other in zip(seen, wanted, strict=True):
                assert_same(one, other)
        case dict():
            assert_same(list(seen.items()), list(wanted.items()))
        case Struct():
            for field in fields(wanted):
                assert_same(getattr(seen, field.name), getattr(wanted, field.name))
        case _:
            assert seen == wanted


def bits(tensor: torch.Tensor) -> list[int]:
    plain = tensor.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    return plain.reshape(-1).view(torch.uint8).tolist() if plain.numel() else []
