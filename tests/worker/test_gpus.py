"""What a machine with a GPU would have, made of files and device nodes, since no test can count on one."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys

import pytest

from autograder.grading.workers.forkserver import ForkServer, RunLimits, clean_environment
from autograder.protocol.messages import RunCell
from autograder.worker.sandbox import gpu_nodes
from autograder.worker.sandbox.limits import Level, Limits

CARD = "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 0\n"


@pytest.fixture
def devices(tmp_path):
    """A folder of device nodes; each is /dev/null's, so that it can be opened."""
    if os.geteuid() != 0:
        pytest.skip("only root can make device nodes")
    folder = tmp_path / "dev"
    folder.mkdir()
    for name in ("nvidia10", "nvidia2", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "null"):
        try:
            os.mknod(folder / name, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("device nodes cannot be made in this container")
        os.chmod(folder / name, 0o666)
    (folder / "nvidia5").write_text("a file, and no device")
    return folder


@pytest.fixture
def driver(tmp_path):
    card = tmp_path / "driver" / "gpus" / "0000:17:00.0"
    card.mkdir(parents=True)
    (card / "information").write_text(CARD)
    return tmp_path / "driver"


def test_the_files_of_every_card_are_found(devices):
    found = [path.removeprefix(f"{devices}/") for path in gpu_nodes.device_files(str(devices))]
    assert found == ["nvidia2", "nvidia10", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools"]


def test_without_a_card_there_is_nothing_to_bind(devices):
    for name in ("nvidia2", "nvidia10"):
        (devices / name).unlink()
    assert gpu_nodes.device_files(str(devices)) == ()
    assert gpu_nodes.describe(str(devices)) is None
    assert gpu_nodes.device_files(str(devices / "nowhere")) == ()


def test_gpus_are_described_by_their_driver(devices, driver):
    assert gpu_nodes.describe(str(devices), str(driver)) == "2 (NVIDIA H100 80GB HBM3)"
    assert "model unknown" in gpu_nodes.describe(str(devices), str(driver / "nowhere"))


def test_what_cuda_would_miss_is_said(devices, driver):
    (devices / "nvidia-uvm").unlink()
    assert gpu_nodes.describe(str(devices), str(driver)).endswith(f"not usable without {devices}/nvidia-uvm")


LOOK = """
import errno, fcntl, json, os, resource, socket, sys
from autograder.worker.sandbox import gpu_nodes as gpus
from autograder.worker.sandbox.probe import Level, Limits, default_readable
from autograder.worker.sandbox.supervisor import supervise
folder, level, gpu_bytes = sys.argv[1], Level(sys.argv[2]), int(sys.argv[3])
names = gpus.device_files(folder)
gpus.device_files = lambda: names
ours, theirs = socket.socketpair()
control, controlled = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

def opened(path):
    try:
        with open(path, "r+b", buffering=0) as file:
            try:
                fcntl.ioctl(file, 0xC8)  # the driver is spoken to by ioctl; /dev/null does not know any
            except OSError as error:
                return error.errno == errno.ENOTTY and file.write(b"x") == 1
    except OSError as error:
        return type(error).__name__

def body():
    home = os.environ["HOME"]
    told = {
        "nodes": sorted(n for n in os.listdir("/dev") if n.startswith("nvidia")) if home == "/tmp" else [],
        "opened": [opened(path if home != "/tmp" else "/dev/" + os.path.basename(path)) for path in names],
        "other": opened(folder + "/null"),
        "space": resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY,
        "data": resource.getrlimit(resource.RLIMIT_DATA)[0],
        "share": os.environ.get("AUTOGRADER_GPU_BYTES"),
        "devices": os.path.exists("/proc/devices"),
        "others": sorted(filter(str.isdigit, os.listdir("/proc"))) if home == "/tmp" else ["1"],
    }
    theirs.sendall(json.dumps(told).encode())

if os.fork() == 0:
    supervise(theirs.fileno(), controlled.fileno(), body, level=level, limits=Limits(gpu_bytes=gpu_bytes),
              readable=default_readable(), hidden=[])
theirs.close()
controlled.close()
print(ours.recv(65536).decode() or control.recv(65536).decode())
"""


def look(devices, level, gpu_bytes):
    """What a worker at that level finds of the GPUs."""
    told = subprocess.run(
        [sys.executable, "-c", LOOK, str(devices), level.value, str(gpu_bytes)],
        capture_output=True,
        text=True,
        check=True,
        env=clean_environment() | {"PYTHONPATH": os.getcwd()},
        timeout=60,
    )
    return json.loads(told.stdout)


@pytest.mark.parametrize("level", [Level.NAMESPACES, Level.LANDLOCK])
def test_a_worker_has_the_gpus_that_it_is_given_and_nothing_else(devices, level):
    os.chmod(devices.parent, 0o755)
    told = look(devices, level, 3 << 30)
    if told.get("exit") == "refused":
        pytest.skip(f"{level} does not hold here: {told['message']}")
    assert told["opened"] == [True] * 5
    assert told["other"] in ("FileNotFoundError", "PermissionError")
    assert told["space"]
    assert told["share"] == str(3 << 30)
    assert told["devices"]
    assert told["others"] == ["1"]
    if level is Level.NAMESPACES:
        assert told["nodes"] == ["nvidia-uvm", "nvidia-uvm-tools", "nvidia10", "nvidia2", "nvidiactl"]


@pytest.mark.parametrize("level", [Level.NAMESPACES, Level.LANDLOCK])
def test_a_worker_that_is_given_none_has_none(devices, level):
    os.chmod(devices.parent, 0o755)
    told = look(devices, level, 0)
    if told.get("exit") == "refused":
        pytest.skip(f"{level} does not hold here: {told['message']}")
    assert all(answer is not True for answer in told["opened"])
    assert told["nodes"] == []
    assert not told["space"]
    assert told["share"] is None
    given = look(devices, level, 1)
    # Landlock lets no driver be spoken to by ioctl on some kernels: there is nothing to compare with then.
    if given.get("exit") == "refused":
        pytest.skip(f"{level} does not hold here with a GPU: {given['message']}")
    assert told["data"] < given["data"]


def test_cuda_takes_memory_of_the_machine_too():
    assert Limits().host_bytes == Limits().memory_bytes
    assert Limits(gpu_bytes=1).host_bytes > Limits().memory_bytes


def test_a_share_is_handed_down_to_workers_where_no_gpu_is():
    with ForkServer(RunLimits(gpu_bytes=1 << 30)) as parent:
        worker = parent.spawn()
        try:
            (ran,) = worker.perform([RunCell(source="import torch; torch.zeros(2)")], 20)
            assert ran.error is None
        finally:
            worker.end()


UNTOUCHED = """
import torch
from pathlib import Path
from autograder.grading.doctor import examine
from autograder.worker import forkserver as parent

def touched(*_, **__):
    raise SystemExit("CUDA was touched")

for name in ("_lazy_init", "init", "is_available", "device_count", "current_device", "get_device_name"):
    assert hasattr(torch.cuda, name)
    setattr(torch.cuda, name, touched)
examine(Path("."))
parent._import_and_warm(["autograder.figures", "autograder.notebook"], [])
assert not torch.cuda.is_initialized()
print("untouched")
"""


@pytest.mark.slow
def test_neither_the_fork_server_nor_doctor_touches_cuda():
    told = subprocess.run(
        [sys.executable, "-c", UNTOUCHED],
        capture_output=True,
        text=True,
        env=clean_environment() | {"PYTHONPATH": os.getcwd()},
        timeout=120,
    )
    assert told.stdout.strip() == "untouched", told.stderr
