"""A task as its author states it, and the calls of it that a check makes ready."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import torch

from autograder.checking.expectations.values import case
from autograder.checking.inputs.cache import computed_once
from autograder.checking.inputs.dimensions import Dimensions
from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.references import is_recorded
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.remote.handle import Handle
from autograder.checking.remote.submission import Submission
from autograder.checking.runner.reference import reference_beside
from autograder.checking.specs.cases import Case
from autograder.checking.specs.inputs import (
    Drawn,
    Handed,
    Input,
    Modules,
    Optimizer,
    Spread,
    draw_inputs,
    drawn_dims,
    letters_in,
    letters_of,
    names_of,
)
from autograder.checking.specs.marks import authors_frame, stated_dimensions
from autograder.protocol.values import Keywords
from autograder.protocol.without import Without

Parameters = Mapping[str, torch.Tensor]
"""Parameters by name."""
Outputs = Mapping[str, "str | Outputs"]
"""The results in order, each with its dimensions; a nested mapping is a nested tuple."""


@dataclass
class Prepared:
    """One call of a task, ready to be made."""

    words: str
    sizes: Sizes
    draw: Draw
    drawn: Drawn
    target: Handle
    arguments: tuple[Any, ...]
    """The arguments as the student's side gets them."""
    parameters: Parameters
    """The parameters that the student's module was filled with."""
    outputs: Outputs
    """The results in order, with their dimensions."""
    is_evaluating: bool = False
    """True if the student's module is in evaluation mode."""

    def case(self) -> AbstractContextManager[None]:
        """Return a context that puts the call's words before a message."""
        return case(self.words, self.sizes)


Explain = Callable[[Any, Prepared], None]
"""A look at an answer before it is compared: it fails where it knows what the mistake is."""


