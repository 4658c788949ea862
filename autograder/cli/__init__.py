"""The command line: each command parses, calls one function, prints. Errors are printed once, here.

`console` has what the commands share, `stopping` what ends them; `authoring` makes a course, `adopting` takes
one over, `converting` makes checks of its asserts, `commands` grade it, `intake` brings uploads in, `publish`
shows what was found, `overview` a course as a whole; `completion` is what a shell completes.
"""

from autograder.cli import adopting, authoring, commands, converting, intake, overview, publish
from autograder.cli.console import app

__all__ = ["adopting", "app", "authoring", "commands", "converting", "intake", "main", "overview", "publish"]


def main() -> None:
    """The console script."""
    app()
