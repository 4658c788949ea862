"""Specifications of tasks that are classes of modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Unpack, cast

import torch

from autograder.checking.expectations.gradients import as_leaves, expect_gradients
from autograder.checking.expectations.in_use import stepping
from autograder.checking.expectations.modules import expect_registered, make_module
from autograder.checking.expectations.values import case, expect, fail
from autograder.checking.expectations.wording import in_a_row, listed
from autograder.checking.inputs.cache import computed_once
from autograder.checking.inputs.dimensions import Dimensions
from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.remote.handle import Handle
from autograder.checking.remote.submission import Submission
from autograder.checking.specs.cases import Case
from autograder.checking.specs.inputs import Input, letters_in, size_of
from autograder.checking.specs.marks import CheckFunction, Marks
from autograder.checking.specs.played import expect_state, modules_played, result_of
from autograder.checking.specs.spec import Spec
from autograder.checking.specs.statement import Outputs, Parameters, Prepared, dims_of
from autograder.protocol.values import Keywords
from autograder.protocol.without import Without

Shapes = Mapping[str, str] | Callable[[Sizes], Mapping[str, str]]
"""The dimensions of parameters by name, or what gives them for some sizes."""
Buffers = Callable[[Sizes], Mapping[str, torch.Tensor]]
"""A function of the sizes that gives buffers by name, as a new module holds them."""

_IN_GRAPH = """
def in_graph():
    return lambda module: [n for n, each in contents.buffers_of(module).items() if contents.has_graph(each)]
