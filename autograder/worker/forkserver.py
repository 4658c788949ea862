"""The fork server: imports everything slow once, then forks a supervisor for every job it is sent.

Started by the trusted side with a clean environment and one connected SEQPACKET socket. The first message
on it names the modules to import for all workers, as JSON; torch is imported only if it is among them. Each
message after that is `job` and carries two descriptors, the worker's end of the data socket and the
supervisor's end of the control socket. What the job is about is read after the fork, by the forked side, so
that no job is in memory that a later job inherits. A `job` may be followed by what its worker is to be
without (`Without`, as JSON): such workers are forked from a copy of the parent, made once, from which that
has been taken away.
"""

from __future__ import annotations

import argparse
import codecs
import gc
import json
import linecache
import os
import random
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

READY = b"ready"
JOB = b"job"
_MESSAGE_BYTES = 64 << 10


def main() -> NoReturn:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int, required=True)
    parser.add_argument("--level", required=True)
    parser.add_argument("--memory-bytes", type=int, required=True)
    parser.add_argument("--gpu-bytes", type=int, default=0)
    parser.add_argument("--torch", action="store_true", help="import it before being told that it is wanted")
    parser.add_argument("--hidden", action="append", default=[])
    parser.add_argument("--import", dest="imports", action="append", default=[])
    parser.add_argument("--stub", dest="stubs", nargs=2, action="append", default=[])
    arguments = parser.parse_args()
    listener = socket.socket(fileno=arguments.fd)
    gc.disable()  # imports leave little garbage, and looking for it would be a fifth of what they take
    _import_and_warm(arguments.imports, arguments.stubs)
    if arguments.torch:
        _warm_torch()
    told = listener.recv(_MESSAGE_BYTES)
    if not told:
        os._exit(0)  # whoever started it has nothing to do for it
    _settle(json.loads(told))
    _serve(listener, arguments)


def _import_and_warm(imports: Sequence[str], stubs: Sequence[tuple[str, str]]) -> None:
    """Pay for what is slow on first use and needed in any notebook, without starting a thread.

    `imports` are modules that students' notebooks import. Each of `stubs` is a function of one of them that
    is nothing to a worker, as `module:name`, and what it prints in place of doing its work.
    """
    import importlib
    import platform

    import autograder
    from autograder.worker.session import shell

    platform.processor()  # spawns `uname` once per process unless it is known
    modules = {name: importlib.import_module(name) for name in imports}
    for place, says in stubs:
        module, _, name = place.partition(":")
        setattr(modules[module], name, partial(_stand_in, says))
    shell.build_shell().run("pass")
    _hide_own_lines(Path(autograder.__file__).parent)


def _warm_torch() -> None:
    """Import torch and what answers about its objects, and have both do all that is slow once."""
    import matplotlib
    import matplotlib.pyplot
    import numpy.random  # noqa: F401  (a worker is seeded with it, and numpy leaves it to the first use)
    import torch
    from msgspec.structs import replace
    from torch import nn

    from autograder.protocol import stream
    from autograder.protocol.messages import Batch, Call, Made, ProbeCall, Target
    from autograder.worker.session import shell
    from autograder.worker.session.eager import compile_nothing
    from autograder.worker.session.executor import Executor

    torch.set_num_threads(1)
    compile_nothing()
    matplotlib.interactive(False)
    ready = shell.Shell.instance()
    # A seed notes the stack for each kind of device, so the first one reads the files of all that is on it.
    ready.run("import torch\ntorch.manual_seed(0)")
    ready.user_ns.pop("torch")
    call = Call(target=Target("f"), args=(torch.zeros(2, 2),))
    there = ProbeCall(target=Target("Layer"), made=Made(args=(2, 2)), args=(torch.zeros(1, 2),))
    Executor({"f": lambda x: torch.tanh(x @ x), "Layer": nn.Linear}).perform(
        [
            replace(call, grad=True),
            replace(there, device="pretend"),
            replace(there, dtype="float64", trace="coarser"),
            replace(there, dtype="float64", trace="all"),
        ]
    )
    # The library behind these builds its kernels on first use: a tenth of a second, once for each dtype.
    kinds: list[Any] = [k for k in vars(nn).values() if isinstance(k, type) and issubclass(k, nn.RNNBase)]
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.zeros(1, 1, 2, dtype=dtype)
        for part in (nn.Linear(2, 2), *(kind(2, 2) for kind in kinds if kind is not nn.RNNBase)):
            part.to(dtype)(x)
            with torch.no_grad():
                part(x)
    one, other = socket.socketpair()
    stream.Stream(one).send(Batch(1, (call, there)))
    stream.Stream(other).receive(Batch)
    one.close()
    other.close()


