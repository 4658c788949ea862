"""Help with an error that stopped a student's code: the signature wanted, sizes by name, or advice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from autograder.checking.explain.stopped import (
    explain_error,
    is_about_sizes,
    undefined_task,
    wanted_signature,
)
from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.remote.connection import Exchange
from autograder.checking.remote.errors import StudentError
from autograder.checking.runner.trying import Run, tried_or_renewed
from autograder.protocol.tensors import tensors_in


@dataclass(frozen=True)
class ErrorHelp:
    """An error in a check, and what is known of the call that it stopped."""

    raised: StudentError
    draw: Draw
    exchanges: Sequence[Exchange]
    signatures: Mapping[str, str]
    """The signatures of the task's functions, by the names that Python's errors have for them."""
    tasks: Collection[str]
    """The tasks of the notebook."""

    def told(self, elsewhere: tuple[str, Sizes] | None = None) -> str:
        """Return what helps; `elsewhere` is the error of the same check at other sizes, and these."""
        return (
            wanted_signature(self.raised.message, self.signatures)
            or undefined_task(self.raised.message, self.tasks)
            or self._sizes_or_advice(elsewhere)
        )

    def told_by_other_sizes(self, run: Run, sizes: Sizes, renew: Callable[[], None]) -> str:
        """Return what helps, where a size is named only if its name fits in a run at other sizes, too."""
        if not is_about_sizes(self.raised.message):
            return self.raised.help
        again = tried_or_renewed(run, sizes, renew)
        if not isinstance(again, StudentError) or again.type != self.raised.type:
            return self.raised.help
        return self.told((again.message, again.sizes or sizes))

    def _sizes_or_advice(self, elsewhere: tuple[str, Sizes] | None) -> str:
        raised = self.raised
        sizes = raised.sizes or (None if raised.case else self.draw.sizes)
        sent = {size for each, _ in self.exchanges for part in tensors_in(each) for size in part.shape}
        known = sizes.by_letter() if sizes is not None else {}
        # A check that hands in modules alone draws nothing by its letters.
        letters = self.draw.letters or {letter for letter, size in known.items() if size in sent}
        code = raised.lines[-1] if raised.lines else ""
        return explain_error(raised.message, sizes, letters, sent, code, elsewhere)
