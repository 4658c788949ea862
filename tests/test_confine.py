"""Attacks on the wall, each really tried by a worker, as root and as an ordinary user, at both levels.

Every attack is also run once without a wall (`test_without_a_wall_...`), where it must succeed: an
attack that cannot work anywhere proves nothing.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from autograder.grading.workers import Worker
from autograder.worker.confine import Layer, Level, best_level, probe
from autograder.worker.limits import Limits
from autograder.worker.root import layout

ROOT = Path(__file__).parent.parent
NOBODY = 65534
MIB = 1 << 20

# What stands in for the warm parent: it forks one supervisor and waits. `sabotage` is run before the fork.
PARENT = """
import json, os, socket, sys
from autograder.worker.confine import Level, Limits, default_readable
from autograder.worker.supervise import supervise
job = json.loads(sys.argv[1])
parent = os.getpid()
exec(job["sabotage"])

def body():
    judge = socket.socket(fileno=job["data"])
    def say(*values):
        for value in values:
            judge.sendall(json.dumps(value).encode() + b"\\n")
    def attempt(deed):
        try:
            result = deed()
        except BaseException as error:
            return type(error).__name__
        return result if isinstance(result, (str, int, list)) else "done"
    names = dict(say=say, attempt=attempt, parent=parent, data=job["data"], os=os, socket=socket)
    exec(job["code"], names | job["names"])

pid = os.fork()
if pid == 0:
    supervise(job["data"], job["control"], body, level=Level(job["level"]), limits=Limits(**job["limits"]),
              readable=[*default_readable(), *job["readable"]], hidden=job["hidden"])
os.close(job["data"])
os.close(job["control"])
print(pid, flush=True)
os.waitpid(pid, 0)
"""


@dataclass
class Job:
    """A worker under attack, as the judge sees it."""

    parent: subprocess.Popen
    data: socket.socket
    control: socket.socket
    supervisor: int = 0

    def said(self) -> list:
        """All that the worker has said, when nobody is left who could say more."""
        received = b""
        while chunk := self.data.recv(65536):
            received += chunk
        return [json.loads(line) for line in received.splitlines()]

    def hear(self):
        """The next thing the worker says."""
        line = b""
        while not line.endswith(b"\n"):
            chunk = self.data.recv(1)
            assert chunk, f"the worker is gone: {self.ended()}"
            line += chunk
        return json.loads(line)

    def ended(self) -> dict:
        message = self.control.recv(65536)
        return json.loads(message) if message else {}


class Wall:
    """Workers of one user at one level."""

    def __init__(self, level: Level, folder: str, *, ordinary: bool) -> None:
        self.level = level
        self.user = NOBODY if ordinary and os.geteuid() == 0 else os.geteuid()
        self.jobs: list[Job] = []
        self.folder = folder

    def start(
        self, code, *, level=None, limits=None, readable=(), hidden=(), sabotage="", environment=None, **names
    ):
        data, worker_data = socket.socketpair()
        control, worker_control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        data.settimeout(10)
        control.settimeout(10)
        job = {
            "code": code,
            "level": level or self.level,
            "limits": limits or {},
            "readable": [str(path) for path in readable],
            "hidden": [str(path) for path in hidden],
            "sabotage": sabotage,
            "names": {
                name: str(value) if isinstance(value, Path) else value for name, value in names.items()
            },
            "data": worker_data.fileno(),
            "control": worker_control.fileno(),
        }
        parent = self.python(
            PARENT,
            json.dumps(job),
            pass_fds=(worker_data.fileno(), worker_control.fileno()),
            more=environment,
        )
        worker_data.close()
        worker_control.close()
        started = Job(parent, data, control)
        self.jobs.append(started)
        started.supervisor = int(parent.stdout.readline())
        return started

    def attack(self, code, **settings) -> tuple[list, dict]:
        """What the worker said and how it ended."""
        job = self.start(code, **settings)
        return job.said(), job.ended()

    def python(self, code, *arguments, pass_fds=(), more=None) -> subprocess.Popen:
        """A Python process of this wall's user, with this checkout and its packages."""
        paths = (str(ROOT), sysconfig.get_path("purelib"))
        return subprocess.Popen(
            [self.interpreter(), "-c", code, *arguments],
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=pass_fds,
            env={
                "PYTHONPATH": ":".join(paths),
                "PYTHONDONTWRITEBYTECODE": "1",
                "TMPDIR": self.folder,
                **(more or {}),
            },
            cwd="/",
            **self.identity(),
        )

    def identity(self) -> dict:
        if self.user == os.geteuid():
            return {}
        return {"user": self.user, "group": self.user, "extra_groups": ()}

    def interpreter(self) -> str:
        """This one, unless the worker's user cannot get at it: then the system's of the same version."""
        if self.user == os.geteuid() and (self.user != 0 or self.level is not Level.LANDLOCK):
            return sys.executable
        for candidate in (sys.executable, f"/usr/bin/python3.{sys.version_info[1]}"):
            question = [candidate, "-c", "import os, encodings; os.listdir(os.path.dirname(os.__file__))"]
            with suppress(OSError):
                probing = {"user": NOBODY, "group": NOBODY, "extra_groups": ()} if os.geteuid() == 0 else {}
                if (
                    subprocess.run(question, capture_output=True, cwd="/", check=False, **probing).returncode
                    == 0
                ):
                    return candidate
        pytest.skip(
            f"no Python {sys.version_info[0]}.{sys.version_info[1]} here that an ordinary user may run"
        )


