"""Messages and answers of every class: they arrive as they were sent, or are refused, and each is done."""

from __future__ import annotations

import base64
import re
from typing import Any, get_args, get_type_hints

import pytest
import torch
from msgspec import NODEFAULT, Struct
from msgspec.structs import fields
from torch import nn

from autograder.protocol import answers, messages
from autograder.protocol.answers import AnyAnswer, Reply
from autograder.protocol.events import Event, Line
from autograder.protocol.frames import WireError, decode_frame, encode_frame
from autograder.protocol.messages import AnyMessage, Batch, Call, Make, OfObjects, Target
from autograder.protocol.values import Opaque, Ref
from autograder.worker.session.calls.limit import Limit
from autograder.worker.session.executor import Executor
from tests.protocol.examples import (
    ANSWERS,
    BATCHES,
    MESSAGES,
    REPLIES,
    across,
    assert_same,
    in_words,
    parts,
)

EVERY = (*BATCHES, *REPLIES)
TAG = {Batch: "op", Reply: "is"}
TAGS = {
    kind: {said_of.__struct_config__.tag for said_of in get_args(every)}
    for kind, every in ((Batch, AnyMessage), (Reply, AnyAnswer))
}
NO_VALUE = Opaque("a set")


def inside(sent: Batch | Reply) -> AnyMessage | AnyAnswer:
    return sent.messages[0] if isinstance(sent, Batch) else sent.answer


def name_of(sent: Any) -> str:
    return type(inside(sent) if isinstance(sent, (Batch, Reply)) else sent).__name__


def said(sent: Struct) -> tuple[dict[str, Any], dict[str, Any]]:
    """A batch or a reply in words, and the message or the answer in it, to be changed."""
    words = in_words(sent)
    if "answer" in words:
        return words, words["answer"]
    words["messages"] = list(words["messages"])
    return words, words["messages"][0]


def around(words: Any, kind: type[Struct]) -> dict[str, Any]:
    """Return the message or the answer that is in a frame's words."""
    return {"number": 7, "messages": [words]} if kind is Batch else {"number": 7, "answer": words}


def read(words: Any, kind: type[Struct]) -> Any:
    """Return a frame's words as the other side reads them."""
    return decode_frame(*parts(encode_frame(words)), kind)


# What is sent arrives.


def test_there_is_an_example_of_each():
    assert [type(message) for message in MESSAGES] == list(get_args(AnyMessage))
    assert [type(answer) for answer in ANSWERS] == list(get_args(AnyAnswer))


@pytest.mark.parametrize("example", [*MESSAGES, *ANSWERS], ids=name_of)
def test_in_the_examples_every_field_is_set(example: Struct):
    structs = [example]
    for each in structs:
        for field in fields(each):
            value = getattr(each, field.name)
            assert field.default is NODEFAULT or value != field.default, f"{name_of(each)}.{field.name}"
            assert field.default_factory is NODEFAULT or value, f"{name_of(each)}.{field.name}"
            structs += [value] if isinstance(value, Struct) else []
            structs += [item for item in value if isinstance(item, Struct)] if type(value) is tuple else []


@pytest.mark.parametrize("sent", EVERY, ids=name_of)
def test_every_message_and_answer_arrives_as_it_was(sent: Batch | Reply):
    assert_same(across(sent), sent)


@pytest.mark.parametrize("sent", EVERY, ids=name_of)
def test_what_has_its_default_arrives_without_being_sent(sent: Batch | Reply):
    words, message = said(sent)
    for field in fields(inside(sent)):
        if field.required:
            continue
        del message[field.name]
    (seen, wanted), kind = (inside(read(words, type(sent))), inside(sent)), type(inside(sent))
    assert type(seen) is kind
    for field in fields(kind):
        default = field.default if field.default_factory is NODEFAULT else field.default_factory()
        assert_same(getattr(seen, field.name), getattr(wanted, field.name) if field.required else default)
    assert parts(encode_frame(type(sent)(7, (seen,) if isinstance(sent, Batch) else seen)))


def test_a_batch_arrives_in_its_order():
    assert_same(across(Batch(2**62 - 1, MESSAGES)), Batch(2**62 - 1, MESSAGES))
    assert across(Batch(0, ())) == Batch(0, ())


# What was not sent by this protocol is refused.


def refused(words: Any, kind: type[Struct], because: str = "") -> None:
    with pytest.raises(WireError, match=rf"not a {kind.__name__}: .*{because}"):
        read(words, kind)


