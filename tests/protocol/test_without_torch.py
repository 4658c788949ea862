"""The protocol without torch: tensors are one codec, and the worker's entry imports torch as it starts."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import autograder.protocol
from autograder.grading.workers.forkserver import clean_environment

MODULES = [f"autograder.protocol.{each.name}" for each in pkgutil.iter_modules(autograder.protocol.__path__)]
WITH_TORCH = "autograder.protocol.tensors"
BLOCKED = """
import sys
sys.modules["torch"] = None
from importlib import import_module
for name in sys.argv[1:]:
    import_module(name)
from autograder.protocol.answers import Called, Raised, Reply
from autograder.protocol.frames import SIZES, WireError, decode_frame, encode_frame
from autograder.protocol.messages import Batch, Begin, Convert, Target
def across(sent, body=b""):
    frame = encode_frame(sent)
    header, _ = SIZES.unpack(frame[:SIZES.size])
    return decode_frame(frame[SIZES.size:][:header], bytearray(body), type(sent))
batch = Batch(1, (Begin(name="cell", seed=3), Convert(target=Target("cell"), dtype="float64")))
reply = Reply(1, Called(value=(1.5, {"a": None}), attached=(True,)))
assert (across(batch), across(reply)) == (batch, reply)
for body, wrong in ((b"8 bytes.", reply), (b"", Batch(1, (Convert(target=Target("f"), dtype="object"),)))):
    try:
        across(wrong, body)
    except WireError:
        continue
    raise AssertionError(wrong)
"""


def test_the_protocol_and_the_workers_entry_need_no_torch():
    assert WITH_TORCH in MODULES
    entry = ["autograder.worker", "autograder.worker.forkserver", "autograder.worker.sandbox.supervisor"]
    names = [*(name for name in MODULES if name != WITH_TORCH), *entry]
    told = subprocess.run(
        [sys.executable, "-c", BLOCKED, *names], capture_output=True, text=True, env=clean_environment()
    )
    assert told.returncode == 0, told.stderr
