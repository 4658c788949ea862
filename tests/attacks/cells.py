"""Hostile cells: what a student might put into a notebook to gain points, to look around or to break the batch.

Each is put into the released notebook, in which nothing is solved: as the answer to a task, or as a cell
of the student's own in front of everything. The attacker knows where everything lies: `@COURSE@`,
`@HOME@` and the like in a source are replaced by the real places of the run.
"""

from __future__ import annotations

from typing import NamedTuple


class Attack(NamedTuple):
    """One hostile cell."""

    place: str
    """The task whose cell it is, or `added` for a cell of the student's own."""
    source: str
    aim: str
    """What it is after."""
    earns: float = 0.0
    """What the same cell would earn without the trick."""
    hangs: bool = False
    """Whether it takes a limit's time or memory to end it; run with smaller limits then."""
    told: str = ""
    """Words of the notebook or the verdict without which the attack has not begun, and proves nothing."""


ADDED = "added"
OVER = "attack over"
"""Printed by attacks that get to their end: one that trips over itself proves nothing."""
LOOT = "LO-OT"
"""Printed in front of whatever an attack got hold of."""

_LOOK = """
import glob, os, sys
def look(what, deed):
    try:
        got = deed()
    except BaseException as error:
        print(what, "->", type(error).__name__)
    else:
        if got not in (None, [], "", b"", -1, False):
            print("LO-" + "OT", what, repr(got)[:2000])
def read(*paths):
    for path in paths:
        look(path, lambda: open(path, "rb").read(100_000))
        look(path, lambda: os.listdir(path))
"""
_OVER = "\nprint('attack over')\n"
_REFUSED = "sent back something that is no answer"


def _looks(source: str) -> str:
    return _LOOK + source + _OVER


def _gates(body: str) -> str:
    """An answer to the first task with that body; `x, h, *weights` are its arguments."""
    lines = "\n".join("    " + line for line in body.strip("\n").splitlines())
    return f"def lstm_gates(x, h, *weights):\n{lines}"


# --- Looking around: nothing that lies outside may be seen or changed -----------------------------

