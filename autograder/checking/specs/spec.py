"""Specifications: a task stated once, by its inputs, its results and a reference; checks are made from it.

    task = FunctionSpec(
        "conv1d",
        inputs={"x": "N C W", "weight": weight("F C K"), "bias": weight("F")},
        outputs={"y": "N F W"},
        reference=lambda x, weight, bias: F.conv1d(x, weight, bias, padding="same"),
        forbidden=Without(operators="conv(?!ert)", say="Write the sum over the kernel yourself."),
    )
    test_from_scratch = task.from_scratch()
    test_shape = task.shape(needs=[test_from_scratch])
    test_values = task.values(title="It gives what F.conv1d gives.", points=5, needs=[test_shape])

Each method returns an ordinary check, a function of `submission`, `sizes` and `draw` with the marks that
decorators would give it. All calls of one check go in one exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, Unpack, cast

import torch

from autograder.checking.expectations.in_use import expect_follows
from autograder.checking.expectations.portability.devices import expect_device_neutral
from autograder.checking.expectations.portability.dtypes import DTYPES, EXTREMES, expect_dtypes
from autograder.checking.expectations.raising import expect_raises
from autograder.checking.expectations.untouched import expect_untouched, expect_weights_untouched
from autograder.checking.expectations.values import WrongValues, case, expect
from autograder.checking.expectations.wording import in_a_row
from autograder.checking.explain.failure import CheckFailed
from autograder.checking.inputs.dimensions import Dimensions, spelled
from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.remote.connection import Request, asked
from autograder.checking.remote.errors import StudentError
from autograder.checking.remote.submission import Submission
from autograder.checking.specs.cases import USUAL, Case, Cases
from autograder.checking.specs.inputs import (
    Given,
    Modules,
    names_of,
)
from autograder.checking.specs.marks import CheckFunction, Marks, as_check
from autograder.checking.specs.statement import Explain, Outputs, Prepared, Statement, dims_of
from autograder.protocol.values import Keywords
from autograder.protocol.without import Without

_STAYS_BEHIND = (
    "The first such call is right: does something stay behind from one call to the next, on `self`, in a "
    "global variable or in a default argument?"
)


class Spec(Statement):
    """A statement from which checks are made.

    Every check takes `cases`, the calls that it makes (by default the usual one), and the marks of `Marks`,
    `title=` among them.
    """

    def shape(self, *cases: Case, explain: Explain | None = None, **marks: Unpack[Marks]) -> CheckFunction:
        """Check that the results have the right structure and shapes. The rule is `shape`.

        `explain(answer, call)` is a look at each answer before it is compared: it fails where it knows the
        mistake.
        """

        def body(submission: Submission, sizes: Sizes, draw: Draw) -> None:
            self._expect(submission, draw, cases, values=False, explain=explain)

        usual = f"It returns {_in_words(self.outputs, self.dimensions)}."
        return self._check("shape", body, usual, marks, cases)

    def values(
        self,
        *cases: Cases,
        same_modules: bool = False,
        explain: Explain | None = None,
        together: bool = False,
        **marks: Unpack[Marks],
    ) -> CheckFunction:
        """Check that the results have the reference's values. The rule is `values`.

        With `same_modules` calls of the same sizes are given the very same modules, one after another. With
        `together` all answers are read before the first is judged: so known mistakes are told from one
        another that agree in the first case. `explain` as for `shape`.
        """

        def body(submission: Submission, sizes: Sizes, draw: Draw) -> None:
            self._expect(
                submission,
                draw,
                cases,
                modules=Modules(are_shared=same_modules),
                explain=explain,
                together=together,
            )

        usual = f"{in_a_row(self.names)} {'has' if len(self.names) == 1 else 'have'} the right values."
        return self._check("values", body, usual, marks, cases)

    def any_size(
        self, *cases: Cases, explain: Explain | None = None, **marks: Unpack[Marks]
    ) -> CheckFunction:
        """Check that the values are right in other cases, too: at other sizes, with strided inputs.

        The rule is `generality`; `explain` as for `shape`.
        """

        def body(submission: Submission, sizes: Sizes, draw: Draw) -> None:
            self._expect(submission, draw, cases, explain=explain)

        told = [each.words for each in cases if isinstance(each, Case) and each.words]
        usual = f"It works {in_a_row(told or ['in every case'])}."
        return self._check("any_size", body, usual, marks, cases)

    def raises(
        self,
        *cases: Case,
        error: type[Exception] | tuple[type[Exception], ...] = ValueError,
        **marks: Unpack[Marks],
    ) -> CheckFunction:
        """Check that each case, a call that makes no sense, stops with an exception. The rule is `error`.

        `error` is the exception's class, or several classes of which any will do. Raises `TypeError` without
        a case.
        """
        if not cases:
            raise TypeError(f"say which calls of {self.task!r} must stop: `with_inputs(…)`, say")
        errors = error if isinstance(error, tuple) else (error,)

        def body(submission: Submission, sizes: Sizes, draw: Draw) -> None:
            for chosen in cases:
                call = self.prepare(submission, chosen, chosen.draw(draw), filled=False)
                with call.case():
                    expect_raises(call.target.request(*call.arguments), *errors)

        told = in_a_row([each.words for each in cases if each.words] or ["where a call makes no sense"])
        usual = f"It raises {' or '.join(each.__name__ for each in errors)} {told}."
        return self._check("raises", body, usual, marks, cases)

    def updates(self, *cases: Case, **marks: Unpack[Marks]) -> CheckFunction:
        """Check what calls in a row leave behind: `buffers`, or the modules that a function `changes`.

        The rule is `values`. A function is called twice with the same objects. A module is called twice in
        training mode, with an optimizer's step between the calls, then in `eval()`; then its state is loaded
        into another one. Raises `TypeError` for a specification without `buffers` and
        `changes`.
        """
        changed = self._changed()
        if not changed:
            raise TypeError(f"a call of {self.task!r} changes nothing: state `buffers=` or `changes=`")

        def body(submission: Submission, sizes: Sizes, draw: Draw) -> None:
            for chosen in cases or (USUAL,):
                here = chosen.draw(draw)
                with _case(chosen, here.sizes):
                    self._expect_updates(submission, chosen, here)

        have = "have" if len(changed) > 1 or self.changes else "has"
        usual = f"After each of several calls {in_a_row(changed)} {have} the right values."
        return self._check("updates", body, usual, marks, cases)

    def gradients(
        self,
        *cases: Case,
        tell: str = "",
        if_right: bool = False,
        further: Sequence[Case] = (),
        **marks: Unpack[Marks],
    ) -> CheckFunction:
        """Check that gradients reach every floating input and every parameter, with the reference's values.

        The rule is `gradient`. `tell` is the first question to a student whose gradient has other values.
        With `if_right` what fails counts only in cases that are answered rightly: where they are not, a check
        of values says so. `further` cases always count so. A module is asked in `eval()`, too, in the first
        case.
        """

        def body(submission: Submission, sizes: Sizes, draw: Draw) -> None:
            for place, chosen in enumerate(cases or (USUAL,)):
                call = self.prepare(submission, chosen, chosen.draw(draw))
                with call.case(), self.if_right(call) if if_right else nullcontext():
                    self._expect_gradients(call, tell, in_eval=place == 0)
            for chosen in further:
                call = self.prepare(submission, chosen, chosen.draw(draw))
                with call.case(), self.if_right(call):
                    self._expect_gradients(call, tell, in_eval=False)

        reached = [*self._floating(), *(["its parameters"] if self._has_parameters() else [])]
        usual = f"Gradients reach {in_a_row(reached or ['its inputs'])}."
        return self._check("gradients", body, usual, marks, [*cases, *further])

    def dtypes(
        self,
        *cases: Case,
        dtypes: Sequence[torch.dtype] = DTYPES,
        briefly: Sequence[Case] = (),
        **marks: Unpack[Marks],
    ) -> CheckFunction:
        """Check that in each dtype the results are of that dtype; see `expect_dtypes`. The rule is `dtype`.

        `briefly` are further ways to call the same code, which come first, in `EXTREMES`.
        """

        def body(submission: Submission, sizes: Sizes, draw: Draw) -> None:
            brief = [(each, EXTREMES) for each in briefly]
            whole = [(each, dtypes) for each in cases or (USUAL,)]
            for chosen, of_each in [*brief, *whole]:
                here = chosen.draw(draw)
                drawn = self._drawn(chosen, here)
                target = getattr(submission, self.task)
                with _case(chosen, here.sizes):
                    expect_dtypes(
                        target,
                        partial(drawn.there, submission),
                        names=self.names,
                        dtypes=of_each,
                        **self._made_with(chosen, here),
                    )

        results, has = ("result", "has") if len(self.names) == 1 else ("results", "have")
        usual = f"The {results} {has} the dtype of the inputs."
        return self._check("dtypes", body, usual, marks, [*cases, *briefly])

    def devices(
        self,
        *cases: Case,
        on_cpu: Sequence[str] = (),
        stays: Sequence[str] = (),
        reads: bool = False,
        gradients: bool = True,
        **marks: Unpack[Marks],
    ) -> CheckFunction:
        """Check that on a GPU the results are there, and nothing takes a way through the CPU.

        The rule is `device`. `on_cpu` are names of inputs that stay on the CPU, besides those of a case,
        `stays` results that may; without `gradients` there is no backward pass. `reads` has no effect any
        more. See `expect_device_neutral`.
        """

        def body(submission: Submission, sizes: Sizes, draw: Draw) -> None:
            for number, chosen in enumerate(cases or (USUAL,)):
                here = chosen.draw(draw)
                drawn = self._drawn(chosen, here)
                target = getattr(submission, self.task)
                with _case(chosen, here.sizes):
                    expect_device_neutral(
                        target,
                        partial(drawn.there, submission),
                        names=self.names,
                        on_cpu=tuple(list(self.inputs).index(name) for name in (*on_cpu, *chosen.on_cpu)),
                        stays=stays,
                        # Once is enough, and they are most of what this costs.
                        gradients=gradients and number == len(cases or (USUAL,)) - 1,
                        **self._made_with(chosen, here),
                    )

        usual = "With everything on a GPU, nothing is created elsewhere or goes through the CPU."
        return self._check("devices", body, usual, marks, cases)

    def leaves_arguments(self, *cases: Case, **marks: Unpack[Marks]) -> CheckFunction:
        """Check that a call leaves its arguments, the modules among them, and torch's settings as they were.

        The rule is `mutation`.
        """

        def body(submission: Submission, sizes: Sizes, draw: Draw) -> None:
            calls = [
                self.prepare(submission, chosen, chosen.draw(draw), filled=False)
                for chosen in cases or (USUAL,)
            ]
            rows = [(call.target.run_request(call.arguments), call) for call in calls]
            for answer, call in asked(rows):
                with call.case():
                    names = tuple(self.inputs)[: len(call.arguments)]
                    unjudged = ("gradients",) if self.changes else ()  # whoever trains a module leaves some
                    expect_untouched(answer(), call.arguments, names, unjudged=unjudged)
                    for name, handle, value in zip(names, call.arguments, call.drawn.values, strict=True):
                        if isinstance(value, Given) and name not in self.changes:
                            expect_weights_untouched(handle, value.module, name)

        usual = "The call leaves its arguments unchanged."
        if self.changes:
            usual = (
                f"The call leaves its arguments unchanged, but for the weights of {in_a_row(self.changes)}."
            )
        return self._check("leaves_arguments", body, usual, marks, cases)

    def from_scratch(self, **marks: Unpack[Marks]) -> CheckFunction:
        """Check that what is `forbidden` does not do the work: where the task is judged it does not work.

        The rule is `from-scratch`. Raises `TypeError` for a specification without `forbidden`.
        """
        if self.forbidden is None:
            raise TypeError(f"nothing is forbidden in {self.task!r}: give the specification `forbidden=`")

        def body(submission: Submission, sizes: Sizes, draw: Draw) -> None:
            call = self.prepare(submission, USUAL, draw, filled=False)
            try:
                call.target.run(call.arguments, arguments=False)
            except (StudentError, CheckFailed) as error:
                if isinstance(error, StudentError) and error.type in ("Unavailable", "NotImplementedError"):
                    raise
                # Other checks say what is wrong; nothing was borrowed up to there.

        usual = "Your own code does the work."
        return self._check("from_scratch", body, usual, marks, without=self.forbidden)

    def follows(self, *cases: Case, **marks: Unpack[Marks]) -> CheckFunction:
        """Check that once parameters have changed, by training or loading, the results are the new ones'.

        The rule is `values`. The parameters are the student's module's, or those of the module that a
        function is given; without either it fails when the check runs (`TypeError`).
        """

        def body(submission: Submission, sizes: Sizes, draw: Draw) -> None:
            for chosen in cases or (USUAL,):
                here = chosen.draw(draw)
                call = self.prepare(submission, chosen, here)
                module, states, right = self._changing(call)
                with call.case():
                    expect_follows(
                        submission,
                        module,
                        partial(call.target.request, *call.arguments),
                        right,
                        states,
                        names=self.names,
                        dims=dims_of(call.outputs),
                        sizes=call.sizes,
                        second=self._second(submission, chosen, here),
                    )

        usual = "After its parameters have changed, by training or loading, it computes with the new ones."
        return self._check("follows", body, usual, marks, cases)

    # --- What they share -------------------------------------------------------------------------

    def _check(
        self,
        method: str,
        body: CheckFunction,
        title: str,
        marks: Marks,
        cases: Iterable[Cases] = (),
        *,
        without: Without | None = None,
    ) -> CheckFunction:
        for each in cases:
            if isinstance(each, Case):  # those that a function makes are known when the check runs
                self._refuse_unknown(each)
        made: Any = as_check(method, body, title, marks, without)
        made.autograder_dimensions = self.dimensions
        made.autograder_letters = self._letters
        made.autograder_signatures = self._signatures
        made.autograder_inputs = {
            name: tuple(each) if isinstance(each, Mapping) else () for name, each in self.inputs.items()
        }
        return cast(CheckFunction, made)

    def _expect(
        self,
        submission: Submission,
        draw: Draw,
        cases: Iterable[Cases],
        *,
        values: bool = True,
        modules: Modules | None = None,
        explain: Explain | None = None,
        together: bool = False,
    ) -> None:
        chosen: list[Case] = []
        for written in list(cases) or [USUAL]:
            chosen += [written] if isinstance(written, Case) else written(draw.sizes)
        rows: list[tuple[Request[Any], Prepared]] = []
        first: Prepared | None = None
        for each in chosen:
            before = first if each.is_again else None
            call = self.prepare(submission, each, each.draw(draw), modules, filled=values, before=before)
            first = before or call
            rows.append((call.target.request(*call.arguments), call))
        answers = asked(rows)
        if together:
            answers = [(partial(_itself, _read(answer, call)), call) for answer, call in answers]
        last, words = USUAL, ""
        for each, (answer, call) in zip(chosen, answers, strict=True):
            said = _STAYS_BEHIND if each.repeats(last) else f"It is right {words}."
            with _adding(said if words else ""), call.case():
                right = self.right(call) if values else _blank(call.outputs, call.sizes)
                seen = answer()
                if explain is not None:
                    explain(seen, call)
                form = {**self.form, "dims": dims_of(call.outputs)}
                expect(seen, right, **form, sizes=call.sizes, values=values)
            last, words = each, call.words

    @contextmanager
    def if_right(self, call: Prepared) -> Iterator[None]:
        """Let a failure in the block count only where the task's answer to the call is right."""
        right = self.right(call)  # in any case, so that it is on record
        try:
            yield
        except (CheckFailed, StudentError):
            dims = dims_of(call.outputs)
            form: Keywords = {"names": self.names, "dims": dims, "sizes": call.sizes}
            try:
                expect(call.target(*call.arguments), right, **form)
            except (CheckFailed, StudentError):
                return
            raise


