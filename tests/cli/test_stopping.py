"""Interrupts reach the command wherever they arrive."""

import subprocess
import sys

import pytest

IN_A_HOOK_AFTER_A_FORK = """
    signals = [{number}] * {times}
    os.register_at_fork(after_in_parent=lambda: signals and signal.raise_signal(signals.pop()))
    def begin():
        for _ in range({times}):
            if not os.fork():
                os._exit(0)
"""
IN_A_FINALIZER = """
    class Held:
        def __del__(self):
            signal.raise_signal({number})
    def begin():
        Held()
"""
SCRIPT = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs in the background ignores it
sys.unraisablehook = lambda _: print("dropped", file=sys.stderr)
from autograder.cli.stopping import stoppable
if True:{at}
try:
    with stoppable() as stopping:
        begin()
        time.sleep(30)
except KeyboardInterrupt:
    sys.exit(stopping.status)
"""


@pytest.mark.parametrize("number", [2, 15])
@pytest.mark.parametrize(
    "at",
    [
        IN_A_HOOK_AFTER_A_FORK.replace("{times}", "1"),
        IN_A_HOOK_AFTER_A_FORK.replace("{times}", "3"),
        IN_A_FINALIZER,
    ],
)
def test_an_interrupt_in_a_hook_that_drops_what_is_raised_still_ends_the_command(at, number):
    script = SCRIPT.replace("{at}", at.replace("{number}", str(number)))
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=10)
    assert (ended.returncode, ended.stderr) == (128 + number, "")


def test_what_else_a_finalizer_raises_is_reported_as_before():
    script = SCRIPT.replace("{at}", IN_A_FINALIZER.replace("signal.raise_signal({number})", "1 / 0"))
    script = script.replace("time.sleep(30)", "pass")
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=10)
    assert (ended.returncode, ended.stderr) == (0, "dropped\n")
