"""The wheels that `make wheels` builds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROJECTS = (ROOT, ROOT / "packaging" / "checks", ROOT / "packaging" / "course")


def build_wheels(out: Path) -> list[Path]:
    """Build the students', the graders' and the instructors' wheel into a folder."""
    for project in PROJECTS:
        command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", out, project]
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert told.returncode == 0, told.stdout + told.stderr
    return sorted(out.glob("*.whl"))
