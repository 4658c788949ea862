"""Cases: the calls that a check of a specification makes, each with its words, sizes and inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from autograder.checking.inputs.draw import Draw
from autograder.checking.inputs.sizes import Sizes
from autograder.checking.specs.inputs import Input
from autograder.protocol.values import Keywords

Size = int | str | tuple[int, int]
"""A size, the letter of the dimension that has the same, or the least and the most of what is drawn."""


@dataclass(frozen=True)
class Case:
    """One call of a task. Without any field it is the usual one: every input, at the check's own sizes.

    `sized`, `strided`, `leaving_out` and `with_inputs` make most of them; their methods, which return another
    case each, add to that. What makes no sense for a task raises `ValueError` or `TypeError` where a
    specification gets the case, or when the check runs.

        test_values = task.values(USUAL, sized("with one step, in eval()", T=1).in_eval(), points=2)
        test_again = task.any_size(USUAL, Case("when it is called again", is_again=True))
    """

    words: str = ""
    """The words before a message, as "with one sequence (B = 1)"; `{T}` stands for the size T."""
    sizes: Mapping[str, Size] = field(default_factory=dict)
    """The sizes that differ, by their letters."""
    arranged: Callable[[Sizes], Sizes] | None = None
    """What makes the sizes that others differ from, out of the check's own."""
    is_strided: bool = False
    """True if inputs of two or more dimensions are not contiguous in memory."""
    absent: tuple[str, ...] = ()
    """The inputs at the end of the call that are left out."""
    given: Mapping[str, Input] = field(default_factory=dict)
    """Inputs that are drawn otherwise than usually, by name."""
    is_again: bool = False
    """True if the student's module is the one of the case before, not a new one."""
    has_same_inputs: bool = False
    """True if the inputs, too, are those of the first call of that module."""
    is_evaluating: bool = False
    """True if the student's module is in evaluation mode."""
    changed: Callable[..., tuple[Any, ...]] | None = None
    """What makes the inputs out of those that were drawn: it gets all of them, and returns as many."""
    on_cpu: tuple[str, ...] = ()
    """The inputs that stay on the CPU where the others are on a GPU."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Arguments for the student's class that differ, or further ones, by name, in the order in which it has
    them; two numbers are the least and the most of what is drawn."""
    parameters: Callable[[Mapping[str, torch.Tensor]], Mapping[str, torch.Tensor]] | None = None
    """A function that makes the parameters of the student's module out of those that were drawn."""

    def named(self, words: str) -> Case:
        """Return the case with other words."""
        return replace(self, words=words)

    def sized(self, words: str, **sizes: Size) -> Case:
        """Return the case at other sizes."""
        return replace(self, words=words, sizes={**self.sizes, **sizes})

    def leaving_out(self, *names: str, words: str = "") -> Case:
        """Return the case without some inputs, the last ones of the call."""
        named = " and ".join(f"`{name}`" for name in names)
        return replace(self, words=words or f"without {named}", absent=names)

    def again(self, *, same_inputs: bool = False) -> Case:
        """Return the case as a further call of the student's module that the case before it calls.

        With `same_inputs` it gets the inputs of the module's first call, which has the same sizes.
        """
        return replace(self, is_again=True, has_same_inputs=same_inputs)

    def repeats(self, before: Case) -> bool:
        """Return whether the case makes the same kind of call as another, once more."""
        return replace(self, words="", is_again=False) == replace(before, words="", is_again=False)

    def in_eval(self) -> Case:
        """Return the case with the student's module in evaluation mode."""
        return replace(self, is_evaluating=True)

    def with_options(self, **options: Any) -> Case:
        """Return the case with a module of the student's made with these arguments: `num_classes=(2, 40)`."""
        return replace(self, options=options)

    def with_parameters(
        self, parameters: Callable[[Mapping[str, torch.Tensor]], Mapping[str, torch.Tensor]]
    ) -> Case:
        """Return the case with a module filled with what a function makes of the drawn parameters."""
        return replace(self, parameters=parameters)

    def draw(self, draw: Draw) -> Draw:
        """Return the source of the case's inputs: the check's, at the case's sizes."""
        if self.arranged is not None:
            draw = draw.at(self.arranged(draw.sizes))
        return draw.at(self._sizes_from(draw)) if self.sizes else draw

    def draw_options(self, draw: Draw) -> Keywords:
        """Return the arguments for the student's class, what is drawn in numbers."""
        return {
            name: draw.size(*each) if isinstance(each, tuple) else each for name, each in self.options.items()
        }

    def _sizes_from(self, draw: Draw) -> Sizes:
        chosen = {}
        for letter, size in self.sizes.items():
            if isinstance(size, tuple):
                chosen[letter] = draw.size(*size)
            else:
                chosen[letter] = getattr(draw.sizes, size) if isinstance(size, str) else size
        return draw.sizes.but(**chosen)

    def words_at(self, sizes: Sizes) -> str:
        """Return the case's words, sizes filled in."""
        return self.words.format(**sizes.by_letter())


USUAL = Case()
"""Every input, at the check's own sizes."""
Cases = Case | Callable[[Sizes], Iterable[Case]]
"""A case, or what makes cases out of the check's own sizes, as one for each of the batch's sequences."""


def sized(words: str, **sizes: Size) -> Case:
    """Return a case at other sizes.

    `words` come before a message, `{T}` in them is the size. A size is a number, the letter of the dimension
    that has the same, or the least and the most to draw from. The specification's method that gets the case
    raises `ValueError` for an unknown letter.

        test_any_size = task.any_size(sized("with one image (N = 1)", N=1), sized("with H = W", H="W"))
        test_wide = task.values(sized("with {W} columns", W=(40, 70)), points=0.5, needs=[test_any_size])
    """
    return USUAL.sized(words, **sizes)


def strided(words: str = "with inputs that are not contiguous in memory") -> Case:
    """Return a case whose inputs of two or more dimensions are not contiguous in memory.

    `words` come before a message. Inputs that a function of `draw` makes are as it makes them. Raises
    nothing.

        test_any_size = task.any_size(strided(), points=0.5, needs=[test_values])
    """
    return Case(words, is_strided=True)


def leaving_out(*names: str, words: str = "") -> Case:
    """Return a case without some inputs, the last ones of the call.

    `names` are the inputs', `words` come before a message (if left out, "without `h_0`"). The specification's
    method that gets the case raises `ValueError` for a name that is no input's.

        test_no_state = task.values(leaving_out("h_0"), title="Without a state it begins with zeros.")
    """
    return USUAL.leaving_out(*names, words=words)


def with_inputs(words: str, **inputs: Input) -> Case:
    """Return a case with some inputs drawn otherwise, each as a specification writes inputs.

    `words` come before a message, `inputs` are by their names. The specification's method that gets the case
    raises `ValueError` for a name that is no input's.

        blank = with_inputs("with a blank image", x=lambda draw: 0 * draw("N C H W"))
        test_any_number = task.any_size(blank, with_inputs("with large weights", weight="F C K K"))
    """
    return Case(words, given=inputs)