_layers: dict[int, tuple[Layer, ...]] = {}


def layers_of(wall: Wall) -> tuple[Layer, ...]:
    if wall.user not in _layers:
        code = "import json; from dataclasses import astuple; from autograder.worker.confine import probe\n"
        process = wall.python(code + "print(json.dumps([astuple(layer) for layer in probe()]))")
        _layers[wall.user] = tuple(Layer(*fields) for fields in json.loads(process.communicate()[0]))
    return _layers[wall.user]


WALLS = [
    pytest.param((level, ordinary), id=f"{'ordinary' if ordinary else 'root'}-{level}")
    for ordinary in (False, True)
    for level in (Level.NAMESPACES, Level.LANDLOCK)
]


@pytest.fixture(params=WALLS)
def wall(request):
    """Workers behind a wall: two users, two levels."""
    level, ordinary = request.param
    if not ordinary and os.geteuid() != 0:
        pytest.skip("only root can start a supervisor as root")
    # What a killed supervisor leaves behind goes with this folder.
    with tempfile.TemporaryDirectory(prefix="wall-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o777)
        wall = Wall(level, folder, ordinary=ordinary)
        found = layers_of(wall)
        best = best_level(found)
        if best is Level.NONE or (level is Level.NAMESPACES and best is not level):
            pytest.skip(f"not on this machine: {[layer for layer in found if not layer.holds]}")
        yield wall
        for job in wall.jobs:
            job.control.close()
            job.data.close()
            job.parent.kill()
            job.parent.communicate()


@pytest.fixture
def outside(wall):
    """A folder outside the wall that file permissions alone would leave open to the worker's user."""
    folder = Path(tempfile.mkdtemp(prefix="outside-"))
    gradebook = folder / "gradebook.db"
    gradebook.write_text("every mark")
    for path in (folder, gradebook):
        os.chown(path, wall.user, -1)
        path.chmod(0o777 if path.is_dir() else 0o666)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def victim(wall):
    """A process outside the wall, of the user who grades."""
    process = subprocess.Popen(["sleep", "60"], **wall.identity())
    yield process
    process.kill()
    process.wait()


READS = """
say(attempt(lambda: open(gradebook).read()))
say(attempt(lambda: os.listdir(os.path.dirname(gradebook))))
say(attempt(lambda: open("/etc/passwd").read()[:0] + "read"))
say(attempt(lambda: str(len(os.listdir("/etc")) > 5)))
say(attempt(lambda: str(len(os.listdir(f"/proc/{parent}/fd")))))
say(attempt(lambda: open(f"/proc/{parent}/cmdline").read()[:0] + "read"))
"""
WRITES = """
folder = os.path.dirname(gradebook)
say(attempt(lambda: open(gradebook, "a").write("!")))
say(attempt(lambda: os.truncate(gradebook, 1)))
say(attempt(lambda: os.chmod(gradebook, 0)))
say(attempt(lambda: os.utime(gradebook, (0, 0))))
say(attempt(lambda: os.rename(gradebook, gradebook + "~")))
say(attempt(lambda: os.link(gradebook, "stolen")))
say(attempt(lambda: open(folder + "/new", "w").write("!")))
say(attempt(lambda: os.mkdir(folder + "/folder")))
"""
CONNECTS = """
def dial(kind, address, family=socket.AF_UNIX):
    with socket.socket(family, kind) as client:
        client.settimeout(2)
        client.connect(address)
say(attempt(lambda: dial(socket.SOCK_STREAM, ("127.0.0.1", port), socket.AF_INET)))
say(attempt(lambda: dial(socket.SOCK_DGRAM, ("127.0.0.1", port), socket.AF_INET)))
say(attempt(lambda: dial(socket.SOCK_STREAM, "\\0" + abstract)))
say(attempt(lambda: dial(socket.SOCK_DGRAM, named)))
say(attempt(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendmsg([b"x"], (), 0, named)))
"""
SIGNALS = """
import ctypes, fcntl, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
def c(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
say(attempt(lambda: os.kill(victim, 0)))
say(attempt(lambda: os.kill(victim, signal.SIGCONT)))
say(attempt(lambda: c("sched_setaffinity", victim, 128, b"\\x01" + bytes(127))))
say(attempt(lambda: resource.prlimit(victim, resource.RLIMIT_CORE, (0, 0))))
say(attempt(lambda: c("setpriority", 0, victim, 10)))
say(attempt(lambda: c("ptrace", 0x4206, victim, 0, 0)))
"""
FAILURES = {
    "PermissionError",
    "FileNotFoundError",
    "ProcessLookupError",
    "OSError",
    "ConnectionRefusedError",
    "NotADirectoryError",
}


@pytest.fixture
def listeners(outside):
    """Servers outside the wall: TCP on loopback, an abstract and a named unix socket."""
    abstract = f"autograder-test-{os.getpid()}"
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as hidden:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        hidden.bind("\0" + abstract)
        hidden.listen()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as named:
            named.bind(str(outside / "socket"))
            (outside / "socket").chmod(0o777)
            yield {"port": tcp.getsockname()[1], "abstract": abstract, "named": str(outside / "socket")}


def refused(said: list) -> bool:
    return bool(said) and all(failed(answer) for answer in said)


def failed(answer) -> bool:
    return isinstance(answer, str) and answer in FAILURES


def test_nothing_outside_can_be_read(wall, outside):
    said, ended = wall.attack(READS, gradebook=outside / "gradebook.db")
    assert len(said) == 6
    if wall.level is Level.NAMESPACES:
        assert said.pop(3) == "False"  # an /etc of its own, with next to nothing in it
    assert refused(said)
    assert ended["exit"] == "exited"


PLACES = (
    "course/gradebook.db", "course/submitted/ada/hw/hw.ipynb", "course/source/hw/hw.ipynb",
    "course/solutions/mistakes/hw.toml", "course/verdicts/hw/ada.json", "course/.autograder/seed",
    "home/.ssh/id_ed25519",
)  # fmt: skip


def test_nothing_of_a_course_or_a_home_can_be_seen(wall, outside):
    for place in PLACES:
        (outside / place).parent.mkdir(parents=True, exist_ok=True)
        (outside / place).write_text("secret")
    code = """
for place in places:
    say(attempt(lambda: open(f"{folder}/{place}").read()))
    say(attempt(lambda: open(f"/proc/self/root{folder}/{place}").read()))
    say(attempt(lambda: os.listdir(os.path.dirname(f"{folder}/{place}"))))
say(attempt(lambda: os.listdir("/home/..//root")), attempt(lambda: os.listdir(folder)))
"""
    said, _ = wall.attack(code, folder=outside, places=list(PLACES))
    assert len(said) == 3 * len(PLACES) + 2
    assert refused(said)
    said, _ = wall.attack(code, folder=outside, places=list(PLACES), level=Level.NONE)
    assert said.count("secret") == 2 * len(PLACES), "without a wall it can"


def test_nothing_outside_can_be_written_or_changed(wall, outside):
    gradebook = outside / "gradebook.db"
    before = gradebook.stat()
    said, _ = wall.attack(WRITES, gradebook=gradebook)
    assert len(said) == 8
    assert refused(said)
    assert gradebook.read_text() == "every mark"
    assert (gradebook.stat().st_mode, gradebook.stat().st_mtime) == (before.st_mode, before.st_mtime)
    assert [path.name for path in outside.iterdir()] == ["gradebook.db"]


def test_nothing_outside_can_be_connected_to(wall, listeners):
    said, _ = wall.attack(CONNECTS, **listeners)
    assert len(said) == 5
    assert refused(said)


def test_nobody_outside_can_be_signalled_or_touched(wall, victim):
    said, _ = wall.attack(SIGNALS, victim=victim.pid)
    assert len(said) == 6
    assert refused(said)
    assert victim.poll() is None


PROCESSES = """
for name in ("cmdline", "status", "environ", "maps", "mem", "auxv"):
    say(attempt(lambda: open(f"/proc/{victim}/{name}", "rb").read(1)[:0].decode() + "read"))
for name in ("fd", "task", "ns"):
    say(attempt(lambda: os.listdir(f"/proc/{victim}/{name}")))
for name in ("exe", "cwd", "root"):
    say(attempt(lambda: os.readlink(f"/proc/{victim}/{name}")))
"""


def test_proc_tells_nothing_of_others(wall, victim):
    said, _ = wall.attack(PROCESSES, victim=victim.pid)
    assert len(said) == 12
    if wall.level is Level.LANDLOCK:  # which program it is, is a name; names can be asked for at this level
        said = said[:-3]
    assert refused(said)
    said, _ = wall.attack(PROCESSES, victim=victim.pid, level=Level.NONE)
    assert said[:2] == ["read", "read"], "without a wall it does"


def test_without_a_pid_namespace_a_worker_signals_only_itself(wall):
    if wall.level is Level.NAMESPACES:
        pytest.skip("whom it sees there it may signal: they are its own")
    code = """
import time
child = os.fork()
if child == 0:
    time.sleep(10)
    os._exit(0)
say(attempt(lambda: os.kill(child, 0)), attempt(lambda: os.kill(os.getpid(), 0)))
"""
    assert wall.attack(code)[0] == ["PermissionError", "done"]


def test_without_a_wall_the_attacks_succeed(wall, outside, listeners, victim):
    """The four attacks above are real: with limits only, all of them work."""
    settings = {"level": Level.NONE, "gradebook": outside / "gradebook.db", "victim": victim.pid, **listeners}
    for code in (READS, CONNECTS, SIGNALS, WRITES):
        said, _ = wall.attack(code, **settings)
        if code is SIGNALS and wall.user == 0:  # its capabilities are gone all the same, the victim has them
            said = [said[0], said[1], said[3]]
        # A hard link may cross a file system.
        assert sum(map(failed, said)) <= (code is WRITES), (code, said)


def test_what_is_readable_can_be_read_and_not_written(wall, outside):
    code = """
say(attempt(lambda: open(folder + "/gradebook.db").read()))
say(attempt(lambda: open(folder + "/gradebook.db", "a").write("!")))
say(attempt(lambda: open(folder + "/new", "w").write("!")))
say(attempt(lambda: os.unlink(folder + "/gradebook.db")))
"""
    said, _ = wall.attack(code, folder=outside, readable=[outside])
    assert said[0] == "every mark"
    assert refused(said[1:])


def test_what_is_hidden_is_not_there(wall, outside):
    (outside / "package" / "checks").mkdir(parents=True)
    (outside / "package" / "open.py").write_text("open")
    (outside / "package" / "checks" / "secret.py").write_text("secret")
    (outside / "link").symlink_to("package")
    code = """
say(attempt(lambda: open(folder + "/package/open.py").read()))
say(attempt(lambda: open(folder + "/link/open.py").read()))
say(attempt(lambda: open(folder + "/package/checks/secret.py").read()))
say(attempt(lambda: open(folder + "/link/checks/secret.py").read()))
say(attempt(lambda: str(os.listdir(folder + "/package/checks"))))
"""
    said, _ = wall.attack(code, folder=outside, readable=[outside], hidden=[outside / "package" / "checks"])
    assert said[0] == "open"
    if wall.level is Level.NAMESPACES:
        assert said[1] == "open"
        assert said.pop() == "[]"
    assert refused(said[2:])


def test_the_environment_is_empty_but_for_a_few_names(wall):
    code = """
say(sorted(os.environ), open("/proc/self/environ").read().strip("\\0"), os.getcwd() == os.environ["HOME"])
"""
    said, _ = wall.attack(code, environment={"SECRET_TOKEN": "s3cret", "OMP_NUM_THREADS": "1"})
    assert said == [["HOME", "LC_CTYPE", "LOGNAME", "OMP_NUM_THREADS", "PATH", "TMPDIR", "USER"], "", True]


def test_only_the_judges_socket_is_inherited(wall):
    code = """
def is_open(descriptor):
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
say([descriptor for descriptor in range(3, 4096) if is_open(descriptor)] == [data])
say([os.readlink(f"/proc/self/fd/{descriptor}") for descriptor in range(3)])
"""
    sabotage = (
        "secret = [os.open('/etc/passwd', os.O_RDONLY) for _ in range(5)]; os.dup2(secret[0], 3000, True)"
    )
    said, _ = wall.attack(code, sabotage=sabotage)
    assert said == [True, ["/dev/null"] * 3]


def test_no_privilege_is_left(wall):
    code = """
status = dict(line.rstrip("\\n").split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
say([status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")])
say(status["NoNewPrivs"], status["Seccomp"])
say(status["CapBnd"], os.getresuid())
for become in (os.setuid, os.setgid, os.seteuid):
    say(attempt(lambda: become(0)))
"""
    said, _ = wall.attack(code)
    assert said[:3] == [["0" * 16] * 4, "1", "2"]
    if not (wall.user and wall.level is Level.LANDLOCK):
        assert said[3] == "0" * 16
        assert said[4][0] not in (0, wall.user)
    assert refused(said[5:])


CALLS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for name, *arguments in calls:
    arguments = [value.encode() if isinstance(value, str) else ctypes.c_long(value) for value in arguments]
    failed = getattr(libc, name)(*arguments) == -1
    say([name, failed and ctypes.get_errno() in (1, 38)])
"""


def test_dangerous_calls_are_denied(wall):
    here = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
    by_number = [
        ("bpf", (321, 280)),
        ("add_key", (248, 217)),
        ("keyctl", (250, 219)),
        ("perf_event_open", (298, 241)),
        ("userfaultfd", (323, 282)),
        ("memfd_create", (319, 279)),
        ("shmget", (29, 194)),
        ("process_vm_readv", (310, 270)),
        ("kexec_load", (246, 104)),
        ("name_to_handle_at", (303, 264)),
        ("seccomp", (317, 277)),
        ("io_uring_setup", (425, 425)),
        ("clone3", (435, 435)),
        ("open_tree", (428, 428)),
        ("fsopen", (430, 430)),
        ("mount_setattr", (442, 442)),
        ("memfd_secret", (447, 447)),
        ("statmount", (457, 457)),
        ("not yet invented", (500, 500)),
    ]
    calls = [
        ["unshare", 0x10000000],
        ["unshare", 0x00020000],
        ["setns", 3, 0],
        ["mount", "none", "/tmp", "tmpfs", 0, 0],
        ["umount2", "/tmp", 2],
        ["chroot", "/tmp"],
        ["pivot_root", ".", "."],
        ["ptrace", 0, 0, 0, 0],
        ["personality", 0],
        ["prctl", 1, 0, 0, 0, 0],
        ["prctl", 4, 0, 0, 0, 0],
        ["prctl", 22, 2, 0, 0, 0],
        ["sethostname", "x", 1],
        ["inotify_init"],
        *(["syscall", numbers[here], 0, 0, 0, 0, 0] for _, numbers in by_number if here is not None),
    ]
    if here is not None:  # clone(CLONE_NEWUSER | SIGCHLD)
        calls.append(["syscall", (56, 220)[here], 0x10000000 | 17, 0, 0, 0, 0])
    said, ended = wall.attack(CALLS, calls=calls)
    assert ended["exit"] == "exited", ended
    assert [name for name, denied in said if not denied] == []
    assert len(said) == len(calls)


@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="x86_64 has other system calls under the same roof"
)
@pytest.mark.parametrize("how", ["x32", "32-bit"])
def test_another_architectures_calls_are_death(wall, how):
    code = """
import ctypes, mmap
if how == "x32":
    ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 + 39))