def _read(answer: Callable[[], Any], call: Prepared) -> Any:
    """Read the answer to a call; what it raises is told of the call's case."""
    with call.case():
        return answer()


@contextmanager
def _adding(said: str) -> Iterator[None]:
    """Add what is said of the case before, which was right, to the message of wrong values."""
    try:
        yield
    except WrongValues as error:
        if said:
            error.args = (f"{error} {said}",)
        raise


def _itself(value: Any) -> Any:
    return value


def _case(chosen: Case, sizes: Sizes) -> AbstractContextManager[None]:
    return case(chosen.words_at(sizes), sizes)


def _blank(outputs: Outputs, sizes: Sizes) -> Any:
    """Return results of the right structure and shapes, without values."""
    parts = [
        torch.zeros(()).expand(sizes.shape(each)) if isinstance(each, str) else _blank(each, sizes)
        for each in outputs.values()
    ]
    return parts[0] if len(parts) == 1 else tuple(parts)


def _in_words(outputs: Outputs, dimensions: Dimensions) -> str:
    """Return the results in words, as `h_next (batch, hidden)`."""
    names, dims = names_of(outputs), dims_of(outputs)
    return in_a_row(
        [
            f"{name} ({', '.join(spelled(each, dimensions) for each in dim.split()) or 'one number'})"
            for name, dim in zip(names, dims, strict=True)
        ]
    )