"""
"""Looks for buffers that belong to a graph."""


class ModuleSpec(Spec):
    """A task that is a class of modules, from which the checks that every task needs are made.

    `task`, `inputs`, `outputs` and `forbidden` are those of a `FunctionSpec`, the inputs being those of
    `forward`. `made_with` are the arguments that make one, by name: dimensions (`{"input_size": "D"}`) or
    anything else; `parameters` the dimensions of what it registers, by name, or a function of the sizes that
    gives these, as for a stack of layers; `reference(parameters, *inputs)` returns the right results. In the
    dimensions of parameters and outputs the name of an argument in braces stands for its number:
    `"B {num_classes}"`. Arguments at the end are left out where they have the values of `defaults`. Raises
    `ValueError` for an unknown dimension, `KeyError` for braces without an argument.

    `buffers`, a function of the sizes, gives the buffers as a new module holds them. The reference of such a
    module is called as `reference(held, *inputs, training=True)`. `held` has the buffers, too, and is changed
    as the module changes them, in place or by a new value under the name.

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

        task = ModuleSpec(
            "BatchNorm",
            made_with={"num_features": "D"},
            parameters={"weight": "D", "bias": "D"},
            buffers=lambda sizes: {"running_mean": torch.zeros(sizes.D), "running_var": torch.ones(sizes.D)},
            inputs={"x": "B D"},
            outputs={"y": "B D"},
            reference=lambda held, x, training: F.batch_norm(
                x, held["running_mean"], held["running_var"], held["weight"], held["bias"], training
            ),
        )

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
        buffers: Buffers | None = None,
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
        self.buffers = buffers
        self._starting = computed_once(_in_float64(buffers))
        self._buffer_names = tuple(self._starting(self._any_sizes))

    def _asked(
        self, submission: Submission, chosen: Case, draw: Draw, filled: bool, before: Prepared | None
    ) -> tuple[Handle, Parameters, Outputs]:
        if before is not None and self.buffers is not None:
            raise TypeError(f"{self.task!r} has buffers: `updates` calls a module again, `again()` does not")
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
                parameters = {**parameters, **self._starting(draw.sizes)}
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
        if self.buffers is not None:
            return self._played([(call.parameters, call.drawn.here, not call.is_evaluating)])[0][0]
        return self.reference(call.parameters, *call.drawn.here)

    def _played(
        self, calls: Sequence[tuple[Parameters, tuple[Any, ...], bool]]
    ) -> list[tuple[Any, Parameters]]:
        """Return the right results of calls in a row, and the buffers after each."""
        return modules_played(self._as_written, self._buffer_names, calls)

    def _changed(self) -> tuple[str, ...]:
        return self._buffer_names

    def _expect_updates(self, submission: Submission, chosen: Case, draw: Draw) -> None:
        call = self.prepare(submission, chosen, draw)
        module, drawn = call.target, [call.drawn, self._drawn(chosen, draw), self._drawn(chosen, draw)]
        trained = {**call.parameters, **draw.named(self._shapes_of(call), spread=0.5)}
        calls = [(call.parameters, drawn[0].here, True), (trained, drawn[1].here, True)]
        calls.append((trained, drawn[2].here, False))
        right = self._played(calls)
        step = stepping(submission, module)
        rows = []
        words = (
            "",
            "at a second call, after an optimizer step",
            "in eval(), after two calls in training mode",
        )
        for place, told in enumerate(words):
            if place == 1:
                step.defer(trained)
            if place == 2:
                module.eval()
            # With gradients, as of a layer in a network: so buffers show whether they are part of a graph.
            answer = module.run_request(drawn[place].there(submission), grad=True, arguments=False)
            rows.append((answer, module.parameters_request(computed=True), told))
        in_graph = submission.given("in_graph", source=_IN_GRAPH, dtype=None).request(module)
        for (answer, after, told), (result, buffers) in zip(rows, right, strict=True):
            with case(told):
                self._expect_result(answer.ask().value, result, call)
                expect_state(after.ask(), buffers, "after the call")
        seen = in_graph.ask()
        if attached := [name for name in self._buffer_names if isinstance(seen, list) and name in seen]:
            fail(
                f"The call leaves its graph in {listed(attached)}: the next backward pass goes through it "
                "again, and `copy.deepcopy` stops there. A buffer holds numbers only: use `detach()`, or a "
                "block `with torch.no_grad():`."
            )
        if other := self._second(submission, chosen, draw):
            other.load_state_dict({**trained, **right[1][1]})
            other.eval()
            with case("in eval(), with what load_state_dict() has put into a new module"):
                self._expect_result(other(*drawn[2].there(submission)), right[2][0], call)

    def _expect_result(self, seen: Any, right: Any, call: Prepared) -> None:
        expect(seen, right, **{**self.form, "dims": dims_of(call.outputs)}, sizes=call.sizes)

    def _shapes_of(self, call: Prepared) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the parameters that a call's module was filled with."""
        held = call.parameters.items()
        return {name: tuple(value.shape) for name, value in held if name not in self._buffer_names}

    @property
    def _signatures(self) -> dict[str, str]:
        """Return how `forward` is to be defined."""
        return {f"{self.task}.forward": f"forward({', '.join(['self', *self._stated_arguments(before=1)])})"}

    def registered(self, **marks: Unpack[Marks]) -> CheckFunction:
        """Check that a module registers these parameters and buffers, with their shapes, and nothing else.

        New buffers have the values of the statement. The rule is `registration`.
        """

        def body(submission: Submission, sizes: Sizes, draw: Draw) -> None:
            made = self.make(submission, sizes)
            expect_registered(made, self.shapes(sizes), f"`{self.task}`", buffers=self._buffer_names)
            for name, value in self._starting(sizes).items():
                expect_state({name: made.attribute(*name.split("."))}, {name: value}, "in a new module")

        told = ["its parameters"] if callable(self.parameters) else list(self.parameters)
        told += [f"the buffer {name}" for name in self._buffer_names]
        usual = f"It registers {in_a_row(told)}, with the right shapes, and nothing else."
        return self._check("registered", body, usual, marks)

    def _check(self, *args: Any, **more: Any) -> CheckFunction:
        made: Any = super()._check(*args, **more)
        made.autograder_buffers = self._buffer_names
        return cast(CheckFunction, made)

    def follows(self, *cases: Case, **marks: Unpack[Marks]) -> CheckFunction:
        if self.buffers is not None:
            raise TypeError(f"{self.task!r} has buffers: `updates` takes the place of `follows`")
        return super().follows(*cases, **marks)

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
        shapes = self._shapes_of(call)
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
        if self.buffers is not None and in_eval:
            self._expect_gradients(call, tell, in_eval=False)
            _, after = self._played([(call.parameters, call.drawn.here, True)])[0]
            call.target.load_state_dict({**call.parameters, **after})
            call.target.eval()
            call = replace(call, parameters={**call.parameters, **after}, is_evaluating=True)
            with case("in eval()"), self.if_right(call):
                self._expect_gradients(call, tell, in_eval=False)
            return
        leaves = as_leaves({name: call.parameters[name] for name in self._shapes_of(call)})
        reference = partial(self._as_written, leaves)
        if self.buffers is not None:
            held = {**call.parameters, **leaves}
            reference = partial(result_of, self._as_written, held, self._buffer_names, not call.is_evaluating)
        expect_gradients(
            call.target,
            reference,
            call.arguments,
            names=call.drawn.floating,
            parameters=leaves,
            draw=call.draw,
            tell=tell,
            results=self.names,
            in_eval=in_eval,
        )


def _in_float64(buffers: Buffers | None) -> Callable[[Sizes], dict[str, torch.Tensor]]:
    """Return a function that gives the buffers of a new module, floating ones as float64."""

    def starting(sizes: Sizes) -> dict[str, torch.Tensor]:
        held = buffers(sizes) if buffers is not None else {}
        return {name: each.double() if each.is_floating_point() else each for name, each in held.items()}

    return starting


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