@pytest.mark.parametrize("sent", EVERY, ids=name_of)
def test_an_unknown_field_is_refused(sent: Batch | Reply):
    words, message = said(sent)
    assert_same(read(words, type(sent)), sent)  # it is the field that it is refused for
    message["score"] = 10
    refused(words, type(sent), "unknown field `score`")


@pytest.mark.parametrize("place", ["around it", "a target", "how it is made", "a line", "an event"])
def test_an_unknown_field_is_refused_wherever_it_is(place: str):
    by_name = {name_of(sent): sent for sent in EVERY}
    call, call_said = said(by_name["ProbeCall"])
    reply, reply_said = said(by_name["Probed"])
    (event,) = reply_said["events"]
    words, changed = {
        "around it": (call, call),
        "a target": (call, call_said["target"]),
        "how it is made": (call, call_said["made"]),
        "a line": (reply, event["line"]),
        "an event": (reply, event),
    }[place]
    changed["score"] = 10
    refused(words, Batch if words is call else Reply, "unknown field `score`")


FIELDS = {
    f"{name_of(sent)}.{field.name}": (sent, field.name) for sent in EVERY for field in fields(inside(sent))
}
ANYTHING = {"NoModule.value", "Value.value", "Called.value", "Probed.value"}
"""The fields that hold what a student's code has made."""


def hint_of(field: str) -> Any:
    sent, name = FIELDS[field]
    return get_type_hints(type(inside(sent)))[name]


def test_only_a_value_may_be_anything():
    assert {field for field in FIELDS if hint_of(field) is Any} == ANYTHING


WRONG = {
    "no value": Opaque("a set"),
    "an object": Ref(3, "Linear", True),
    "a tensor": torch.ones(2),
    "a tensor without numbers": torch.ones(0),
    "a dtype": torch.int8,
    "a dict with numbers": {1: 2},
}


PAIRS = [(field, wrong) for field in FIELDS for wrong in WRONG]


@pytest.mark.parametrize(("field", "wrong"), PAIRS)
def test_a_wrong_type_in_a_field_is_refused(field: str, wrong: str):
    (sent, name), value = FIELDS[field], WRONG[wrong]
    words, message = said(sent)
    message[name] = value
    if field in ANYTHING:
        assert_same(getattr(inside(read(words, type(sent))), name), value)
    else:
        with pytest.raises(WireError):
            read(words, type(sent))


# fmt: off
WITHIN = [
    ("Begin.seed", True), ("Begin.seed", 1.5), ("Begin.seed", "1"), ("Begin.name", None),
    ("Construct.kwargs", {1: 2}), ("Construct.assembled", {"settings": {}, "lists": {}, "absent": [1]}),
    ("Construct.assembled", {"settings": {}, "lists": {"a": [1]}, "absent": []}),
    ("Load.target", {"name": "f", "number": "1"}), ("Load.target", {"path": ("a", 1)}), ("Load.state", (1,)),
    ("Convert.dtype", "complex128"), ("Convert.dtype", "torch.float32"), ("Convert.dtype", None),
    ("Call.grad", 1), ("Call.grad", None),
    ("ProbeCall.on_cpu", (0, "1")), ("ProbeCall.made", (1,)),
    ("WriteFile.content", None), ("WriteFile.content", [1, 2]), ("WriteFile.continues", 1),
    ("Done.printed", None), ("Done.printed", 5),
    ("Raised.type", None), ("Raised.lines", "line"), ("Raised.lines", (1,)), ("Late.seconds", "1"),
    ("Called.attached", (1, 0)), ("Called.attached", True),
    ("Called.left", (("a", 1),)), ("Called.left", ((1, "a", 2),)), ("Called.left", (1,)),
    ("Gradients.parameters", {1: None}), ("Gradients.parameters", [("w", None)]), ("Gradients.attached", 1),
    ("Registered.shapes", {"w": ("2", 3)}), ("Registered.shapes", {"w": 2}), ("Registered.shapes", {1: (2,)}),
    ("Registered.modules", {"fc": 1}), ("Registered.shared", ("ab",)), ("Registered.shared", ((1,),)),
    ("Probed.events", ("met",)), ("Probed.events", ({"kind": 5},)), ("Probed.events", ({},)),
    ("Probed.events", ({"kind": "met", "line": {"number": 1.5, "text": ""}},)),
    ("Probed.error", {"is": "done"}), ("Probed.error", "no"),
    ("CellRan.outputs", {"a": 1}), ("CellRan.missed", 0), ("CellRan.error", {"is": "raised", "type": "E"}),
]
# fmt: on


