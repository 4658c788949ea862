"""A build hook that ships the exercises as students get them: no hidden check and no reference's text.

Beside the checks lie the sealed hints, which `autograder build` makes in release/, and what references give
on the inputs of the notebooks, which it notes in solutions/recorded/. Python alone is needed for this.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HOME = "autograder/exercises"


class Exercises(BuildHookInterface):
    """The hook: the folder itself is left out of what is built, and this form of it is put in.

    An editable install gets nothing: copies in site-packages would grow old there.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        home = Path(self.root) / HOME
        if not any(home.glob("*/handed_out.json")):  # those of an unpacked sdist are handed out already
            self._made = tempfile.TemporaryDirectory(prefix="handed-out-")
            hand_out(Path(self.root), Path(self._made.name))
            home = Path(self._made.name)
        build_data["force_include"] |= {
            str(path): f"{HOME}/{path.relative_to(home).as_posix()}" for path in exercise_files(home)
        }

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_made"):
            self._made.cleanup()


def hand_out(root: Path, target: Path) -> None:
    """Write all exercises of the repository as students get them."""
    sys.path.insert(0, str(root))
    try:
        from autograder.checking.runner.handed_out_file import FILE, goes_out
    finally:
        sys.path.remove(str(root))
    home = root / HOME
    files = {path.relative_to(home): path for path in exercise_files(home) if goes_out(path.name)}
    for release in sorted((root / "release").glob("*/")):
        _, _, exercise = release.name.partition("_")  # `03_lstm_cell` has its checks in `lstm_cell`
        if not (home / exercise).is_dir():
            continue
        recorded = root / "solutions" / "recorded" / f"{release.name}.json"
        if not recorded.is_file():
            raise FileNotFoundError(f"There is no {recorded}: run `autograder build {release.name}`.")
        files[Path(exercise, FILE)] = recorded
        if (release / "hints.json").is_file():
            files[Path(exercise, "hints.json")] = release / "hints.json"
    for name, path in files.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name)


def exercise_files(home: Path) -> list[Path]:
    return sorted(path for path in home.rglob("*") if path.suffix in (".py", ".json") and path.is_file())
