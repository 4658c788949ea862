"""Specifications of tasks that are classes of modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Unpack

import torch

from autograder.checking.expectations.gradients import as_leaves, expect_gradients
from autograder.checking.expectations.modules import expect_registered, make_module
from autograder.checking.inputs.draw import Draw, Sizes
from autograder.checking.remote.handle import Handle
from autograder.checking.remote.submission import Submission
from autograder.checking.specs.cases import Case
from autograder.checking.specs.inputs import (
    Input,
    Modules,
    size_of,
)
from autograder.checking.specs.marks import CheckFunction, Marks, as_check
from autograder.checking.specs.spec import Outputs, Prepared, Spec, State, joined
from autograder.protocol.without import Without

Parameters = Mapping[str, str] | Callable[[Sizes], Mapping[str, str]]
"""The dimensions of parameters by name, or what gives them for some sizes."""


class ModuleSpec(Spec):
    """A task that is a class of modules.

    `made_with` are the arguments that make one, by name: dimensions (`{"input_size": "D"}`) or anything else;
    `parameters` the dimensions of what it registers, by name, or a function of the sizes that gives these, as
    for a stack of layers; `reference(parameters, *inputs)` returns the right results.
    """

    def __init__(
        self,
        task: str,
        *,
        made_with: Mapping[str, Any],
        parameters: Parameters,
        inputs: Mapping[str, Input],
        outputs: Outputs,
        reference: Callable[..., Any],
        forbidden: Without | None = None,
    ) -> None:
        super().__init__(task, inputs=inputs, outputs=outputs, reference=reference, forbidden=forbidden)
        self.made_with, self.parameters = dict(made_with), parameters
        self.told = f"`{task}({', '.join(made_with)})`"

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
        sizes = draw.sizes
        if before is not None:
            made, parameters = before.target, before.parameters
        else:
            made = self.make(submission, sizes, **chosen.options)
            made.to(torch.float64)
            parameters = {}
            if filled:
                parameters = self._draw_parameters(draw)
                made.load_state_dict(parameters)
        if chosen.is_evaluating:
            made.eval()
        if before is not None and chosen.has_same_inputs:
            drawn = replace(before.drawn, values=before.drawn.values[: len(self.inputs) - len(chosen.absent)])
        else:
            drawn = self._drawn(chosen, draw, modules)
        return Prepared(
            words=chosen.words_at(sizes),
            sizes=sizes,
            draw=draw,
            drawn=drawn,
            target=made,
            arguments=drawn.there(submission),
            parameters=parameters,
        )

    def make(self, submission: Submission, sizes: Sizes, **options: Any) -> Handle:
        """Make a module of the student's of these sizes; `options` are further arguments for it."""
        return make_module(getattr(submission, self.task), *self._arguments(sizes), **options, told=self.told)

    def right(self, call: Prepared) -> Any:
        return self.reference(call.parameters, *call.drawn.here)

    def registered(self, **marks: Unpack[Marks]) -> CheckFunction:
        """A module registers these parameters, with their shapes, and nothing else."""

        def body(submission: Submission, sizes: Sizes, draw: Draw) -> None:
            made = self.make(submission, sizes)
            expect_registered(made, self.shapes(sizes), f"`{self.task}`")

        told = "its parameters" if callable(self.parameters) else joined(list(self.parameters))
        usual = f"It registers {told}, with their shapes, and nothing else."
        return as_check("registered", body, usual, marks)

    def shapes(self, sizes: Sizes) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Return for each parameter its shape in words, as `(input_size, hidden_size)`, and in numbers."""
        names = {dim: name for name, dim in self.made_with.items() if isinstance(dim, str)}
        return {
            name: (_shape_in_words(dims, names), sizes.shape(dims))
            for name, dims in self._parameters_at(sizes).items()
        }

    def _parameters_at(self, sizes: Sizes) -> Mapping[str, str]:
        return self.parameters(sizes) if callable(self.parameters) else self.parameters

    def _draw_parameters(self, draw: Draw) -> State:
        shapes = {name: draw.sizes.shape(dims) for name, dims in self._parameters_at(draw.sizes).items()}
        return draw.named(shapes, spread=0.5)

    def _arguments(self, sizes: Sizes) -> tuple[Any, ...]:
        return tuple(size_of(each, sizes) for each in self.made_with.values())

    def _changing(self, call: Prepared) -> tuple[Handle, list[State], Callable[[State], Any]]:
        states = [call.parameters, *(self._draw_parameters(call.draw) for _ in range(2))]
        return call.target, states, lambda held: self.reference(held, *call.drawn.here)

    def _has_parameters(self) -> bool:
        return bool(self.parameters)

    def _made_with(self, chosen: Case, sizes: Sizes) -> dict[str, Any]:
        return {"made_with": (*self._arguments(sizes), *chosen.options.values())}

    def _expect_gradients(self, call: Prepared, tell: str, *, in_eval: bool = True) -> None:
        # A reference is known again by what it sees: `self` would tell nothing.
        leaves, reference = as_leaves(call.parameters), self._as_written
        expect_gradients(
            call.target,
            lambda *arguments: reference(leaves, *arguments),
            call.arguments,
            names=call.drawn.floating,
            parameters=leaves,
            draw=call.draw,
            tell=tell,
            in_eval=in_eval,
        )


def _shape_in_words(dims: str, names: Mapping[str, str]) -> str:
    words = []
    for dim in dims.split():
        factor, letter = (dim[:-1], dim[-1]) if not dim.isdecimal() else ("", dim)
        name = names.get(letter, letter)
        words.append(f"{factor} * {name}" if factor else name)
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"
