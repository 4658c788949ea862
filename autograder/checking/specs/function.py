"""Specifications of tasks that are functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograder.checking.expectations.gradients import expect_gradients
from autograder.checking.expectations.values import case, expect
from autograder.checking.inputs.draw import Draw
from autograder.checking.remote.handle import Handle
from autograder.checking.remote.submission import Submission
from autograder.checking.specs.cases import Case
from autograder.checking.specs.inputs import Drawn, Given, Handed, Modules
from autograder.checking.specs.played import expect_state, functions_played
from autograder.checking.specs.spec import Spec
from autograder.checking.specs.statement import Outputs, Parameters, Prepared, dims_of
from autograder.protocol.values import Keywords


class FunctionSpec(Spec):
    """A task that is a function, from which the checks that every task needs are made.

    `task` is its name; `inputs` are by name and in order, each written as dimensions (`"B T D"`,
    `weight("H D")`), as a mapping of these (a tuple of named tensors), as a `Handed` module, or as a function
    of `draw`; `outputs` are the results' dimensions by name, a nested mapping being a nested tuple.
    `reference` takes the same arguments and returns the right results, and `forbidden` are the parts of torch
    that do the task's work. `changes` names the modules among the inputs that a call changes, as a training
    step does; an input may also be an `Optimizer`. The reference gets copies of these, to change likewise.
    Raises `ValueError` for an unknown dimension or input, `TypeError` for a reference that is no function.

        DIMENSIONS = Dimensions(N="batch", C="channels", F="filters", W="width", K="kernel")

        task = FunctionSpec(
            "conv1d",
            inputs={"x": "N C W", "weight": weight("F C K"), "bias": weight("F")},
            outputs={"y": "N F W"},
            reference=lambda x, weight, bias: F.conv1d(x, weight, bias, padding="same"),
            forbidden=Without(operators="conv(?!ert)", say="Write the sum over the kernel yourself."),
        )
        test_from_scratch = task.from_scratch()
        test_shape = task.shape(needs=[test_from_scratch])
        test_values = task.values(sized("with one signal", N=1), USUAL, points=5, needs=[test_shape])

    Each method returns a check, to be assigned to a name that begins with `test_`. It takes its cases first,
    by default the usual one, and then the marks `title`, `points`, `needs`, `hidden` and `teaching_only`,
    which mean what the decorators do; a title that is left out is made from the names. Raises `TypeError` for
    another mark, `ValueError` for a case with a dimension or an input that the task does not have.
    """

    def _asked(
        self, submission: Submission, chosen: Case, draw: Draw, filled: bool, before: Prepared | None
    ) -> tuple[Handle, Parameters, Outputs]:
        if before is not None or chosen.is_evaluating or chosen.options or chosen.parameters:
            raise TypeError(f"{self.task!r} is no class of modules: hand it the same ones by `same_modules`")
        return getattr(submission, self.task), {}, self.outputs

    def right(self, call: Prepared) -> Any:
        if self.changes:
            return self._played([call])[0][0]
        return self.reference(*call.drawn.here)

    def _played(self, calls: Sequence[Prepared]) -> list[tuple[Any, Parameters]]:
        """Return the right results of calls in a row, and what the modules that they change then hold."""
        names, inputs = tuple(self.inputs), [call.drawn.here for call in calls]
        return functions_played(self._as_written, names, self.changes, inputs)

    def _expect_updates(self, submission: Submission, chosen: Case, draw: Draw) -> None:
        modules = Modules(are_shared=True)
        calls = [self.prepare(submission, chosen, draw, modules) for _ in range(2)]
        requests = []
        for call in calls:
            handed = dict(zip(self.inputs, call.arguments, strict=False))
            answer = call.target.request(*call.arguments)
            after = {name: handed[name].parameters_request(computed=True) for name in self.changes}
            requests.append((answer, after))
        told = ("", "at a second call with the same objects")
        for (answer, after), (right, state), call, words in zip(
            requests, self._played(calls), calls, told, strict=True
        ):
            with case(words):
                expect(answer.ask(), right, names=self.names, dims=dims_of(call.outputs), sizes=call.sizes)
                held = {name: request.ask() for name, request in after.items()}
                seen = {
                    f"{name}.{inner}": value for name, each in held.items() for inner, value in each.items()
                }
                expect_state(seen, state, "after the call")

    def _has_parameters(self) -> bool:
        return any(isinstance(each, Handed) for each in self.inputs.values())

    def _made_with(self, chosen: Case, draw: Draw) -> Keywords:
        return {}

    def _expect_gradients(self, call: Prepared, tell: str, *, in_eval: bool = True) -> None:
        pairs = zip(self.inputs, call.drawn.values, strict=False)  # a case leaves the last ones out
        modules = {name: value.module for name, value in pairs if isinstance(value, Given)}
        parameters = {
            f"{label}.{name}" if len(modules) > 1 else name: parameter
            for label, module in modules.items()
            for name, parameter in module.named_parameters()
        }
        expect_gradients(
            call.target,
            _with_modules(self._as_written, call.drawn) if modules else self._as_written,
            call.arguments,
            names=call.drawn.floating,
            parameters=parameters,
            draw=call.draw,
            tell=tell,
            results=self.names,
            modules=list(modules) if len(modules) > 1 else (),
        )

    def _changing(self, call: Prepared) -> tuple[Handle, list[Parameters], Callable[[Parameters], Any]]:
        place = next((at for at, each in enumerate(self.inputs.values()) if isinstance(each, Handed)), None)
        if place is None:
            raise TypeError(f"{self.task!r} is given no module whose parameters could change")
        handed = list(self.inputs.values())[place]
        assert isinstance(handed, Handed)
        modules = [call.drawn.here[place], *(handed.drawn(call.draw).module for _ in range(2))]
        states: list[Parameters] = [dict(module.state_dict()) for module in modules]

        def right(state: Parameters) -> Any:
            (module,) = (each for each, held in zip(modules, states, strict=True) if held is state)
            inputs = call.drawn.here
            return self.reference(*inputs[:place], module, *inputs[place + 1 :])

        return call.arguments[place], states, right


def _with_modules(reference: Callable[..., Any], drawn: Drawn) -> Callable[..., Any]:
    """Return the reference of the other arguments: it gets the modules that were drawn."""
    modules = [value.module if isinstance(value, Given) else None for value in drawn.values]

    def called(*arguments: Any) -> Any:
        pairs = zip(modules, arguments, strict=True)
        return reference(*(each if module is None else module for module, each in pairs))

    return called