@pytest.mark.parametrize(("field", "value"), WITHIN)
def test_a_wrong_type_within_a_field_is_refused(field: str, value: Any):
    sent, name = FIELDS[field]
    words, message = said(sent)
    message[name] = value
    refused(words, type(sent), rf"\.{name}\b")


REQUIRED = [(sent, field.name) for sent in EVERY for field in fields(inside(sent)) if field.required]


@pytest.mark.parametrize(("sent", "field"), REQUIRED, ids=[f"{name_of(s)}.{field}" for s, field in REQUIRED])
def test_a_field_that_is_not_there_is_refused(sent: Batch | Reply, field: str):
    words, message = said(sent)
    del message[field]
    refused(words, type(sent), f"missing required field `{field}`")


@pytest.mark.parametrize("sent", EVERY, ids=name_of)
def test_an_answer_is_no_message_and_a_message_no_answer(sent: Batch | Reply):
    other = Reply if isinstance(sent, Batch) else Batch
    with pytest.raises(WireError, match=f"not a {other.__name__}: "):
        decode_frame(*parts(encode_frame(sent)), other)
    _, message = said(sent)
    refused(around(message, other), other, "missing required field `(op|is)`")


@pytest.mark.parametrize("tag", sorted(TAGS[Reply] - TAGS[Batch]))
def test_an_answers_tag_is_none_of_a_message(tag: str):
    refused(around({"op": tag}, Batch), Batch, rf"Invalid value '{tag}' - at `.*\.op`")


@pytest.mark.parametrize("tag", sorted(TAGS[Batch] - TAGS[Reply]))
def test_a_messages_tag_is_none_of_an_answer(tag: str):
    refused(around({"is": tag}, Reply), Reply, rf"Invalid value '{tag}' - at `.*\.is`")


@pytest.mark.parametrize(
    "tag", ["nothing", "each", "score", "", "Done", "Call", None, 5, NO_VALUE, ("call",)]
)
@pytest.mark.parametrize("kind", [Batch, Reply])
def test_an_unknown_tag_is_refused(kind: type[Struct], tag: Any):
    _, message = said(BATCHES[0] if kind is Batch else REPLIES[0])
    message[TAG[kind]] = tag
    refused(around(message, kind), kind, rf"\.{TAG[kind]}`")


NEITHER = [{}, [1], (None,), {"number": 8}, "call", 1.5, None, NO_VALUE, {1: 2}, torch.ones(2)]


@pytest.mark.parametrize("words", NEITHER, ids=repr)
@pytest.mark.parametrize("kind", [Batch, Reply])
def test_what_is_neither_is_refused(kind: type[Struct], words: Any):
    right = said(BATCHES[0] if kind is Batch else REPLIES[0])[0]
    read(right, kind)
    for wrong in (words, *({**right, field: words} for field in right), around(words, kind)):
        refused(wrong, kind)


def test_of_a_message_without_its_tag_nobody_guesses_what_it_is():
    for sent in EVERY:
        words, message = said(sent)
        del message[TAG[type(sent)]]
        refused(words, type(sent), "missing required field `(op|is)`")


# What is read by a person is cut and cleaned, whoever has sent it.


def test_what_a_person_reads_arrives_cut_and_without_what_steers_a_terminal():
    words, answer = said(REPLIES[-1])
    answer |= {"printed": "p" * 10**6}
    assert len(inside(read(words, Reply)).printed) == answers.MAX_PRINTED
    evil = "a\x1b]0;x\x07\x00\x9b31m\n\tb"
    raised = {"is": "raised", "type": evil * 100, "message": evil * 1000, "lines": [evil * 100] * 9}
    seen = read({"number": 7, "answer": raised}, Reply).answer
    assert len(seen.type) <= 102
    assert len(seen.message) <= 2002
    assert len(seen.lines) == 5
    assert all(len(line) <= 302 for line in seen.lines)
    for text in (seen.type, seen.message, *seen.lines):
        assert text.startswith("a]0;x31m\n\tb")
        assert not re.search(r"[\x00-\x08\x1b\x9b]", text)
    assert read({"number": 7, "answer": raised | {"type": "\x1b"}}, Reply).answer.type == "Exception"
    line = {"number": 7, "text": evil * 100}
    event = dict.fromkeys(("kind", "operation", "name", "dtype"), evil * 100) | {"line": line, "made": line}
    told = read({"number": 7, "answer": {"is": "ran", "device": "cpu", "events": [event]}}, Reply).answer
    (seen,) = told.events
    assert isinstance(seen, Event)
    assert isinstance(seen.line, Line)
    for text in (seen.kind, seen.operation, seen.name, seen.dtype, seen.line.text, seen.made.text):
        assert text.startswith("a]0;x31mb")
        assert text.isprintable()
        assert len(text) <= 300


