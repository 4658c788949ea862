"""What lies outside the wall: files, processes, sockets and the caller's environment, each really tried.

At both levels, as root and as an ordinary user. Every attack is also run once without a wall
(`test_without_a_wall_...`), where it must succeed: an attack that cannot work anywhere proves nothing.
"""

from __future__ import annotations

import os
import socket
import subprocess

import pytest

from autograder.worker.sandbox.probe import Level
from tests.support.hostile.confinement import failed, refused

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


@pytest.fixture
def victim(wall):
    """A process outside the wall, of the user who grades."""
    process = subprocess.Popen(["sleep", "60"], **wall.identity())
    yield process
    process.kill()
    process.wait()


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