else:  # mov eax, 20 (getpid); int 0x80; ret
    page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
    page.write(bytes.fromhex("b814000000cd80c3"))
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
say("survived")
"""
    said, ended = wall.attack(code, how=how)
    assert said == []
    assert (ended["exit"], ended["code"]) in [("signal", signal.SIGSYS), ("signal", signal.SIGSEGV)]


def bounded_to_16(wall, said: list, ended: dict) -> None:
    """At most 16 were started, or the tree was ended for its number.

    Without a user to itself a worker shares the kernel's count with the user's other processes, so what ends
    elsewhere meanwhile leaves room for as many more.
    """
    shared = wall.user and wall.level is Level.LANDLOCK
    if shared and ended["exit"] == "killed":
        assert "processes" in ended["message"]
    else:
        assert 8 <= said[0] <= (100 if shared else 16), ended


def test_a_fork_bomb_is_bounded(wall):
    code = """
import time
count = 0
while count < 500:
    try:
        child = os.fork()
    except OSError:
        break
    if child == 0:
        time.sleep(30)
        os._exit(0)
    count += 1
say(count)
"""
    said, ended = wall.attack(code, limits={"processes": 16})
    bounded_to_16(wall, said, ended)


def test_threads_are_bounded(wall):
    code = """
import threading, time
count = 0
try:
    while count < 500:
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        count += 1
except RuntimeError:
    pass