# Each is done by somebody.


class Half:
    """Not a module."""


def test_every_message_to_objects_is_done():
    executor = Executor({"f": lambda x: x * 2, "Layer": nn.Linear, "layer": nn.Linear(2, 1)})
    layer, x = Target("layer"), torch.ones(2)
    done: list[tuple[OfObjects, type[AnyAnswer]]] = [
        (messages.Begin(name="f", seed=1), answers.Done),
        (messages.Construct(name="Linear", number=-1, args=(2, 1)), answers.Done),
        (messages.Make(target=Target("Layer"), number=-2, args=(2, 1)), answers.Done),
        (messages.Load(target=layer, state=nn.Linear(2, 1).state_dict()), answers.Done),
        (messages.Convert(target=layer, dtype="float64"), answers.Done),
        (messages.Call(target=Target("f"), args=(x,), number=-3, grad=True), answers.Called),
        (messages.Backward(call=-3, weights=[x]), answers.Gradients),
        (messages.ListRegistered(target=Target(number=-1)), answers.Registered),
        (messages.Parameters(target=Target(number=-2)), answers.ParameterValues),
        (messages.Attribute(target=layer.attribute("weight")), answers.Value),
        (messages.ProbeCall(target=layer, args=(x.double(),), device="pretend"), answers.Probed),
    ]
    assert {type(message) for message, _ in done} == set(get_args(OfObjects))
    for message, kind in done:
        (answer,) = executor.perform([message])
        assert type(answer) is kind, answer
        assert getattr(answer, "error", None) is None
        assert across(Reply(1, answer)).number == 1


def test_what_nobody_does_is_said_so():
    """A notebook runs its cells itself."""
    (answer,) = Executor({}).perform([messages.RunCell(source="x = 1")])
    assert isinstance(answer, answers.Raised)
    assert answer.message == "nobody here does RunCell"


def test_a_file_is_written_or_refused(tmp_path):
    raw = base64.b64encode(bytes(range(256))).decode()
    written, empty = tmp_path / "data" / "a.bin", tmp_path / "empty"
    told = Executor({}).perform(
        [
            messages.WriteFile(path=str(written), content=raw),
            messages.WriteFile(path=str(written), content=raw, continues=True),
            messages.WriteFile(path=str(empty), content=""),
            messages.WriteFile(path=str(tmp_path / "data"), content=raw),
        ]
    )
    assert told[:3] == [answers.Done()] * 3
    assert isinstance(told[3], answers.Refused)
    assert "Is a directory" in told[3].message
    assert written.read_bytes() == 2 * bytes(range(256))
    assert empty.read_bytes() == b""


STOPPING = {
    answers.Missing: messages.Begin(name="nowhere", seed=1),
    answers.Raised: Call(target=Target("nowhere")),
    answers.NoModule: Make(target=Target("Half"), number=-1),
    answers.Late: Call(target=Target("endless")),
}


@pytest.mark.parametrize("kind", get_args(answers.Stop), ids=lambda kind: kind.__name__)
def test_after_an_answer_that_stops_nothing_is_done(kind: type[AnyAnswer]):
    names: dict[str, Any] = {"Half": Half, "seen": []}
    exec(compile("def endless():\n    while True: pass\n", "<ipython-input-1>", "exec"), names)
    note = Call(target=Target("seen", path=("append",)), args=(1,))
    told = Executor(names, Limit(0.2)).perform([note, STOPPING[kind], note])
    assert [type(answer) for answer in told] == [answers.Called, kind]
    assert names["seen"] == [1]


def test_what_is_printed_is_told_with_the_message_that_printed_it():
    executor = Executor({"f": lambda x: print("here", x) or x, "g": lambda: 1})
    first, second, third = executor.perform(
        [Call(target=Target("f"), args=(1,)), Call(target=Target("g")), Call(target=Target("f"), args=(2,))]
    )
    assert [first.printed, second.printed, third.printed] == ["here 1\n", "", "here 2\n"]
