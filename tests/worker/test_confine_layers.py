"""The layers of the wall: nothing runs when one fails, and the best level is what those that hold allow."""

from __future__ import annotations

import psutil
import pytest

from autograder.grading.workers.client import Worker
from autograder.worker.sandbox.limits import Limits
from autograder.worker.sandbox.mounts import layout
from autograder.worker.sandbox.probe import PROBES, Layer, Level, best_level, probe

SABOTAGE = {
    "seccomp fails": """
from autograder.worker.sandbox import seccomp as filters
def load(**_): raise OSError("no")
filters.load = load
""",
    "seccomp does nothing": "from autograder.worker.sandbox import seccomp; seccomp.load = lambda **_: None",
    "no pyseccomp": "from autograder.worker.sandbox import seccomp; seccomp.pyseccomp = None",
    "no private root, old Landlock": """
from autograder.worker.sandbox import apply as enter; from autograder.worker.sandbox import mounts as root
root.build = lambda *_, **__: None
enter.landlock_abi = lambda: 2
""",
    "Landlock fails": "from autograder.worker.sandbox import apply as enter; enter.restrict_files = None",
    "no namespaces, no Landlock": """
from autograder.worker.sandbox import apply as enter; from autograder.worker.sandbox import syscalls as kernel
def unshare(_): raise PermissionError("no")
kernel.unshare, enter.sandlock = unshare, None
""",
    "limits fail": """
import resource
def setrlimit(*_): raise ValueError("no")
resource.setrlimit = setrlimit
""",
    "the user does not change": "from autograder.worker.sandbox import apply; apply.become = lambda _: None",
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
        *("landlock", "seccomp", "rlimits", "no-new-privileges"),
    ]
    assert {child.pid for child in psutil.Process().children()} <= before


def test_every_layer_has_a_remedy():
    """`autograder doctor` reports a layer that does not hold as a problem, with what to do about it."""
    assert [name for name, _, remedy in PROBES if not remedy] == []


def held(*missing: str) -> list[Layer]:
    return [Layer(layer.name, layer.name not in missing, "", "") for layer in probe()]


@pytest.mark.slow
def test_the_best_level_is_what_the_layers_allow():
    assert best_level(held()) is Level.NAMESPACES
    assert best_level(held("landlock")) is Level.NAMESPACES
    assert best_level(held("mount-namespace")) is Level.LANDLOCK
    assert best_level(held("network-namespace", "user-namespace")) is Level.LANDLOCK
    assert best_level(held("pid-namespace", "landlock")) is Level.NONE
    assert best_level(held("seccomp")) is Level.NONE
    assert best_level(held("uid-drop")) is Level.NONE
    assert best_level([]) is Level.NONE


@pytest.mark.parametrize("missing", [("pid-namespace", "landlock"), ("seccomp",), ("rlimits",)])
def test_with_no_acceptable_level_nothing_is_started(missing, monkeypatch):
    from autograder.errors import UserError
    from autograder.grading.workers import forkserver

    monkeypatch.setattr(forkserver, "probe", lambda: held(*missing))
    monkeypatch.setattr(forkserver.subprocess, "Popen", None)
    with pytest.raises(UserError, match="nothing was run"):
        forkserver.ForkServer()


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
