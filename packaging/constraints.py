"""Print constraints.txt: the newest versions that the oldest Python can have, of all that is installed.

pip resolves for the very first release of that Python (3.11.0 for `requires-python = ">=3.11"`), whichever
one it runs on: a distribution's 3.11.2 gets no version that asks for 3.11.5. Nothing is installed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEAD = (
    "# Exact versions of everything the set-up installs, for Python {} and newer. Made by `make constraints`."
)


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    oldest = oldest_python(project["requires-python"])
    minor = ".".join(oldest.split(".")[:2])
    if minor != "{}.{}".format(*sys.version_info):
        # pip reads the markers of requirements (`python_version < "3.12"`) with the Python it runs on.
        sys.exit(f"This needs Python {minor}, the oldest one named: make constraints PYTHON=python{minor}")
    extras = project["optional-dependencies"]
    print(HEAD.format(oldest))
    print(*pins([*project["dependencies"], *extras["grading-tools"], *extras["dev"]], oldest), sep="\n")


def oldest_python(requires: str) -> str:
    """Return the first release that `requires-python` allows, as in 3.11.0."""
    (first,) = re.findall(r">=\s*([\d.]+)", requires)
    return ".".join([*first.split("."), "0", "0"][:3])


def pins(requirements: list[str], python: str) -> list[str]:
    """Return `name==version` of all that pip would install for a Python, in the order of their names."""
    with tempfile.TemporaryDirectory() as made:
        report = Path(made, "report.json")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        for_python = ["--python-version", python, "--only-binary", ":all:", "--target", made]
        subprocess.run([*pip, *for_python, "--report", report, *requirements], check=True)
        found = [each["metadata"] for each in json.loads(report.read_text())["install"]]
    # Without the local part: the CPU build of torch is 2.13.0+cpu, and another machine may have another.
    versions = {each["name"]: each["version"].partition("+")[0] for each in found}
    return [f"{name}=={versions[name]}" for name in sorted(versions, key=str.lower)]


if __name__ == "__main__":
    main()
