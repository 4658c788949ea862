"""The files of whoever runs a hub: the units for grading at night, the recipe of a worker's container."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.environments.borrowed import lend
from tests.support.environments.hubs import PAGE, PLACE
from tests.support.environments.wheels import build_wheels
from tests.support.helpers import ROOT

UNITS = ROOT / "packaging" / "systemd"
RECIPE = ROOT / "packaging" / "worker" / "Containerfile"
CONFINING = "RestrictNamespaces", "SystemCallFilter", "PrivateUsers", "ProtectProc", "ProtectKernelTunables"
"""Settings of systemd's confinement that would take away that of submissions."""


def recipe() -> list[tuple[str, str]]:
    """The instructions of the recipe, lines that go on put together."""
    text = re.sub(r"(?m)^#.*\n", "", RECIPE.read_text()).replace("\\\n", "")
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


def settings(unit: str) -> dict[str, str]:
    lines = (UNITS / unit).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and line[0] not in "#[")


def test_systemd_finds_nothing_wrong_with_the_units(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze: Debian's package `systemd`, as .ci/run installs")
    for name in ("autograder", "nbgrader"):
        program = tmp_path / "hub" / "grading" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    (tmp_path / "hub" / "course").mkdir()

    def verified(spoil: str = "") -> str:
        for unit in UNITS.iterdir():
            text = unit.read_text().replace(PLACE, str(tmp_path / "hub"))
            (tmp_path / unit.name).write_text(text + (spoil if unit.suffix == ".service" else ""))
        names = [tmp_path / f"autograder-grade@03_lstm_cell.{kind}" for kind in ("service", "timer")]
        told = subprocess.run(["systemd-analyze", "verify", *names], capture_output=True, text=True)
        return "\n".join(line for line in told.stderr.splitlines() if "autograder-grade" in line)

    assert verified() == ""
    assert "ExecSart" in verified("ExecSart=/bin/true\n"), "it would not see a mistake"


def test_the_night_is_what_the_page_does_by_hand():
    service = settings("autograder-grade@.service")
    by_hand = PAGE.read_text().replace("03_lstm_cell", "%i").splitlines()
    assert service["ExecStartPre"] in by_hand
    assert service["ExecStart"] in by_hand
    assert f"cd {service['WorkingDirectory']}" in by_hand
    assert not set(service) & set(CONFINING)


def test_the_recipe_installs_what_ci_and_the_guide_install():
    ran = [text for instruction, text in recipe() if instruction == "RUN"]
    ci, make, course = ((ROOT / name).read_text() for name in (".ci/run", "Makefile", "docs/course.md"))
    (packages,) = re.findall(r"apt-get install -q -y --no-install-recommends ([\w .-]+?) &&", ran[0])
    wanted = {name for group in re.findall(r"missing\+=\(([^)]*)\)", ci) for name in group.split()}
    assert set(packages.split()) <= wanted
    (torch,) = re.findall(r"(?m)^TORCH := (\S+)$", make)
    assert any(text.endswith(f"install --no-cache-dir {torch}") for text in ran)
    (graders,) = re.findall(r'(?m)^pip install (--find-links dist .*"lstm-autograder\[grading\]")', course)
    assert any(graders.replace("[grading]", "[grading,cluster]") in text for text in ran)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    asked = re.findall(r"lstm-autograder\[([\w,-]+)\]", "".join(ran))[0].split(",")
    assert set(asked) - set(extras) == set()
    (command,) = [text for instruction, text in recipe() if instruction == "CMD"]
    assert shlex.split(command)[1:3] == ["/opt/autograder/bin/dask", "worker"]


@pytest.mark.slow
def test_the_recipe_makes_an_environment_that_grades_and_holds_no_solution(tmp_path):
    """Its commands, but for those of the system, in a folder that has what it copies."""
    built = tmp_path / "built"
    build_wheels(built)
    environment, where = tmp_path / "autograder", tmp_path / "build"
    lend(environment)
    for instruction, text in recipe():
        if instruction == "COPY":
            *sources, target = text.split()
            (where / target).mkdir(parents=True, exist_ok=True)
            for source in sources:
                folder = built if source.startswith("dist/") else ROOT
                found = list(folder.glob(source.removeprefix("dist/")))
                assert found, source
                for path in found:
                    shutil.copyfile(path, where / target / path.name)
        elif instruction == "RUN" and "/opt/autograder" in text:
            command = text.replace("/opt/autograder", str(environment))
            options = {"PIP_NO_INDEX": "1", "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
            told = subprocess.run(command, shell=True, cwd=where, env=options, capture_output=True, text=True)
            assert told.returncode == 0, told.stdout + told.stderr
    look = (
        "import importlib.util as u\n"
        "print([bool(u.find_spec(n)) for n in ('autograder', 'autograder_checks', 'autograder_course')])"
    )
    told = subprocess.run(
        [environment / "bin" / "python", "-c", look], cwd="/", capture_output=True, text=True
    )
    assert told.stdout == "[True, True, False]\n", told.stderr
    told = subprocess.run([environment / "bin" / "autograder", "doctor"], capture_output=True, text=True)
    assert "This machine can grade." in told.stdout, told.stdout + told.stderr