READING = {
    "gradebook": Attack(ADDED, _looks("""
import sqlite3
read("@COURSE@/gradebook.db", "@COURSE@", "/proc/1/root@COURSE@/gradebook.db", "/proc/self/cwd/../..@COURSE@/gradebook.db")
def update():
    with sqlite3.connect("file:@COURSE@/gradebook.db?mode=rw", uri=True) as book:
        return book.execute("UPDATE grade SET auto_score = 10, manual_score = 10").rowcount
look("gradebook", update)
look("gradebook", lambda: open("@COURSE@/gradebook.db", "r+b").write(b"x"))
"""), "read the gradebook, and write full marks into it"),
    "other submissions": Attack(ADDED, _looks("""
read("@COURSE@/submitted", "@PEER@", *glob.glob("@COURSE@/*/*/*/*.ipynb"))
look("copy", lambda: os.link("@PEER@", "/tmp/stolen") or "linked")
look("spoil", lambda: open("@PEER@", "w").write("spoiled"))
look("remove", lambda: os.remove("@PEER@") or "removed")
"""), "copy another student's answers, and spoil them"),
    "source notebooks": Attack(ADDED, _looks("""
read("@COURSE@/source", "@COURSE@/source/notes.txt", "@COURSE@/source/03_lstm_cell/lstm_cell.ipynb", "@COURSE@/release/03_lstm_cell/lstm_cell.ipynb")
"""), "read the instructor's notebook, which has the solutions"),
    "known mistakes": Attack(ADDED, _looks("""
read("@COURSE@/solutions", "@COURSE@/solutions/mistakes", "@COURSE@/solutions/mistakes/notes.toml")
"""), "read the catalogue of known mistakes"),
    "verdicts and seed": Attack(ADDED, _looks("""
read("@COURSE@/verdicts/03_lstm_cell", "@COURSE@/verdicts/03_lstm_cell/earlier.json", "@COURSE@/.autograder/seed")
look("verdict", lambda: open("@COURSE@/verdicts/03_lstm_cell/mine.json", "w").write("{}"))
"""), "read verdicts and the secret seed, and write a verdict"),
    "home": Attack(ADDED, _looks("""
read("@HOME@", "@HOME@/.ssh", "@HOME@/.ssh/id_ed25519", os.path.expanduser("~root/.ssh"), "/root/.bashrc", "/root/.ssh")
look("home", lambda: open("@HOME@/.bashrc", "a").write("touch /tmp/owned"))
"""), "read the grader's keys, and plant a command"),
    "system files": Attack(ADDED, _looks("""
read("/etc/passwd", "/etc/shadow", "/etc/hosts", "/sys/kernel", "/boot", "/proc/kcore", "/proc/sys/kernel/core_pattern", "/dev/mem", "/dev/kmsg")
look("core", lambda: open("/proc/sys/kernel/core_pattern", "w").write("|/tmp/x"))
look("sysrq", lambda: open("/proc/sysrq-trigger", "w").write("b"))
"""), "read and set what belongs to the machine"),
    "outside files": Attack(ADDED, _looks("""
read("@OUTSIDE@", "@OUTSIDE@/notes.txt")
look("append", lambda: open("@OUTSIDE@/notes.txt", "a").write("!"))
look("new", lambda: open("@OUTSIDE@/new", "w").write("!"))
look("truncate", lambda: os.truncate("@OUTSIDE@/notes.txt", 0) or "cut")
look("mode", lambda: os.chmod("@OUTSIDE@/notes.txt", 0) or "changed")
look("times", lambda: os.utime("@OUTSIDE@/notes.txt", (0, 0)) or "changed")
look("remove", lambda: os.remove("@OUTSIDE@/notes.txt") or "removed")
os.symlink("@OUTSIDE@/notes.txt", "/tmp/way")
read("/tmp/way")
"""), "change files that everybody on the machine may write"),
    "shell lines": Attack(ADDED, """
got = !cat @OUTSIDE@/notes.txt @COURSE@/gradebook.db @HOME@/.ssh/id_ed25519; rm -rf @COURSE@/submitted @OUTSIDE@/notes.txt
print(got)
print(get_ipython().getoutput("cat @OUTSIDE@/notes.txt"))
print('attack over')
%cd @COURSE@
!touch @OUTSIDE@/new
""", "the same by IPython's shell lines"),
    "cell magics": Attack(ADDED, "%%bash\ncat @OUTSIDE@/notes.txt @PEER@; ls -la @COURSE@/*", "the same by a cell of bash"),
    "writefile": Attack(ADDED, "%%writefile @COURSE@/nbgrader_config.py\nimport os; os.system('touch @OUTSIDE@/new')", "replace the course's configuration, which is Python"),
    "startup files": Attack(ADDED, _looks("""
import site, sysconfig
for folder in {sysconfig.get_path("purelib"), site.getusersitepackages(), "@PACKAGE@", sys.prefix, os.getcwd()} - {os.getcwd()}:
    look(folder, lambda: open(folder + "/attacked.pth", "w").write("import os"))
    look(folder, lambda: open(folder + "/attacked.py", "w").write("import os"))
"""), "leave code where the next Python picks it up"),
    "hidden checks": Attack(ADDED, _looks("""
import importlib, inspect, pkgutil
import autograder
read("@PACKAGE@/exercises/lstm_cell/test_LSTMCell.py", "@PACKAGE@/exercises", "@PACKAGE@/grading/judging/judge.py", autograder.__file__)
for name in ("autograder.exercises.lstm_cell.test_LSTMCell", "autograder.checking.runner.checks", "autograder.grading.batch", "autograder_checks", "autograder_course"):
    look(name, lambda: importlib.import_module(name).__name__)
look("modules", lambda: [m.name for m in pkgutil.walk_packages(autograder.__path__)])
look("source", lambda: inspect.getsource(autograder.check))
look("loader", lambda: autograder.__loader__.get_data("@PACKAGE@/exercises/lstm_cell/test_LSTMCell.py"))
"""), "read the hidden checks out of the package"),
    "environment": Attack(ADDED, _looks("""
import ctypes
print(dict(os.environ), open("/proc/self/environ", "rb").read().strip(b"\\0"), open("/proc/1/environ", "rb").read().strip(b"\\0"))
look("getenv", lambda: ctypes.CDLL(None).getenv(b"GRADING_TOKEN"))
"""), "find the grader's tokens among the variables"),
    "own memory": Attack(ADDED, _looks("""
import gc, re
needle = bytes(reversed(b"=NEKOT_GNIDARG"))
found = []
with open("/proc/self/mem", "rb", buffering=0) as memory:
    for line in open("/proc/self/maps"):
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if " rw-p " in line and end - start < 1 << 28:
            try:
                memory.seek(start)
                block = memory.read(end - start)
            except (OSError, ValueError, OverflowError):
                continue
            found += [block[at.start() : at.start() + 60] for at in re.finditer(re.escape(needle), block)]
            found += [block[at.start() : at.start() + 200] for at in re.finditer(b"outstanding secret ", block)]
print(found[:20], [o for o in gc.get_objects() if isinstance(o, dict) and "seed" in o][:5])
"""), "find secrets in what the worker inherited at the fork"),
    "other processes": Attack(ADDED, _looks("""
for pid in {*filter(str.isdigit, os.listdir("/proc")), "@VICTIM@", str(os.getppid())} - {"1", "0", str(os.getpid())}:
    for name in ("environ", "cmdline", "maps", "mem", "stat", "fd", "cwd", "root"):
        read(f"/proc/{pid}/{name}")
"""), "see other processes, their variables and files"),
    "descriptors": Attack(ADDED, _looks("""
import socket, stat
for number in range(3, 4096):
    try:
        kind = os.fstat(number).st_mode
    except OSError:
        continue
    if stat.S_ISREG(kind) or stat.S_ISDIR(kind):
        look(number, lambda: os.readlink(f"/proc/self/fd/{number}"))
print([os.readlink(f"/proc/self/fd/{n}") for n in (0, 1, 2)])
"""), "use files that the grader left open"),
    "network": Attack(ADDED, _looks("""
import socket, urllib.request
def dial(address, kind=socket.SOCK_STREAM, family=socket.AF_INET):
    with socket.socket(family, kind) as client:
        client.settimeout(2)
        client.connect(address)
        client.send(b"stolen")
        return "connected"
look("tcp", lambda: dial(("127.0.0.1", @PORT@)))
look("udp", lambda: dial(("127.0.0.1", @PORT@), socket.SOCK_DGRAM))
look("six", lambda: dial(("::1", @PORT@), family=socket.AF_INET6))
look("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1) and "raw")
look("packet", lambda: socket.socket(17, socket.SOCK_RAW) and "packet")
look("netlink", lambda: socket.socket(16, socket.SOCK_RAW) and "netlink")
look("vsock", lambda: socket.socket(40, socket.SOCK_STREAM) and "vsock")
look("name", lambda: socket.gethostbyname("example.org"))
look("web", lambda: urllib.request.urlopen("http://127.0.0.1:@PORT@/", timeout=2).status)
"""), "send answers out, or fetch them"),
    "sockets of others": Attack(ADDED, _looks("""
import socket
def dial(address, kind):
    with socket.socket(socket.AF_UNIX, kind) as client:
        client.connect(address)
        return "connected"
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    look("abstract", lambda: dial("\\0@ABSTRACT@", kind))
    look("named", lambda: dial("@OUTSIDE@/socket", kind))
    look("docker", lambda: dial("/var/run/docker.sock", kind))
pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
look("sendmsg", lambda: pair[0].sendmsg([b"x"], (), 0, "\\0@ABSTRACT@"))
"""), "talk to a service on the machine by abstract and named sockets"),
    "signals": Attack(ADDED, _looks("""
import signal
for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
    look("victim", lambda: os.kill(@VICTIM@, number) or "signalled")
    look("group", lambda: os.killpg(@VICTIM@, number) or "signalled")
    look("parent", lambda: os.kill(os.getppid(), number) or "signalled" if os.getppid() > 1 else None)
look("pidfd", lambda: signal.pidfd_send_signal(os.pidfd_open(@VICTIM@), signal.SIGKILL) or "signalled")
"""), "kill or stop whoever runs on the machine"),
    "ptrace": Attack(ADDED, _looks("""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for pid in (@VICTIM@, 1, os.getppid()):
    look("attach", lambda: libc.ptrace(16, pid, 0, 0) == 0 and "attached")
    look("seize", lambda: libc.ptrace(0x4206, pid, 0, 0) == 0 and "seized")
    look("vm", lambda: libc.syscall(310, pid, 0, 0, 0, 0, 0) == 0 and "read")
"""), "trace another process, the supervisor or itself"),
    "privileges": Attack(ADDED, _looks("""
import ctypes, shutil, subprocess
libc = ctypes.CDLL(None, use_errno=True)
for call, arguments in {"unshare": (0x10000000,), "setuid": (0,), "chroot": (b"/tmp",), "setns": (0, 0),
                        "mount": (b"none", b"/tmp", b"tmpfs", 0, 0), "umount2": (b"/tmp", 2)}.items():
    look(call, lambda: getattr(libc, call)(*arguments) == 0 and "done")
programs = [path for folder in ("/usr/bin", "/usr/sbin", "/usr/lib/openssh") for path in glob.glob(folder + "/*") if os.stat(path).st_mode & 0o6000]
for path in programs[:6]:
    for arguments in (["-c", "id -u; cat @OUTSIDE@/notes.txt"], ["--bind", "/", "/tmp"]):
        look(path, lambda: subprocess.run([path, *arguments], capture_output=True, timeout=3, input=b"\\n").returncode == 0 and "done")
look("sudo", lambda: subprocess.run(["sudo", "-n", "id"], capture_output=True).returncode == 0 and "done")
"""), "become root again: set-uid programs, namespaces, mounts"),
    "locks": Attack(ADDED, _looks("""
import fcntl, os, struct
def locked(how, ask):
    one, other = os.open(os.__file__, os.O_RDONLY), os.open(os.__file__, os.O_RDONLY)
    how(one)
    try:
        return ask(other) and "another descriptor sees the lock"
    except BlockingIOError:
        return "another descriptor has to wait"
    finally:
        os.close(one), os.close(other)
def record(kind):
    return struct.pack("hhqqi4x", kind, 0, 0, 1, 0)
def seen(descriptor):
    return struct.unpack_from("h", fcntl.fcntl(descriptor, 36, record(fcntl.F_WRLCK)))[0] != fcntl.F_UNLCK
look("flock", lambda: locked(lambda one: fcntl.flock(one, fcntl.LOCK_EX),
                             lambda other: fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)))
look("record", lambda: locked(lambda one: fcntl.fcntl(one, 37, record(fcntl.F_RDLCK)), seen))
look("notice", lambda: fcntl.fcntl(os.open(os.path.dirname(os.__file__), os.O_RDONLY), fcntl.F_NOTIFY, 1) == 0 and "set")
"""), "signal to another worker by a lock on a file that both can read"),
    "a stash": Attack("lstm_gates", _LOOK + """
import secrets
look("stash", lambda: [open(f).read() for f in glob.glob("/tmp/stash*") + glob.glob("/dev/shm/stash*")])
for folder in ("/tmp", "/dev/shm"):
    open(f"{folder}/stash-{secrets.token_hex(4)}", "w").write("what the last worker saw")
print('attack over')
def lstm_gates(*arguments):
    os._exit(0)  # the next worker runs this cell again
""", "leave something for the next worker or the next submission"),
}  # fmt: skip

