"""Lines of a notebook that do nothing when grading: shell lines, magics that are not there, `exit()`.

`!pip install …`, `files = !ls`, `%pip`, `%%bash` and the like would start programs, which a worker may not.
In Jupyter a program that fails stops no cell, so here each is passed over with a line in the cell's output.
So is a magic that nobody here knows, for it comes from a package of the student's: `%load_ext nb_black`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magics.script import ScriptMagics
from IPython.utils.text import SList

from autograder.worker.session.refused_programs import FAILED

_SHOWN = 200
_NOT_RUN = "Shell lines are not run when grading"
_NOT_THERE = "Extensions that the course does not need are not there when grading"
_OF_THE_PAGE = ("autosave", "clear", "connect_info", "edit", "less", "man", "more", "qtconsole", "subshell")
"""Magics that do something to the page, or open something beside it."""

_OF_THE_SESSION = ("reset", "reset_selective")
"""Magics that take names away: a cell of experiments may end with one, below all that is judged."""


class WithoutPrograms(InteractiveShell):
    """A shell that starts no program and is left by no cell."""

    def init_magics(self) -> None:
        super().init_magics()
        cell_magics = self.magics_manager.magics["cell"]
        script = self.magics_manager.registry["ScriptMagics"]
        assert isinstance(script, ScriptMagics)
        for name in ("script", *script.script_magics):
            cell_magics[name] = lambda line, cell, name=name: self._pass_over(f"%%{name} {line}")
        line_magics = self.magics_manager.magics["line"]
        for name in (*_OF_THE_PAGE, *_OF_THE_SESSION):
            line_magics[name] = lambda line: None
        for name in ("load_ext", "reload_ext"):
            line_magics[name] = partial(self._load_extension, name, self.find_line_magic(name))
        self.set_hook("show_in_pager", lambda *_, **__: None, 99)  # what `help?` opens is no output

    def _load_extension(self, magic: str, load: Callable[[str], Any], line: str) -> Any:
        """Load an extension, or pass over it where its package is not there."""
        try:
            return load(line)
        except ModuleNotFoundError:
            return self._pass_over(f"%{magic} {line}", _NOT_THERE)

    def _find_with_lazy_load(self, /, type_: str, magic_name: str) -> Any:
        found = super()._find_with_lazy_load(type_, magic_name)
        if found is not None:
            return found
        if type_ == "line":
            return lambda line: self._pass_over(f"%{magic_name} {line}", _NOT_THERE)
        return lambda line, cell: self._pass_over(f"%%{magic_name} {line}", _NOT_THERE)

    def system(self, cmd: str) -> None:
        """Pass over `!command`, and what ends here: `%pip`, `%system`, an alias."""
        self._pass_over(f"!{cmd}")

    system_piped = system_raw = system  # other ways to do the same

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """Pass over `x = !command`: what it would have printed is empty."""
        self._pass_over(f"!{cmd}")
        return SList() if split else ""

    def ask_exit(self) -> None:
        """Stay: `exit()` and `quit()` end a kernel some time after the cell, and nothing here."""

    def _pass_over(self, what: str, why: str = _NOT_RUN) -> None:
        self.user_ns["_exit_code"] = FAILED
        # `%pip` names this machine's Python, which is nobody's business.
        first = what.replace(sys.executable, "python").strip().split("\n")[0]
        shown = first if len(first) <= _SHOWN else f"{first[:_SHOWN]} …"
        print(f"{why}; this one was left out: {shown}", file=sys.stderr)