class Statement(ABC):
    """A task: its inputs and results by dimensions, a reference, and what must not be used.

    Dimensions are written as for `draw`: `"B T D"`, `"4H D"`. The letters are those of `dimensions`, by
    default those that the file which states the task calls `DIMENSIONS`. `made_from` says from which other
    results one is made, as `{"h_next": ["c_next"]}`: where both are wrong, the message is about those.
    `changes` names the modules among the inputs that a call changes.
    """

    def __init__(
        self,
        task: str,
        *,
        inputs: Mapping[str, Input],
        outputs: Outputs,
        reference: Callable[..., Any] | str,
        forbidden: Without | None = None,
        changes: Sequence[str] = (),
        dimensions: Dimensions | None = None,
        made_from: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.dimensions = dimensions or stated_dimensions()
        self.task, self.inputs, self.outputs, self.forbidden = task, dict(inputs), outputs, forbidden
        if isinstance(reference, str):
            reference = reference_beside(Path(authors_frame().f_code.co_filename), reference)
        self.reference = reference if is_recorded(reference) else computed_once(reference)
        self._as_written = reference
        """The reference without what is kept of it: by that its gradients are known again."""
        self.names, self.made_from = names_of(outputs), dict(made_from or {})
        self.changes = tuple(changes)
        modules = [name for name, each in inputs.items() if isinstance(each, Handed)]
        for name in (*changes, *(each.of for each in inputs.values() if isinstance(each, Optimizer))):
            if name not in modules:
                raise ValueError(f"no input {name!r} of {task!r} is a `Handed` module")
        if not callable(reference):
            raise TypeError(f"the reference of {task!r} is no function: {reference!r}")
        self._any_sizes = Sizes(self.dimensions, **dict.fromkeys(self.dimensions, 1))
        for dims in (*dims_of(outputs), *drawn_dims(inputs)):
            self._any_sizes.shape(dims)  # now: below a check's statement nobody would look for a letter

    def prepare(
        self,
        submission: Submission,
        chosen: Case,
        draw: Draw,
        modules: Modules | None = None,
        *,
        filled: bool = True,
        before: Prepared | None = None,
    ) -> Prepared:
        """Draw the inputs of a case, and have all ready on the student's side, for a check of your own.

        `modules` are those handed in, where calls share them. `filled` says whether a module of the student's
        gets drawn parameters, or keeps those that it starts with. `before` is the first call of a module of
        the student's that is called again. What is returned has `target`, `arguments`, `parameters`, `sizes`,
        and `case()`, a context that puts the case's words before a message. Raises `TypeError` for a function
        and a case that only a class of modules can have.
        """
        target, parameters, outputs = self._asked(submission, chosen, draw, filled, before)
        if before is not None and chosen.has_same_inputs:
            drawn = replace(before.drawn, values=before.drawn.values[: len(self.inputs) - len(chosen.absent)])
        else:
            drawn = self._drawn(chosen, draw, modules)
        return Prepared(
            words=chosen.words_at(draw.sizes),
            sizes=draw.sizes,
            draw=draw,
            drawn=drawn,
            target=target,
            arguments=drawn.there(submission),
            parameters=parameters,
            outputs=outputs,
            is_evaluating=chosen.is_evaluating,
        )

    @abstractmethod
    def right(self, call: Prepared) -> Any:
        """Return the right results of a call."""

    @property
    def _signatures(self) -> dict[str, str]:
        """Return how the task's function is to be defined, by the name that Python's errors have for it.

        An input has a default where the reference's has one.
        """
        return {self.task: f"{self.task}({', '.join(self._stated_arguments())})"}

    def _stated_arguments(self, before: int = 0) -> list[str]:
        """Return the inputs as a definition has them; `before` arguments of the reference are no inputs."""
        try:
            stated = list(inspect.signature(self._as_written).parameters.values())[before:]
        except (ValueError, TypeError):  # one of torch's that are written in C++
            stated = []
        defaults = [f"={each.default!r}" if each.default is not each.empty else "" for each in stated]
        pairs = zip_longest(self.inputs, defaults, fillvalue="")
        return [f"{name}{default}" for name, default in islice(pairs, len(self.inputs))]

    @cached_property
    def _letters(self) -> frozenset[str]:
        """Return the dimensions that the task has, as far as its statement writes them."""
        return letters_in(dims_of(self.outputs)) | letters_of(self.inputs, self._any_sizes)

    @property
    def form(self) -> Keywords:
        """Return the results' names and dimensions, and what they are made from, as `expect` takes them."""
        return {"names": self.names, "dims": dims_of(self.outputs), "made_from": self.made_from}

    # --- For the checks --------------------------------------------------------------------------

    def _refuse_unknown(self, written: Case) -> None:
        """Raise `ValueError` for a letter or an input that a case names and the task does not have."""
        letters = {*written.sizes, *(each for each in written.sizes.values() if isinstance(each, str))}
        for letter in sorted(letters - self.dimensions.keys()):
            raise ValueError(
                f"There is no dimension {letter!r} for a case of {self.task!r}: there are "
                f"{', '.join(self.dimensions)}."
            )
        for name in (*written.absent, *written.given, *written.on_cpu):
            if name not in self.inputs:
                raise ValueError(
                    f"There is no input {name!r} for a case of {self.task!r}: "
                    f"there are {', '.join(self.inputs)}."
                )
        for dims in drawn_dims(written.given):
            self._any_sizes.shape(dims)

    def _drawn(self, chosen: Case, draw: Draw, modules: Modules | None = None) -> Drawn:
        inputs = {name: chosen.given.get(name, each) for name, each in self.inputs.items()}
        for name in chosen.absent:
            del inputs[name]
        drawn = draw_inputs(inputs, draw, modules or Modules(), chosen.is_strided)
        if chosen.changed is not None:
            drawn.values = list(chosen.changed(*drawn.values))
        return drawn

    def _floating(self) -> tuple[str, ...]:
        """Return the names of the inputs that may have gradients, as far as the specification says."""
        plain = {name: each for name, each in self.inputs.items() if isinstance(each, (str, Spread, Mapping))}
        return names_of(plain)

    @abstractmethod
    def _asked(
        self, submission: Submission, chosen: Case, draw: Draw, filled: bool, before: Prepared | None
    ) -> tuple[Handle, Parameters, Outputs]:
        """Return what a call is asked of, with the parameters that it was filled with, and its results."""

    @abstractmethod
    def _has_parameters(self) -> bool: ...

    @abstractmethod
    def _made_with(self, chosen: Case, draw: Draw) -> Keywords: ...

    @abstractmethod
    def _expect_gradients(self, call: Prepared, tell: str, *, in_eval: bool = True) -> None:
        """Expect them of a call, and with `in_eval` of the student's module in `eval()`, too."""

    def _changed(self) -> tuple[str, ...]:
        """Return in words what a call changes: the weights of inputs, or buffers."""
        return tuple(f"the weights of {name}" for name in self.changes)

    @abstractmethod
    def _expect_updates(self, submission: Submission, chosen: Case, draw: Draw) -> None:
        """Expect calls in a row to leave the right state behind, and to begin from it."""

    @abstractmethod
    def _changing(self, call: Prepared) -> tuple[Handle, list[Parameters], Callable[[Parameters], Any]]:
        """Return the module whose parameters change, three states of it, and what is right with each."""

    def _second(self, submission: Submission, chosen: Case, draw: Draw) -> Handle | None:
        """Make a second module of the student's like that of a case, where the task is a class of modules."""
        return None


def dims_of(outputs: Outputs) -> tuple[str, ...]:
    """Return the dimensions of all results, in order."""
    dims: list[str] = []
    for each in outputs.values():
        dims += [each] if isinstance(each, str) else dims_of(each)
    return tuple(dims)