say(count)
"""
    said, ended = wall.attack(code, limits={"processes": 16})
    bounded_to_16(wall, said, ended)


def test_memory_is_bounded_over_the_whole_tree(wall):
    code = """
import time
for _ in range(4):
    if os.fork() == 0:
        block = bytearray(b"x") * (100 << 20)
        time.sleep(30)
        os._exit(0)
say("started")
time.sleep(30)
"""
    said, ended = wall.attack(code, limits={"memory_bytes": 256 * MIB})
    assert said == ["started"]
    assert ended["exit"] == "memory"
    assert 256 * MIB < ended["peak_bytes"] < 512 * MIB


def test_memory_shared_by_a_fork_counts_once(wall):
    code = """
import time
block = bytearray(b"x") * (100 << 20)
for _ in range(4):
    if os.fork() == 0:
        time.sleep(0.5)
        os._exit(0)
time.sleep(0.5)
say(len(block))
"""
    said, ended = wall.attack(code, limits={"memory_bytes": 256 * MIB})
    assert said == [100 * MIB]
    assert ended["exit"] == "exited"
    assert ended["peak_bytes"] > 100 * MIB


def test_too_large_an_allocation_is_a_memory_error(wall):
    code = "say(attempt(lambda: bytearray(1 << 30)), attempt(lambda: bytearray(1 << 20)))"
    said, ended = wall.attack(code, limits={"memory_bytes": 256 * MIB})
    assert said == ["MemoryError", "done"]
    assert ended["exit"] == "exited"


def test_memory_that_nothing_counts_is_refused(wall):
    """Shared memory that no process shows, once it is given back, would get round the supervisor's sum."""
    code = """
import mmap
say(attempt(lambda: mmap.mmap(-1, 4096)))
say(attempt(lambda: os.memfd_create("x")))
say(attempt(lambda: mmap.mmap(os.open("/dev/zero", os.O_RDWR), 4096)))
"""
    said, _ = wall.attack(code)
    assert len(said) == 3
    assert refused(said)