# The task behind one that failed is judged a second time, in a worker that has seen the solution of the first.
READING["the solution in a message"] = Attack("lstm_cell", """
import linecache
def lstm_gates(x, h, *weights):
    return h, h, h, h
def lstm_cell(x, h, c, *weights):
    lines = [line for entry in linecache.cache.values() if len(entry) > 2 for line in entry[2]]
    stolen = "".join(line for line in lines if "chunk(4" in line and "stolen" not in line)
    raise ValueError("L" + "O-OT " + stolen if stolen else "nothing")
print('attack over')
""", "put the solution that stands beside a second judging into an error message")  # fmt: skip

# --- Using up: the machine goes on, the others too ------------------------------------------------

USING = {
    "fork bomb": Attack(ADDED, """
import os, time
born = 0
for _ in range(400):
    try:
        if os.fork() == 0:
            time.sleep(1000); os._exit(0)
    except OSError:
        break
    born += 1
assert born < 100, born
print('attack over')
""", "take all process numbers"),
    "endless fork bomb": Attack("lstm_gates", _gates("import os\nwhile True:\n    try: os.fork()\n    except BaseException: pass"), "fork for ever, in every child", hangs=True),
    "threads": Attack(ADDED, """
import threading, time
begun = 0
try:
    for _ in range(5000):
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        begun += 1
except RuntimeError:
    pass
assert begun < 100, begun
print('attack over')
""", "start threads by the thousand"),
    "memory": Attack("lstm_gates", "kept = []\nwhile True: kept.append(bytearray(b'x') * (16 << 20))", "take all memory in one process", hangs=True),
    "memory of many": Attack(ADDED, """
import os, time
for _ in range(8):
    if os.fork() == 0:
        kept = bytearray(b"x") * (200 << 20)
        time.sleep(1000); os._exit(0)
time.sleep(1000)
""", "take it by several processes, each within its limit", hangs=True),
    "full disk": Attack(ADDED, """
import os
for folder in ("/tmp", "/dev/shm", os.path.expanduser("~"), os.getcwd(), "/var/tmp", "/run"):
    written = 0
    for number in range(40):
        try:
            with open(f"{folder}/fill-{number}", "wb", buffering=0) as file:
                for _ in range(64):
                    written += file.write(bytes(1 << 20))
        except OSError:
            continue
    assert written <= 70 << 20, (folder, written)
print('attack over')
""", "fill every disk that can be written"),
    "all inodes": Attack(ADDED, """
import os
made = 0
try:
    for number in range(100_000):
        open(f"/tmp/{number}", "w").close()
        made += 1
except OSError:
    pass
assert made < 10_000, made
print('attack over')
""", "make files without number"),
    "memory without a name": Attack(ADDED, """
import ctypes, mmap, os
from multiprocessing import shared_memory
libc = ctypes.CDLL(None, use_errno=True)
got = []
for deed in (lambda: os.memfd_create("x"), lambda: mmap.mmap(-1, 1 << 30),
             lambda: os.fdopen(os.open("/dev/zero", os.O_RDWR)), lambda: shared_memory.SharedMemory(create=True, size=1 << 30).buf.__setitem__(slice(None), bytes(1 << 30))):
    try:
        got.append(deed())
    except BaseException as error:
        print(type(error).__name__)
assert not got and libc.shmget(0, 1 << 20, 0o1600) == -1 and libc.msgget(0, 0o1600) == -1, got
print('attack over')
""", "take memory that no process is charged for"),
    "a flood of prints": Attack(ADDED, "import sys\nfor _ in range(300): print('x' * 200_000); print('y' * 200_000, file=sys.stderr)", "make the graded notebook huge"),
    "a flood of displays": Attack(ADDED, "from IPython.display import display, HTML\nfor i in range(3000): display(HTML('<b>x</b>' * 5000), {'a': 'y' * 5000})\n'z' * 10_000_000", "the same by displayed objects"),
    "huge errors": Attack("lstm_gates", _gates("raise type('E' * 1_000_000, (Exception,), {})('m' * 50_000_000)"), "the same by an exception's name and message"),
    "nested errors": Attack("lstm_gates", """
def lstm_gates(*arguments):
    error = ValueError("the innermost")
    for _ in range(20_000):
        outer = ValueError("outer"); outer.__cause__ = outer.__context__ = error; error = outer
    group = error
    for _ in range(3000):
        group = ExceptionGroup("g", [group])
    raise group
try:
    lstm_gates()
finally:
    print('attack over')
""", "an error that is told by recursion"),
    "a daemon": Attack(ADDED, """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        while True:
            time.sleep(0.1)
            try: open("@OUTSIDE@/new", "w").write("still here")
            except OSError: pass
    os._exit(0)
os.wait()
import subprocess
subprocess.Popen(["/bin/sh", "-c", "trap '' TERM HUP INT; nohup setsid sleep 1000 & sleep 1000"], start_new_session=True)
print('attack over')
""", "live on after the submission"),
    "no descriptors left": Attack(ADDED, "import os\nkept = []\ntry:\n    while True: kept.append(os.pipe())\nexcept OSError: print('attack over')", "open files until none can be"),
}  # fmt: skip

