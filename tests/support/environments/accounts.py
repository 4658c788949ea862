"""Real accounts of this machine, made for a test and removed after it: an instructor, students, graders."""

from __future__ import annotations

import grp
import os
import pwd
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.courses import ROOT, environment


@dataclass(frozen=True)
class Account:
    """A login user with a home of its own."""

    name: str
    home: Path
    group: str
    """The group that all accounts of a test are in; `""` for none."""
    entering: str
    """Shell commands with which root becomes this user and runs what follows."""

    def run(
        self, where: Path, *command: object, umask: int = 0o022, seconds: float = 240
    ) -> subprocess.CompletedProcess[str]:
        """A command as this user types it; `nbgrader` and `autograder` are those of the tests."""
        program, *arguments = map(str, command)
        ours = [sys.executable, "-m", program] if program in ("nbgrader", "autograder") else [program]
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", self.entering, "sh", *ours, *arguments],
            cwd=where,
            env={**environment(self.home), "USER": self.name, "LOGNAME": self.name},
            capture_output=True,
            text=True,
            timeout=seconds,
            umask=umask,
        )

    def takes(self, path: Path) -> None:
        """Give a path, and all below it, to this user."""
        entry = pwd.getpwnam(self.name)
        for each in (path, *path.rglob("*")):
            os.chown(each, entry.pw_uid, entry.pw_gid, follow_symlinks=False)


@contextmanager
def accounts(*names: str, group: str = "") -> Iterator[tuple[Path, list[Account]]]:
    """A folder that everybody may enter, and an account for each name; all are in `group`, if one is named.

    Skips the test where no accounts can be made, or where they could not run what is tested.
    """
    if os.getuid() != 0 or not all(map(shutil.which, ("useradd", "unshare", "setpriv"))):
        pytest.skip("needs root, useradd, unshare and setpriv: it makes accounts and works as each of them")
    chance = secrets.token_hex(3)
    shared = f"{group}-{chance}"
    folder = Path(tempfile.mkdtemp(prefix="autograder-accounts-", dir="/tmp"))
    folder.chmod(0o755)
    made: list[str] = []
    try:
        if group:
            subprocess.run(["groupadd", shared], check=True)
        people = []
        for name in names:
            login, home = f"{name}-{chance}", folder / name
            options = ["--create-home", "--home-dir", home, "--user-group", "--shell", "/bin/sh"]
            subprocess.run(["useradd", *options, login], check=True)
            made.append(login)
            home.chmod(0o700)
            everybodys = shared if group else ""
            people.append(Account(login, home, everybodys, _entering(login, everybodys, folder)))
        tried = people[0].run(people[0].home, sys.executable, "-c", "import autograder, nbgrader")
        if tried.returncode:
            pytest.skip(f"another account cannot run {sys.executable}: {tried.stderr[-200:]}")
        yield folder, people
    finally:
        for login in made:
            subprocess.run(["userdel", login], check=False, stderr=subprocess.DEVNULL)
        if group:
            subprocess.run(["groupdel", shared], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _entering(login: str, group: str, folder: Path) -> str:
    """Return the script by which root becomes a user who can run Python even if root's home is closed."""
    entry = pwd.getpwnam(login)
    groups = f"--groups={grp.getgrnam(group).gr_gid}" if group else "--clear-groups"
    become = f'exec setpriv --reuid={entry.pw_uid} --regid={entry.pw_gid} {groups} "$@"'
    needed = {Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), ROOT.resolve()}
    closed = {parent for path in needed for parent in path.parents if not parent.stat().st_mode & 0o001}
    outermost = [path for path in closed if not closed & set(path.parents)]
    lines = ["set -e"]
    for number, path in enumerate(sorted(needed)):
        if closed & set(path.parents):
            held = folder / f"held-{number}"
            held.mkdir(exist_ok=True)
            lines.append(f"mount --bind {shlex.quote(str(path))} {held}")
    lines += [f"mount -t tmpfs -o mode=755 tmpfs {shlex.quote(str(path))}" for path in outermost]
    for number, path in enumerate(sorted(needed)):
        if closed & set(path.parents):
            quoted = shlex.quote(str(path))
            lines += [f"(umask 022; mkdir -p {quoted})", f"mount --bind {folder / f'held-{number}'} {quoted}"]
    return "\n".join([*lines, become])