def test_files_are_bounded(wall):
    code = """
import errno, time
def fill(folder, size):
    written = 0
    for number in range(20):
        try:
            with open(f"{folder}/{number}", "wb", buffering=0) as file:
                for _ in range(size >> 16):
                    written += file.write(bytes(1 << 16))
        except OSError as error:
            return [written, errno.errorcode[error.errno]]
    time.sleep(10)
say(fill(os.environ["HOME"], 8 << 20))
for number in range(20):
    if os.path.exists(f"{os.environ['HOME']}/{number}"):
        os.unlink(f"{os.environ['HOME']}/{number}")
say(fill(os.environ["HOME"], 1 << 20))
"""
    said, ended = wall.attack(code, limits={"file_bytes": 2 * MIB, "scratch_bytes": 4 * MIB})
    assert said[0] == [2 * MIB, "EFBIG"]
    if wall.level is Level.NAMESPACES:
        assert said[1][1] == "ENOSPC"
        assert 3 * MIB < said[1][0] <= 4 * MIB
    else:
        assert (ended["exit"], "of files" in ended["message"]) == ("killed", True)


def test_shared_memory_files_are_bounded(wall):
    code = """
written = 0
try:
    for number in range(20):
        with open(f"/dev/shm/{number}", "wb", buffering=0) as file:
            written += file.write(bytes(1 << 20))
except OSError as error:
    say(type(error).__name__)
say(written >> 20)
"""
    said, _ = wall.attack(code, limits={"scratch_bytes": 4 * MIB})
    assert said == (["OSError", 4] if wall.level is Level.NAMESPACES else ["PermissionError", 0])


