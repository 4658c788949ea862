"""Names that are no name, or the same name, on another file system: students have Windows and macOS, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.grading.course.problem import Problem

_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}
_FORBIDDEN = frozenset('<>:"|?*\\')


def look_at_folder(folder: Path, shown: str) -> Iterator[Problem]:
    """The names of everything that lies in a source folder, and thus goes out with the release."""
    yield from clashes([folder.name], str(Path(shown).parent))
    for here in (folder, *(path for path in sorted(folder.rglob("*")) if path.is_dir())):
        hidden = any(part.startswith(".") or part == "__pycache__" for part in here.relative_to(folder).parts)
        if not hidden:
            yield from clashes((path.name for path in here.iterdir()), _below(shown, folder, here))


def clashes(names: Iterable[str], where: str) -> Iterator[Problem]:
    """Names of one folder that other file systems refuse or take for each other."""
    seen: dict[str, str] = {}
    for name in sorted(names):
        first = seen.setdefault(name.casefold(), name)
        if first != name:
            yield Problem(
                f"{where}/{name}",
                f"is `{first}` in other letters, which is one and the same file on macOS and Windows: "
                "give one of them another name.",
            )
        if name.partition(".")[0].casefold() in _DEVICES:
            yield Problem(f"{where}/{name}", "is the name of a device on Windows: choose another.")
        elif _FORBIDDEN & set(name) or name.endswith((" ", ".")):
            yield Problem(f"{where}/{name}", "is no name that a file may have on Windows: choose another.")


def _below(shown: str, folder: Path, here: Path) -> str:
    return str(Path(shown) / here.relative_to(folder))