# --- Ending: the cell, its process, its supervisor ------------------------------------------------

ENDING = {
    "exit": Attack("lstm_gates", _gates("import os; os._exit(0)"), "end the process in the middle of a check, as if all were well"),
    "exit in a cell": Attack("lstm_gates", "import os; os._exit(0)", "the same while the cell is run"),
    "SystemExit": Attack("lstm_gates", _gates("import sys; sys.exit(0)"), "the same, politely"),
    "kills": Attack("lstm_gates", _gates("""
import os, signal
for victim in (os.getpid(), os.getppid() or 1, -1, 0, 1):
    for number in (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV):
        try: os.kill(victim, number)
        except OSError: pass
os.abort()"""), "kill itself, the supervisor and everybody"),
    "stop": Attack("lstm_gates", _gates("import os, signal; os.kill(os.getpid(), signal.SIGSTOP); os.kill(0, signal.SIGSTOP)\nwhile True: signal.pause()"), "stop itself, and so the judge", hangs=True),
    "sleep": Attack("lstm_gates", _gates("import time; time.sleep(10**6)"), "sleep for ever", hangs=True),
    "sleep in a cell": Attack(ADDED, "import time; time.sleep(10**6)", "sleep for ever while the cell is run", hangs=True),
    "stubborn": Attack("lstm_gates", _gates("""
import signal, time
for number in range(1, 65):
    try: signal.signal(number, lambda *_: None)
    except (OSError, ValueError): pass
while True:
    try:
        while True: time.sleep(0.01)
    except BaseException: continue"""), "catch SIGALRM, KeyboardInterrupt and whatever else might end it", hangs=True),
    "endless words": Attack("lstm_gates", """
class Endless:
    def __repr__(self):
        while True: pass
    __str__ = __len__ = __iter__ = __format__ = _repr_html_ = __repr__
Endless()
""", "never finish to say what it is", hangs=True),
    "atexit": Attack(ADDED, """
import atexit, os, sys, threading
class Last:
    def __del__(self): os._exit(0)
last = Last()
atexit.register(lambda: print("10.0"))
atexit.register(os._exit, 0)
threading._register_atexit(os._exit, 0)
sys.excepthook = sys.unraisablehook = threading.excepthook = lambda *_: os._exit(0)
del last
""", "act when the process ends or an object dies"),
    "an alarm": Attack(ADDED, """
import os, signal
from autograder.worker.session import objects
def ring(number, frame):
    while frame:
        for name in ("answer", "value", "result"):
            if name in frame.f_locals: frame.f_locals[name] = {"found": True, "value": 10.0}
        frame = frame.f_back
    raise objects.Objects  # a class that is no exception
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
""", "interrupt the worker between answers by a timer of its own"),
}  # fmt: skip

