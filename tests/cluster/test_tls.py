"""The documented commands for TLS, run as they stand there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.environments.clusters import QUICK_TO_GIVE_UP, cluster
from tests.support.helpers import ASSIGNMENT, ROOT, autograder
from tests.support.resuming import finished, make_class


def documented(begins: str) -> list[str]:
    """The commands of the block in docs/cluster.md that begins so."""
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    (block,) = [block for block in blocks if block.startswith(begins)]
    return block.strip().splitlines()


def make_certificates(folder: Path) -> None:
    for command in documented("openssl req -x509"):
        subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)


def options(command: str, folder: Path) -> list[str]:
    """The documented options about TLS of a command, with files in a folder."""
    return [
        word
        for option, file in re.findall(r"(--tls-\S+) (\S+)", command)
        for word in (option, str(folder / file))
    ]


def settings(folder: Path) -> dict[str, str]:
    """The documented environment of the machine that is called."""
    exports = [line for line in documented("export DASK_DISTRIBUTED") if line.startswith("export ")]
    told = dict(line.removeprefix("export ").split("=", 1) for line in exports)
    return {name: value.replace("$PWD", str(folder)) for name, value in told.items()}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make certificates with")
def test_with_the_documented_certificates_a_class_is_graded_and_nobody_else_gets_in(tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
        make_certificates(folder)
    assert os.stat(ours / "cluster.key").st_mode & 0o77 == 0
    scheduler, worker = (options(line, ours) for line in documented("dask scheduler --host tls"))
    assert scheduler == worker
    assert len(scheduler) == 6
    course = make_class(tmp_path / "course")
    command = ("grade", ASSIGNMENT, "--course", course.root, "--student", "cai", "--scheduler")
    with cluster(tmp_path / "cluster", (1,), tls=scheduler) as made:
        # Another authority's certificate, none at all, and no TLS.
        for address, environment in (
            (made.address, settings(theirs)),
            (made.address, {}),
            (made.address.replace("tls", "tcp"), {}),
            (made.address.replace("tls", "tcp"), settings(ours)),
        ):
            told = autograder(*command, address, **environment, **QUICK_TO_GIVE_UP)
            assert told.returncode == 1, told.stdout
            assert len(told.stderr.splitlines()) == 1, told.stderr
        assert finished(course) == {}
        told = autograder(*command, made.address, **settings(ours))
        assert told.returncode == 0, told.stderr + made.log()
    assert list(finished(course)) == ["cai"]
