"""Shell lines of a notebook, `exit()` among them: none of them does anything when grading.

`!pip install …`, `files = !ls`, `%pip`, `%%bash` and the like would start programs, which a worker may not.
In Jupyter a program that fails stops no cell, so here each is passed over with a line in the cell's output.
"""

from __future__ import annotations

import sys
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magics.script import ScriptMagics
from IPython.utils.text import SList

_FAILED = 127
"""The exit status by which a shell says that it did not find a program."""
_SHOWN = 200


class WithoutPrograms(InteractiveShell):
    """A shell that starts no program and is left by no cell."""

    def init_magics(self) -> None:
        super().init_magics()
        cell_magics = self.magics_manager.magics["cell"]
        script = self.magics_manager.registry["ScriptMagics"]
        assert isinstance(script, ScriptMagics)
        for name in ("script", *script.script_magics):
            cell_magics[name] = lambda line, cell, name=name: self._pass_over(f"%%{name} {line}")

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

    def _pass_over(self, what: str) -> None:
        self.user_ns["_exit_code"] = _FAILED
        # `%pip` names this machine's Python, which is nobody's business.
        first = what.replace(sys.executable, "python").strip().split("\n")[0]
        shown = first if len(first) <= _SHOWN else f"{first[:_SHOWN]} …"
        print(f"Shell lines are not run when grading; this one was left out: {shown}", file=sys.stderr)
