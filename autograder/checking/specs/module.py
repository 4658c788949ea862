"""Specifications of tasks that are classes of modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Unpack

import torch

from autograder.checking.expectations.gradients import as_leaves, expect_gradients
from autograder.checking.expectations.modules import expect_registered, make_module
from autograder.checking.expectations.wording import in_a_row
from autograder.checking.inputs.dimensions import Dimensions
from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.remote.handle import Handle
from autograder.checking.remote.submission import Submission
from autograder.checking.specs.cases import Case
from autograder.checking.specs.inputs import Input, letters_in, size_of
from autograder.checking.specs.marks import CheckFunction, Marks
from autograder.checking.specs.spec import Spec
from autograder.checking.specs.statement import Outputs, Parameters, Prepared
from autograder.protocol.values import Keywords
from autograder.protocol.without import Without

Shapes = Mapping[str, str] | Callable[[Sizes], Mapping[str, str]]
"""The dimensions of parameters by name, or what gives them for some sizes."""


class ModuleSpec(Spec):
    """A task that is a class of modules, from which the checks that every task needs are made.

    `task`, `inputs`, `outputs` and `forbidden` are those of a `FunctionSpec`, the inputs being those of
    `forward`. `made_with` are the arguments that make one, by name: dimensions (`{"input_size": "D"}`) or
    anything else; `parameters` the dimensions of what it registers, by name, or a function of the sizes that
    gives these, as for a stack of layers; `reference(parameters, *inputs)` returns the right results. In the
    dimensions of parameters and outputs the name of an argument in braces stands for its number:
    `"B {num_classes}"`. Arguments at the end are left out where they have the values of `defaults`. Raises
    `ValueError` for an unknown dimension, `KeyError` for braces without an argument.

        task = ModuleSpec(
            "FeedForward",
            made_with={"width": "D", "inner": "H"},
            parameters={"up": "D H", "down": "H D", "scale": "D"},
            inputs={"x": "B T D"},
            outputs={"y": "B T D"},
            reference=lambda held, x: x + held["scale"] * (F.gelu(x @ held["up"]) @ held["down"]),
        )
        test_registered = task.registered()
        test_values = task.values(points=2, needs=[test_registered])

    It has all methods of a `FunctionSpec`, and some more.
    """

    def __init__(
        self,
        task: str,
        *,
        made_with: Mapping[str, Any],
        parameters: Shapes,
        inputs: Mapping[str, Input],
        outputs: Outputs,
        reference: Callable[..., Any] | str,
        forbidden: Without | None = None,
        defaults: Mapping[str, Any] | None = None,
        dimensions: Dimensions | None = None,
        made_from: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._written = outputs
        super().__init__(
            task,
            inputs=inputs,
            outputs=_filled_in(outputs, made_with),
            reference=reference,
            forbidden=forbidden,
            dimensions=dimensions,
            made_from=made_from,
        )
        self.made_with, self.parameters = dict(made_with), parameters
        self._defaults = dict(defaults or {})
        self.told = f"`{task}({', '.join(made_with)})`"

    def _asked(
        self, submission: Submission, chosen: Case, draw: Draw, filled: bool, before: Prepared | None
    ) -> tuple[Handle, Parameters, Outputs]:
        if before is not None:
            made, parameters, outputs = before.target, before.parameters, before.outputs
        else:
            options = chosen.draw_options(draw)
            made = self.make(submission, draw.sizes, **options)
            made.to(torch.float64)
            outputs = _filled_in(self._written, self._numbers(draw.sizes, options))
            parameters = {}
            if filled:
                shapes = {name: shape for name, (_, shape) in self.shapes(draw.sizes, **options).items()}
                parameters = draw.named(shapes, spread=0.5)
                if chosen.parameters is not None:
                    parameters = chosen.parameters(parameters)
                made.load_state_dict(parameters)
        if chosen.is_evaluating:
            made.eval()
        return made, parameters, outputs

    def make(self, submission: Submission, sizes: Sizes, **options: Any) -> Handle:
        """Make a module of the student's of these sizes; `options` are as those of a case."""
        numbers = self._numbers(sizes, options)
        further = {name: each for name, each in options.items() if name not in numbers}
        made = getattr(submission, self.task)
        return make_module(made, *self._arguments(numbers), **further, told=self.told)

    def right(self, call: Prepared) -> Any:
        return self.reference(call.parameters, *call.drawn.here)

    @property
    def _signatures(self) -> dict[str, str]:
        """Return how `forward` is to be defined."""
        return {f"{self.task}.forward": f"forward({', '.join(['self', *self._stated_arguments(before=1)])})"}

    def registered(self, **marks: Unpack[Marks]) -> CheckFunction:
        """Check that a module registers these parameters, with their shapes, and nothing else.

        The rule is `registration`.
        """

        def body(submission: Submission, sizes: Sizes, draw: Draw) -> None:
            made = self.make(submission, sizes)
            expect_registered(made, self.shapes(sizes), f"`{self.task}`")

        told = "its parameters" if callable(self.parameters) else in_a_row(list(self.parameters))
        usual = f"It registers {told}, with the right shapes, and nothing else."
        return self._check("registered", body, usual, marks)

    def shapes(self, sizes: Sizes, **options: Any) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Return for each parameter its shape in words, as `(input_size, hidden_size)`, and in numbers."""
        names = {dim: name for name, dim in self.made_with.items() if isinstance(dim, str)}
        numbers = self._numbers(sizes, options)
        return {
            name: (_shape_in_words(dims, names), sizes.shape(dims.format(**numbers)))
            for name, dims in self._parameters_at(sizes).items()
        }

    def _parameters_at(self, sizes: Sizes) -> Mapping[str, str]:
        return self.parameters(sizes) if callable(self.parameters) else self.parameters

    @cached_property
    def _letters(self) -> frozenset[str]:
        made_with = [each for each in self.made_with.values() if size_of(each, self._any_sizes) != each]
        return super()._letters | letters_in(made_with)

    def _numbers(self, sizes: Sizes, options: Mapping[str, Any]) -> Keywords:
        """Return the arguments of `made_with` by name, dimensions in numbers."""
        return {name: options.get(name, size_of(each, sizes)) for name, each in self.made_with.items()}

    def _arguments(self, numbers: Mapping[str, Any]) -> tuple[Any, ...]:
        names = list(numbers)
        while names and names[-1] in self._defaults and numbers[names[-1]] == self._defaults[names[-1]]:
            names.pop()
        return tuple(numbers[name] for name in names)

    def _changing(self, call: Prepared) -> tuple[Handle, list[Parameters], Callable[[Parameters], Any]]:
        shapes = {name: tuple(value.shape) for name, value in call.parameters.items()}
        states = [call.parameters, *(call.draw.named(shapes, spread=0.5) for _ in range(2))]
        return call.target, states, lambda held: self.reference(held, *call.drawn.here)

    def _second(self, submission: Submission, chosen: Case, draw: Draw) -> Handle | None:
        if chosen.options:  # those that are drawn would be others
            return None
        made = self.make(submission, draw.sizes)
        made.to(torch.float64)
        return made

    def _has_parameters(self) -> bool:
        return bool(self.parameters)

    def _made_with(self, chosen: Case, draw: Draw) -> Keywords:
        options = chosen.draw_options(draw)
        numbers = self._numbers(draw.sizes, options)
        further = [each for name, each in options.items() if name not in numbers]
        return {"made_with": (*self._arguments(numbers), *further)}

    def _expect_gradients(self, call: Prepared, tell: str, *, in_eval: bool = True) -> None:
        leaves = as_leaves(call.parameters)
        expect_gradients(
            call.target,
            partial(self._as_written, leaves),
            call.arguments,
            names=call.drawn.floating,
            parameters=leaves,
            draw=call.draw,
            tell=tell,
            results=self.names,
            in_eval=in_eval,
        )


def _filled_in(outputs: Outputs, numbers: Mapping[str, Any]) -> Outputs:
    """Return the results with the arguments' numbers in place of their names in braces."""
    return {
        name: each.format(**numbers) if isinstance(each, str) else _filled_in(each, numbers)
        for name, each in outputs.items()
    }


def _shape_in_words(dims: str, names: Mapping[str, str]) -> str:
    words = []
    for dim in dims.split():
        if dim.startswith("{"):
            words.append(dim[1:-1])
            continue
        factor, letter = (dim[:-1], dim[-1]) if not dim.isdecimal() else ("", dim)
        name = names.get(letter, letter)
        words.append(f"{factor} * {name}" if factor else name)
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"