@pytest.mark.parametrize("kept", ["open", "mapped"])
def test_files_without_a_name_are_bounded(wall, kept):
    code = """
import mmap, time
files = []
try:
    for number in range(20):
        file = open(f"{os.environ['HOME']}/{number}", "w+b", buffering=0)
        os.unlink(file.name)
        file.write(bytes(1 << 20))
        files.append(file if kept == "open" else mmap.mmap(file.fileno(), 0))
        del file
except OSError as error:
    say(error.errno)
say(len(files))
time.sleep(10)
"""
    job = wall.start(code, limits={"scratch_bytes": 4 * MIB}, kept=kept)
    if wall.level is Level.NAMESPACES:
        assert (job.hear(), job.hear()) == (errno.ENOSPC, 4)
    else:
        assert "of files" in job.ended()["message"]


def test_small_files_are_bounded(wall):
    code = """
import time
made = 0
try:
    for made in range(100_000):
        open(f"{os.environ['HOME']}/{made}", "w").close()
except OSError:
    say(made < 5000)
time.sleep(10)
"""
    job = wall.start(code, limits={"scratch_bytes": 4 * MIB})
    if wall.level is Level.NAMESPACES:
        assert job.hear() is True
    else:
        assert "of files" in job.ended()["message"]


def test_only_scratch_can_be_written(wall):
    code = """
import sys
home = os.environ["HOME"]
places = {"/", "/bin", "/dev", "/etc", "/home", "/lib", "/proc", "/proc/self", "/root", "/run", "/sys"}
places |= {"/tmp", "/usr", "/usr/lib", "/usr/local", "/var", "/var/tmp", "/dev/shm", sys.prefix}
places.add(os.path.dirname(os.__file__))
for place in sorted({*places, home}):
    if attempt(lambda: open(f"{place}/new", "x").close()) == "done":
        say("scratch" if place == home else place)
    if attempt(lambda: os.mkdir(f"{place}/folder")) == "done":
        os.rmdir(f"{place}/folder")
say("over")
"""
    said, _ = wall.attack(code)
    assert sorted(said) == (
        ["/dev/shm", "over", "scratch"] if wall.level is Level.NAMESPACES else ["over", "scratch"]
    )


def test_set_uid_programs_give_nothing(wall, outside):
    if os.geteuid() != 0:
        pytest.skip("only root can make one")
    program = outside / "who"
    shutil.copy(shutil.which("id"), program)
    os.chown(program, 0, 0)
    program.chmod(0o6755)
    ordinary = {"user": NOBODY, "group": NOBODY, "extra_groups": ()}
    if subprocess.run([program, "-u"], capture_output=True, text=True, **ordinary).stdout.strip() != "0":
        pytest.skip("set-uid programs give nothing to anybody on this file system")
    code = """
import subprocess
for flag in ("-u", "-g"):
    say(attempt(lambda: subprocess.run([program, flag], capture_output=True, text=True).stdout.strip()))
"""
    said, _ = wall.attack(code, program=program, readable=[outside])
    assert len(said) == 2
    assert "0" not in said
    assert all(told.isdigit() for told in said), "it did run"