def _hide_own_lines(home: Path) -> None:
    """Keep `linecache` from looking for our own files, which workers may not read: it takes a millisecond."""
    for path in map(str, home.rglob("*.py")):
        linecache.cache[path] = (0, None, [], path)


def _settle(preload: Sequence[str]) -> None:
    """Import what this batch wants besides, and make ready to fork."""
    import importlib.util

    from autograder.worker.sandbox import syscalls

    if "torch" in preload and "torch" not in sys.modules:
        _warm_torch()
    for module in preload:
        if module == "pandas" and importlib.util.find_spec("pyarrow"):
            continue  # pandas imports it, and it starts a thread
        with suppress(ImportError):  # a notebook's own `import` says what is wrong
            importlib.import_module(module)
    if matplotlib := sys.modules.get("matplotlib"):
        matplotlib.interactive(False)
    # What is here now is never garbage: a collection in a worker would only write into pages that it shares.
    gc.freeze()
    gc.enable()
    syscalls.collapse_memory()
    threads = len(list(Path("/proc/self/task").iterdir()))
    if threads != 1:
        raise SystemExit(f"the fork server must have one thread to fork safely; it has {threads}")


def _serve(listener: socket.socket, arguments: argparse.Namespace) -> NoReturn:
    from autograder.worker.sandbox import mounts, seccomp
    from autograder.worker.sandbox.probe import Level, Limits, default_readable
    from autograder.worker.sandbox.supervisor import supervise

    level, limits = Level(arguments.level), Limits(arguments.memory_bytes, gpu_bytes=arguments.gpu_bytes)
    readable = default_readable()
    mounts.layout_once(readable, tuple(arguments.hidden))
    codecs.lookup("ascii")  # in which the supervisor reads /proc; Python would look for it after the fork
    seccomp.program(private_root=level is Level.NAMESPACES)  # compiled once, kept for every fork
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # supervisors are reaped by the kernel
    listener.send(READY)
    copies: dict[bytes, socket.socket] = {}
    while True:
        message, descriptors, _, _ = socket.recv_fds(listener, _MESSAGE_BYTES, 2)
        if not message:
            os._exit(0)
        kind, _, lacking = message.partition(b" ")
        if kind != JOB or len(descriptors) != 2:
            raise SystemExit("the fork server got a message it does not know")
        data_fd, control_fd = descriptors
        if lacking:
            if lacking not in copies:
                others = (listener, *copies.values())
                copies[lacking] = _copy_without(lacking.decode(), others, descriptors, arguments)
            socket.send_fds(copies[lacking], [JOB], descriptors)
            os.close(data_fd)
            os.close(control_fd)
            continue
        pid = os.fork()
        if pid == 0:
            listener.close()
            supervise(
                data_fd,
                control_fd,
                partial(_work, data_fd),
                level=level,
                limits=limits,
                readable=readable,
                hidden=arguments.hidden,
            )
        os.close(data_fd)
        os.close(control_fd)


def _copy_without(
    lacking: str, others: Sequence[socket.socket], descriptors: Sequence[int], arguments: argparse.Namespace
) -> socket.socket:
    """Fork a parent with parts of torch disabled, and return the socket that it takes jobs from."""
    import msgspec

    from autograder.protocol.without import Without
    from autograder.worker.sandbox import syscalls
    from autograder.worker.session.taken_away import take_away, unreadable

    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        for other in (here, *others):
            other.close()
        for descriptor in descriptors:
            os.close(descriptor)
        without = msgspec.json.decode(lacking, type=Without)
        arguments.hidden = [*arguments.hidden, *unreadable(without)]
        take_away(without)
        syscalls.collapse_memory()
        _serve(there, arguments)
    there.close()
    if here.recv(16) != READY:
        raise SystemExit("a parent of workers that lack something did not start")
    return here


def _work(data_fd: int) -> None:
    """The worker's life, inside the confinement."""
    from autograder.protocol.stream import Stream
    from autograder.worker.session.answering import Answering
    from autograder.worker.session.shell import Shell, serve

    answering: type[Answering] = Answering
    seed = int.from_bytes(os.urandom(4), "big")  # siblings would draw the same numbers otherwise
    random.seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed)
    if torch := sys.modules.get("torch"):
        from autograder.worker.session.executor import Executor

        answering = Executor
        torch.default_generator.manual_seed(seed)  # torch.manual_seed reads a traceback for each device
        torch.set_num_threads(1)
    serve(Stream(socket.socket(fileno=data_fd)), Shell.instance(), answering)


def _stand_in(says: str, *_: Any, **__: Any) -> None:
    """Stand in for a function that has nothing to do in a worker."""
    if says:
        print(says)


if __name__ == "__main__":
    sys.exit(main())