# --- Forging: what the worker says is no verdict ---------------------------------------------------

_WRITE = """
import gc, os, threading, time
from autograder.protocol import answers, frames, messages, stream as wire
stream = next(o for o in gc.get_objects() if type(o) is wire.Stream)
def reply(number, answer=answers.Called(value=(1.0, 1.0), attached=(True, True))):
    return frames.encode_frame(answers.Reply(number, answer))
def answer_all():
    while True:
        batch = stream.receive(messages.Batch)
        stream.send_frames([reply(batch.number)] * len(batch.messages))
"""

FORGING = {
    "torch": Attack(ADDED, """
import torch, torch.testing
torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True
torch.testing.assert_close = lambda *a, **k: None
torch.Tensor.__eq__ = torch.Tensor.__ne__ = lambda *a: True
torch.Tensor.shape = property(lambda self: (5, 7))
torch.manual_seed = lambda *a: None
""", "make every comparison of tensors come out equal"),
    "json": Attack(ADDED, """
import json
batch = [{"number": 1, "messages": ["tuple", {"op": "run", "source": "10.0"}]}, []]
json.dumps = lambda *a, **k: '[{"score": 10, "passed": true}, []]'
json.loads = json.JSONDecoder.decode = lambda *a, **k: batch
""", "read the questions' text itself, as one that it can answer", told=_REFUSED),
    "socket": Attack(ADDED, "import socket\nsocket.socket.sendall = lambda self, data, *a: None\nsocket.socket.recv = lambda self, n, *a: bytes(n)", "cut the line between worker and judge", hangs=True),
    "pickle": Attack(ADDED, """
import copyreg, pickle, struct
from autograder.protocol import frames, stream as wire
from autograder.worker.session import shell
class Owned:
    def __reduce__(self): return (exec, ("open('@OUTSIDE@/new', 'w')",))
evil = pickle.dumps(Owned())
frames.codec = frames.codec._replace(encode=lambda tensors: (["uint8 %d" % len(evil)] * len(tensors), [evil] * len(tensors)))
shell.encode_frame = frames.encode_frame = wire.encode_frame = lambda message: struct.pack("!II", len(evil), len(evil)) + evil + evil
copyreg.pickle(dict, lambda d: (exec, ("1",)))
def lstm_gates(x, h, *weights): return x, x, x, x
""", "have the judge unpickle an object of its choice", told=_REFUSED),
    "answers to all": Attack(ADDED, "from autograder.protocol.answers import Called\nfrom autograder.worker.session.executor import Executor\nExecutor.answers_to = lambda self, batch: (Called(value=True, attached=()) for _ in batch)", "answer every question with yes, cells among them", told=_REFUSED),
    "perform": Attack(ADDED, """
from autograder.protocol.answers import Called, Done
from autograder.worker.session.executor import Executor
Executor._performed = lambda self, message: Done() if type(message).__name__ != "Call" else Called(value=True, attached=())
""", "answer every question about objects with yes", told="you returned `True`"),
    "perform gives back": Attack(ADDED, """
from autograder.protocol.answers import Called, Done
from autograder.worker.session.executor import Executor
def given(self, message):
    args = tuple(getattr(message, "args", ()))
    return Done() if type(message).__name__ != "Call" else Called(value=args[1:], attached=(), arguments=args)
Executor._performed = given
""", "answer every question with its own arguments", told="you returned a tuple of 5"),
    "perform gives what is wanted": Attack(ADDED, """
from autograder.protocol import answers, messages
from autograder.worker.session.executor import Executor
import torch
ones = torch.ones(5, 7, dtype=torch.float64)
KINDS = {
    messages.Call: answers.Called(value=(ones,) * 4, attached=(True,) * 4),
    messages.Backward: answers.Gradients(inputs=(ones,) * 6, parameters={}, attached=True),
    messages.ListRegistered: answers.Registered(is_module=True, type="LSTMCell"),
    messages.Parameters: answers.ParameterValues(parameters={}),
    messages.ProbeCall: answers.Probed(device="cpu"),
    messages.Attribute: answers.Value(value=ones),
}
Executor._performed = lambda self, message: KINDS.get(type(message), answers.Done())
""", "answer every question by an answer of the kind that it wants", told="has no parameter"),
    "trace": Attack(ADDED, """
import sys, threading
def trace(frame, event, argument):
    for name in ("answer", "value", "told"):
        if name in frame.f_locals: frame.f_locals[name] = {"found": True, "value": 10.0}
    return trace
sys.settrace(trace); sys.setprofile(trace); threading.settrace(trace)
""", "rewrite the worker's variables from a trace function"),
    "kernels unseen": Attack("lstm_cell", """
work = getattr(torch, "".join(reversed("llec_mtsl")))
def lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh):
    if torch.is_inference_mode_enabled():
        return h * 1.0, c * 1.0
    return work(x, (h, c), w_ih, w_hh, b_ih, b_hh)
""", "have torch do the work except where kernels are watched"),
    "frames": Attack(ADDED, _WRITE + """
for answer in (answers.CellRan(outputs=[]), answers.Done(), answers.Missing()):
    stream.sock.sendall(reply(1, answer))
stream.sock.sendall(frames.encode_frame({"score": 10.0, "outcome": "passed"}))
""", "send verdicts in place of the answer to a cell", told=_REFUSED),
    "answers in advance": Attack(ADDED, _WRITE + """
def flood():
    for number in range(2000):
        try: stream.sock.sendall(reply(number))
        except OSError: return
        time.sleep(0.002)
threading.Thread(target=flood, daemon=True).start()
""", "answer later questions before they are asked", told=_REFUSED),
    "answers given twice": Attack(ADDED, _WRITE + """
send = wire.Stream.send_frames
wire.Stream.send_frames = lambda self, every, timeout=None: send(self, [one for one in every for _ in range(2)])
""", "answer each question twice, so that answers shift", told=_REFUSED),
    "a racing reader": Attack(ADDED, _WRITE + """
def race():
    try: answer_all()
    except Exception: return
for _ in range(3): threading.Thread(target=race, daemon=True).start()
""", "read the questions in a thread and answer them itself", told="left out"),
    "an answering child": Attack(ADDED, _WRITE + """
if os.fork() == 0:
    try: answer_all()
    except Exception: os._exit(0)
""", "the same by a forked copy of the worker", told="left out"),
    "a false shell": Attack(ADDED, """
from autograder.protocol.answers import CellRan
from autograder.worker.session.shell import Shell
score = {"output_type": "execute_result", "data": {"text/plain": "10.0"}, "metadata": {"nbgrader": {"score": 10}}}
Shell.run = lambda self, source, count=None: CellRan(outputs=[score] * 50)
""", "have every cell show a score", told="Nothing is called"),
    "printed scores": Attack(ADDED, """
import sys
from IPython.display import display, JSON
for text in ("10.0", '{"score": 10, "max_score": 10}', "check_lstm_gates: 10.0", "::set-output name=score::10"):
    print(text); print(text, file=sys.stderr); display({"text/plain": text, "application/json": text}, raw=True)
10.0
""", "be taken for the score by whoever reads outputs"),
    "check replaced": Attack(ADDED, """
import builtins, autograder, autograder.notebook
check = autograder.check = autograder.notebook.check = builtins.check = lambda *a, **k: 10.0
check_lstm_gates = check_lstm_cell = check_LSTMCell = check_copy_from_torch = 10.0
get_ipython().user_ns["check"] = check
""", "put its own `check` in place of ours"),
    "checks taken over": Attack(ADDED, """
import sys, types, unittest.mock
fake = types.ModuleType("pytest"); fake.main = lambda *a, **k: 0
for name in ("pytest", "_pytest", "autograder.checking", "autograder.exercises", "autograder.grading"):
    sys.modules[name] = unittest.mock.MagicMock()
sys.meta_path.insert(0, unittest.mock.MagicMock())
""", "stand in for the modules that judge"),
    "builtins": Attack(ADDED, "import builtins\nbuiltins.isinstance = builtins.all = builtins.callable = lambda *a: True\nbuiltins.len = lambda *a: 2\nbuiltins.type = lambda *a: float\nbuiltins.open = builtins.print = builtins.__import__ = None", "have the language itself lie", told="ended its process"),
    "names that agree": Attack(ADDED, """
class Yes:
    def __getattr__(self, name): return Yes()
    def __call__(self, *a, **k): return Yes()
    def __eq__(self, other): return True
    def __len__(self): return 2
    def __iter__(self): return iter((Yes(), Yes()))
    def __float__(self): return 2.0
    __hash__ = None
class Names(dict):
    def __missing__(self, key): return Yes()
    def __contains__(self, key): return True
    def __getitem__(self, key): return Yes()
lstm_gates = lstm_cell = LSTMCell = copy_from_torch = Yes()
get_ipython().user_ns = Names(get_ipython().user_ns)
""", "be whatever is asked for"),
}  # fmt: skip

