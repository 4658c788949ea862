"""Environments in which `pip install` finds the packages of the tests' own, without a download."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from importlib.metadata import distributions
from pathlib import Path

OURS = "lstm[_-]autograder*", "_editable_impl_lstm_autograder*", "autograder", "autograder_checks"
"""The packages that install this repository: an environment that borrows lacks them."""
PIP = "pip", "pip-*"
SCRIPT = "#!{python}\nimport sys\nfrom {module} import {name}\nsys.exit({attribute}())\n"


def lend(environment: Path) -> None:
    """Lend the packages of this environment to one that `python3 -m venv` is still to make there.

    All but this repository's own: what is installed of that comes from wheels.
    """
    packages = environment / "borrowed"
    packages.mkdir(parents=True)
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not any(path.match(pattern) for pattern in (*OURS, *PIP, "*.pth")):
            (packages / path.name).symlink_to(path)
    site = environment / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    site.mkdir(parents=True)
    (site / "borrowed.pth").write_text(f"{packages}\n")
    (environment / "share").symlink_to(Path(sys.prefix, "share"))
    shutil.copytree(Path(sys.prefix, "etc"), environment / "etc")
    scripts = environment / "bin"
    scripts.mkdir()
    for distribution in distributions(path=[str(packages)]):
        for entry in distribution.entry_points.select(group="console_scripts"):
            script = scripts / entry.name
            script.write_text(
                SCRIPT.format(
                    python=scripts / "python",
                    module=entry.module,
                    name=entry.attr.partition(".")[0],
                    attribute=entry.attr,
                )
            )
            script.chmod(0o755)
