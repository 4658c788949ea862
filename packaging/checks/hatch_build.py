"""A build hook that puts the whole checks and their hints into the package `autograder_checks`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Checks(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        package = Path(self.root, "autograder_checks")
        if any(package.glob("*/test_*.py")):
            return  # an unpacked sdist: the checks are in the package already
        root = Path(self.root).parent.parent
        home = root / "autograder" / "exercises"
        if not any(home.glob("*/test_*.py")) or any(home.glob("*/handed_out.json")):
            raise FileNotFoundError(f"The checks cannot be packaged: {home} does not have the whole ones.")
        files = {path: path.relative_to(home).as_posix() for path in sorted(home.rglob("*.py"))}
        del files[home / "__init__.py"]  # the package has one of its own
        for hints in sorted(root.glob("release/*/hints.json")):
            _, _, exercise = hints.parent.name.partition("_")  # `03_lstm_cell` is the third
            if (home / exercise).is_dir():
                files[hints] = f"{exercise}/{hints.name}"
        files[root / "LICENSE"] = "LICENSE"
        build_data["force_include"] |= {
            str(file): f"autograder_checks/{name}" for file, name in files.items()
        }