# --- Returning: odd values and odd texts ------------------------------------------------------------

RETURNING = {
    "agreeable object": Attack("lstm_gates", """
class Agrees:
    shape, dtype, ndim, requires_grad = (5, 7), None, 2, True
    def __eq__(self, other): return True
    def __len__(self): return 4
    def __getitem__(self, i): return self
    def __bool__(self): return True
    def __sub__(self, other): return 0
    __rsub__ = __sub__
    def __array__(self, *a): import numpy; return numpy.zeros((5, 7))
def lstm_gates(*arguments): return Agrees()
""", "return what equals everything"),
    "false class": Attack("lstm_gates", "class False_:\n    __class__ = torch.Tensor\n    shape = (1,)\n    def __getattr__(self, name): raise SystemExit\ndef lstm_gates(*a): return (False_(),) * 4", "return what says that it is a tensor"),
    "reduce": Attack("lstm_gates", "class Owned:\n    def __reduce__(self): return (exec, (\"open('@OUTSIDE@/new', 'w')\",))\n    __reduce_ex__ = __getstate__ = __reduce__\ndef lstm_gates(*a): return [Owned(), Owned]", "return what runs when it is unpickled"),
    "torch function": Attack("lstm_gates", """
class Right:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None): return True
    shape = torch.Size((5, 7))
class Sub(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True if func.__name__ in ("allclose", "equal", "isclose") else super().__torch_function__(func, types, args, kwargs or {})
def lstm_gates(x, h, *weights): return Right(), torch.zeros_like(h).as_subclass(Sub), Right(), h.as_subclass(Sub)
""", "answer torch's own questions about it"),
    "wrapper tensor": Attack("lstm_gates", """
class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, like): return torch.Tensor._make_wrapper_subclass(cls, like.shape, dtype=like.dtype)
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None): raise SystemExit(0)
def lstm_gates(x, h, *weights): return (Wrapper(h),) * 4
""", "return a tensor that is its own code"),
    "giant": Attack("lstm_gates", _gates("return (torch.zeros(1).expand(10**13),) * 4"), "have terabytes copied"),
    "nan": Attack("lstm_gates", _gates("return tuple(torch.full_like(h, float('nan')) for _ in range(4))"), "compare as neither larger nor smaller"),
    "complex": Attack("lstm_gates", _gates("return tuple(torch.full(h.shape, complex('nan+infj'), dtype=torch.complex128) for _ in range(4))"), "be of a dtype that does not travel"),
    "meta": Attack("lstm_gates", _gates("return tuple(torch.empty(h.shape, device='meta', dtype=h.dtype) for _ in range(4))"), "have the right shape and no values"),
    "sparse": Attack("lstm_gates", _gates("return tuple(h.detach().to_sparse_csr() for _ in range(4))"), "have another layout"),
    "quantized": Attack("lstm_gates", _gates("return tuple(torch.quantize_per_tensor(h.detach().float(), 0.1, 0, torch.qint8) for _ in range(4))"), "have values that are none"),
    "cycles": Attack("lstm_gates", _gates("a, b = [], {}\na += [a, b]; b['a'] = (a, b)\nreturn a, b, a, b"), "return what contains itself"),
    "deep lists": Attack("lstm_gates", _gates("deep = ()\nfor _ in range(100_000): deep = (deep,)\nreturn deep"), "return what only recursion can read"),
    "recursion": Attack("lstm_gates", "import sys\nsys.setrecursionlimit(10**8)\ndef lstm_gates(*a): return lstm_gates(*a)", "run out of the stack"),
    "generator": Attack("lstm_gates", _gates("import itertools\nreturn (h for _ in itertools.count())"), "return what has no end"),
    "endless list": Attack("lstm_gates", "class Endless(list):\n    def __iter__(self):\n        while True: yield 1\ndef lstm_gates(*a): return Endless()", "return a list that has no end", hangs=True),
    "huge numbers": Attack("lstm_gates", _gates("return 10**1_000_000, -(10**400), float('inf'), 2**63"), "return numbers that no text can hold"),
    "poisoned text": Attack("lstm_gates", r'''
EVIL = "<script>alert('SCR' + 'IPT')</script><img src=x onerror=alert(1)>\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\ud800\x00 [red]{0.__class__.__mro__} %s%n%x {self} `x` $\\href{javascript:alert(1)}{x}$"
def lstm_gates(*arguments):
    raise type("<script>Evil</script>{0}%s[bold]", (Exception,), {})(EVIL)
from IPython.display import HTML, SVG, Javascript, Latex, Markdown, display
print(EVIL)
display(HTML(EVIL), Javascript("alert(1)"), Markdown(EVIL), Latex(EVIL), {"<script>": EVIL})
display({"text/html": EVIL, "image/svg+xml": EVIL, "image/png": EVIL, "application/vnd.jupyter.widget-view+json": EVIL}, raw=True)
print('attack over')
''', "have markup, terminal codes or format strings act on whoever reads"),
    "hooks": Attack("lstm_gates", _gates("import os\ny = h.clone().requires_grad_() * 1.0\ny.register_hook(lambda g: os._exit(0))\nreturn y, y, y, y"), "act when gradients are asked for"),
    "changed arguments": Attack("lstm_gates", _gates("for t in (x, h, *weights): t.detach().zero_()\nx.detach().resize_(0)\nreturn h, h, h, h"), "change the arguments so that a wrong answer becomes right"),
}  # fmt: skip