def test_scratch_is_writable_and_gone_afterwards(wall):
    code = """
import tempfile
with tempfile.NamedTemporaryFile("w+", delete=False) as file:
    file.write("mine")
    name = file.name
deep = "d/" * 200
os.makedirs(deep)
say(open(name).read(), name)
"""
    (text, name), ended = wall.attack(code)
    assert text == "mine"
    assert ended["exit"] == "exited"
    wall.jobs[0].parent.wait(10)
    assert not Path(name).exists()
    if wall.level is Level.LANDLOCK:
        assert not Path(name).parent.exists()


def test_a_daemon_does_not_outlive_its_worker(wall):
    """It holds the data socket open: `said` returns only when the last holder is gone."""
    code = """
import time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        say("daemon")
        time.sleep(60)
    os._exit(0)
os.wait()
time.sleep(0.2)
"""
    job = wall.start(code)
    assert job.ended()["exit"] == "exited"
    assert job.said() == ["daemon"]


STUBBORN = """
import signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
say("ready")
time.sleep(60)
"""


def test_the_judge_can_kill_it(wall):
    job = wall.start(STUBBORN)
    job.hear()
    begun = time.monotonic()
    job.control.send(json.dumps({"do": "kill"}).encode())
    assert job.ended()["exit"] == "killed"
    job.said()
    assert time.monotonic() - begun < 1


def test_it_dies_with_the_judge(wall):
    job = wall.start(STUBBORN)
    job.hear()
    job.control.close()
    begun = time.monotonic()
    job.said()
    assert time.monotonic() - begun < 1


def test_it_dies_with_the_warm_parent(wall):
    job = wall.start(STUBBORN)
    job.hear()
    job.parent.kill()
    begun = time.monotonic()
    assert "parent died" in job.ended()["message"]
    job.said()
    assert time.monotonic() - begun < 1


def test_it_dies_with_its_supervisor(wall):
    """Only the worker itself where there is no pid namespace: nobody is left to look for its children."""
    code = STUBBORN if wall.level is Level.NAMESPACES else STUBBORN.replace("if os.fork() == 0", "if False")
    job = wall.start(code)
    job.hear()
    os.kill(job.supervisor, signal.SIGKILL)
    begun = time.monotonic()
    job.said()
    assert time.monotonic() - begun < 1


def test_it_cannot_disarm_the_death_of_its_supervisor(wall):
    code = """
import ctypes, time
say(ctypes.CDLL(None).prctl(1, 0, 0, 0, 0))
time.sleep(60)
"""
    job = wall.start(code)
    assert job.hear() == -1
    os.kill(job.supervisor, signal.SIGKILL)
    assert job.said() == []


@pytest.mark.parametrize(
    ("deed", "expected"),
    [
        ("pass", ("exited", 0)),
        ("os._exit(3)", ("exited", 3)),
        ("raise SystemExit(4)", ("exited", 4)),
        ("raise ValueError", ("exited", 1)),
        ("import ctypes; ctypes.string_at(0)", ("signal", signal.SIGSEGV)),
    ],
)
def test_the_end_is_reported(wall, deed, expected):
    _, ended = wall.attack(deed)
    assert (ended["exit"], ended["code"]) == expected
    assert ended["cpu_seconds"] > 0


def test_a_worker_that_kills_itself(wall):
    """pid 1 of a namespace is immune to its own signals, as `supervise` says; elsewhere it dies."""
    said, ended = wall.attack("import signal; os.kill(os.getpid(), signal.SIGKILL); say('alive')")
    if wall.level is Level.NAMESPACES:
        assert (said, ended["exit"]) == (["alive"], "exited")
    else:
        assert (said, ended["exit"], ended["code"]) == ([], "signal", signal.SIGKILL)


def test_nothing_is_visible_in_proc(wall):
    if wall.level is not Level.NAMESPACES:
        pytest.skip("only a pid namespace has a /proc of its own")
    code = """
say(sorted(name for name in os.listdir("/proc") if name.isdigit()), os.getpid())
say([line.split(":")[0].strip() for line in open("/proc/self/net/dev").readlines()[2:]])
say(sorted(os.listdir("/dev")))
"""
    said, _ = wall.attack(code)
    assert said == [["1"], 1, ["lo"], ["fd", "full", "null", "random", "shm", "urandom"]]