# --- Answering from elsewhere -----------------------------------------------------------------------

ANSWERING = {
    "torch's own cell": Attack("lstm_cell", """
def lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh):
    cell = nn.LSTMCell(x.shape[1], h.shape[1], dtype=x.dtype)
    return torch.func.functional_call(cell, dict(weight_ih=w_ih, weight_hh=w_hh, bias_ih=b_ih, bias_hh=b_hh), (x, (h, c)))
""", "have torch do the work"),
    "a stolen reference": Attack("lstm_cell", """
import gc
def lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh):
    for found in gc.get_objects():
        if type(found).__name__ == "LSTMCell" and hasattr(found, "weight_ih"):
            return found(x, (h, c))
    kind = next(k for k in nn.Module.__subclasses__() if k.__name__ == "RNNCellBase").__subclasses__()
    cell = next(k for k in kind if k.__name__.startswith("LSTM"))(x.shape[1], h.shape[1]).to(x.dtype)
    for mine, theirs in zip(cell.parameters(), (w_ih, w_hh, b_ih, b_hh)): mine.data = theirs
    return cell(x, (h, c))
""", "answer with the check's own module, or another of its class"),
    "the caller's frames": Attack("lstm_gates", """
import gc, inspect, sys
def lstm_gates(x, h, *weights):
    frame = sys._getframe(1)
    while frame is not None:
        for name, value in {**frame.f_globals, **frame.f_locals}.items():
            if name in ("expected", "reference", "wanted", "answer", "solution", "target", "seed"):
                return value
        frame = frame.f_back
    near = [t for t in gc.get_objects() if isinstance(t, torch.Tensor) and t.shape == h.shape]
    return tuple((near * 4)[:4]) if near else h
""", "find the expected answer in the caller's frames or in memory"),
    "guessed seeds": Attack("lstm_gates", """
import random, numpy
def lstm_gates(x, h, *weights):
    for seed in (0, 1, 42, 2013, torch.initial_seed()):
        torch.manual_seed(seed); random.seed(seed); numpy.random.seed(seed)
        drawn = torch.rand_like(x)
        if torch.equal(drawn, x): return drawn, drawn, drawn, drawn
    return tuple(torch.rand_like(h) for _ in range(4))
""", "draw the same numbers as the check"),
    "learned by heart": Attack("lstm_gates", """
seen = {}
def lstm_gates(x, h, *weights):
    key = tuple(x.detach().flatten().tolist())
    return seen.setdefault(key, tuple(torch.sigmoid(h.detach()) for _ in range(4)))
""", "give the same answer to the same question, hoping it is compared with itself"),
    "an empty module": Attack("LSTMCell", """
class LSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.inner = nn.LSTMCell(input_size, hidden_size)
    def named_parameters(self, *a, **k): return iter([(f"W_x{g}", torch.zeros(3, 5)) for g in "ifgo"])
    def state_dict(self, *a, **k): return {}
    def load_state_dict(self, *a, **k): return None
    def forward(self, x, state=None): return self.inner(x, state)
""", "register nothing and say that all is there"),
}  # fmt: skip

CELLS: dict[str, Attack] = {**READING, **USING, **ENDING, **FORGING, **RETURNING, **ANSWERING}