SABOTAGE = {
    "seccomp fails": """
from autograder.worker import filters
def load(**_): raise OSError("no")
filters.load = load
""",
    "seccomp does nothing": "from autograder.worker import filters; filters.load = lambda **_: None",
    "no pyseccomp": "from autograder.worker import filters; filters.pyseccomp = None",
    "no private root, old Landlock": """
from autograder.worker import enter, root
root.build = lambda *_, **__: None
enter.landlock_abi = lambda: 2
""",
    "Landlock fails": "from autograder.worker import enter; enter.restrict_files = None",
    "no namespaces, no Landlock": """
from autograder.worker import enter, kernel
def unshare(_): raise PermissionError("no")
kernel.unshare, enter.sandlock = unshare, None
""",
    "limits fail": """
import resource
def setrlimit(*_): raise ValueError("no")
resource.setrlimit = setrlimit
""",
    "the user does not change": "from autograder.worker import enter; enter.become = lambda _: None",
}


@pytest.mark.parametrize("sabotage", SABOTAGE.values(), ids=SABOTAGE)
def test_nothing_runs_when_a_layer_fails(wall, sabotage):
    if "become" in sabotage and wall.user and wall.level is Level.LANDLOCK:
        pytest.skip("an ordinary user has no other to become, and nothing to lose")
    said, ended = wall.attack("say('ran')", sabotage=sabotage)
    assert said == []
    assert ended["exit"] == "refused"
    assert f"level {wall.level}" in ended["message"]


def test_a_refusal_is_told_also_when_the_judge_asks_for_the_end_first(wall):
    """Else it would be a crash, and that is the student's."""
    job = wall.start("say('ran')", sabotage=SABOTAGE["Landlock fails"])
    assert job.data.recv(1) == b""  # the worker is gone, and its supervisor may not have seen it yet
    worker = Worker(job.data, job.control)
    worker.end()
    assert worker.report
    assert worker.report["exit"] == "refused"


def test_two_workers_of_root_are_two_users(wall):
    if wall.user != 0:
        pytest.skip("an ordinary user has but one user to give")
    first, second = (wall.start("say(os.getuid()); import time; time.sleep(5)") for _ in range(2))
    assert first.hear() != second.hear()


def test_probing_leaves_nothing_behind():
    before = {child.pid for child in psutil.Process().children()}
    names = [layer.name for layer in probe()]
    assert names == [
        *(
            "user-namespace",
            "pid-namespace",
            "mount-namespace",
            "network-namespace",
            "ipc-namespace",
            "uid-drop",
        ),
        *("landlock", "seccomp", "rlimits", "no-new-privileges", "memory-cgroup"),
    ]
    assert {child.pid for child in psutil.Process().children()} <= before


def held(*missing: str) -> list[Layer]:
    return [Layer(layer.name, layer.name not in missing, "", "") for layer in probe()]


def test_the_best_level_is_what_the_layers_allow():
    assert best_level(held()) is Level.NAMESPACES
    assert best_level(held("memory-cgroup", "landlock")) is Level.NAMESPACES
    assert best_level(held("mount-namespace")) is Level.LANDLOCK
    assert best_level(held("network-namespace", "user-namespace")) is Level.LANDLOCK
    assert best_level(held("pid-namespace", "landlock")) is Level.NONE
    assert best_level(held("seccomp")) is Level.NONE
    assert best_level(held("uid-drop")) is Level.NONE
    assert best_level([]) is Level.NONE


@pytest.mark.parametrize("missing", [("pid-namespace", "landlock"), ("seccomp",), ("rlimits",)])
def test_with_no_acceptable_level_nothing_is_started(missing, monkeypatch):
    from autograder.grading import warm
    from autograder.grading.errors import UserError

    monkeypatch.setattr(warm, "probe", lambda: held(*missing))
    monkeypatch.setattr(warm.subprocess, "Popen", None)
    with pytest.raises(UserError, match="nothing was run"):
        warm.WarmParent()


def test_layout_of_a_private_root(tmp_path):
    """Links are made again, what is covered is left out, and of nested paths the deeper one decides."""
    (tmp_path / "usr" / "lib" / "secret" / "open").mkdir(parents=True)
    (tmp_path / "lib").symlink_to("usr/lib")
    links, places = layout(
        [f"{tmp_path}/lib", f"{tmp_path}/usr", f"{tmp_path}/lib/secret/open", f"{tmp_path}/missing"],
        [f"{tmp_path}/lib/secret", f"{tmp_path}/missing"],
    )
    assert links == {f"{tmp_path}/lib": "usr/lib"}
    secret = f"{tmp_path}/usr/lib/secret"
    assert places == {f"{tmp_path}/usr": True, secret: False, f"{secret}/open": True}


def test_the_root_itself_is_never_readable():
    with pytest.raises(ValueError, match="root"):
        layout(["/"], [])


def test_every_limit_has_a_default():
    assert Limits() == Limits(2 << 30, 64, 64 << 20, 64 << 20, 256)
