"""All checks that every task has, in one statement."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autograder.checking.runner.marks import NAME_OF_METHOD
from autograder.checking.specs.cases import Case, Cases, sized, strided
from autograder.checking.specs.marks import authors_frame
from autograder.checking.specs.module import ModuleSpec
from autograder.checking.specs.spec import Spec

_NEEDS = {
    "registered": ("from_scratch",),
    "shape": ("from_scratch",),
    "values": ("shape", "registered", "from_scratch"),
    "updates": ("values",),
    "any_size": ("values",),
    "raises": ("shape",),
    "follows": ("values",),
    "gradients": ("values",),
    "dtypes": ("shape", "registered", "from_scratch"),
    "devices": ("dtypes", "values"),
    "leaves_arguments": ("values",),
}
"""The checks that each builds on, where they are made."""


class worth:  # it reads as a word of the statement
    """A check of `standard`: its points, its cases, and the keywords that its method takes.

    The keywords are the marks (`title`, `needs`, …), what the method takes besides, as `tell` of `gradients`,
    and `name`, the check's name where it is not the usual one. `hidden` is none of them: a check that is
    kept from students is made by its method. Raises nothing; `standard` does.

        standard(task, values=1, any_size=worth(0.5, sized("with one image", N=1), title="It works for one."))
    """

    def __init__(self, points: float = 0, *cases: Cases, **keywords: Any) -> None:
        self.points, self.cases, self.keywords = points, cases, keywords


Stated = float | str | worth
"""A check's points, all else as usual; a sentence that says why there is no such check; or its `worth`."""


def standard(
    task: Spec,
    *,
    from_scratch: Stated = 0,
    registered: Stated = 0,
    shape: Stated = 0,
    values: Stated = 0,
    updates: Stated = 0,
    any_size: Stated = 0,
    raises: Stated = 0,
    follows: Stated = 0,
    gradients: Stated = 0,
    dtypes: Stated = 0,
    devices: Stated = 0,
    leaves_arguments: Stated = 0,
) -> None:
    """Make all checks of a specification that every task has; the file has them as `test_shape` and so on.

    Each keyword is named after the method of the specification that makes the check. It takes the points, or
    `worth(points, …)` where cases, a title or anything else is other than usual, or a sentence that says why
    the task has no such check. `from_scratch` is made where something is `forbidden`, `registered` for
    modules, `updates` where a call changes something (`buffers`, `changes`), `follows` for modules without
    buffers, and `raises` where it is written. A check needs those that it builds on: values the shape, other
    sizes and gradients the values. `any_size` without cases asks for a single one of each dimension that has
    a word for `one` and 1 among its `small` sizes, and for strided inputs. A check that no keyword speaks of
    need not be the only one that catches some known mistake. Raises `ValueError` for a name that the file
    has already, `TypeError` for what a method does not take.

        standard(
            task,
            values=5,
            any_size=worth(2, sized("with one signal", N=1), strided()),
            raises=worth(1, with_inputs("with a kernel of other channels", weight="F W K"), error=ValueError),
            gradients="the result is a count, which has no gradient",
        )
    """
    stated = {
        "from_scratch": from_scratch,
        "registered": registered,
        "shape": shape,
        "values": values,
        "updates": updates,
        "any_size": any_size,
        "raises": raises,
        "follows": follows,
        "gradients": gradients,
        "dtypes": dtypes,
        "devices": devices,
        "leaves_arguments": leaves_arguments,
    }
    home, made = authors_frame().f_globals, dict[str, str]()
    if not Path(home.get("__file__", "test_")).name.startswith("test_"):
        raise TypeError(
            "`standard` stands in the file of the task's checks, test_<task>.py: only that is collected"
        )
    for method, usual in NAME_OF_METHOD.items():
        how = stated[method]
        if isinstance(how, str) and not how.strip():
            raise ValueError(
                f"`{method}` has an empty text: say in a sentence why the task has no such check"
            )
        if isinstance(how, str) or (how == 0 and not _applies(task, method)):
            continue
        is_usual = how == 0
        if not hasattr(task, method):
            raise TypeError(f"{task.task!r} is no class of modules, which alone can have `{method}`")
        how = how if isinstance(how, worth) else worth(how)
        keywords = dict(how.keywords)
        if "hidden" in keywords:
            raise TypeError(
                f"students get `standard` as it stands: write `task.{method}(…)` into hidden_{task.task}.py"
            )
        made[method] = name = keywords.pop("name", usual).removeprefix("test_")
        if f"test_{name}" in home:
            raise ValueError(f"the file has a check `test_{name}` already: give one of the two another name")
        needed = _NEEDS.get(method, ())
        if method == "leaves_arguments" and not how.points:
            needed = ("shape",)
        keywords.setdefault("needs", [made[each] for each in needed if each in made])
        cases = how.cases or (_single(task) if method == "any_size" else ())
        try:
            check: Any = getattr(task, method)(*cases, points=how.points, **keywords)
        except (TypeError, ValueError) as error:
            raise type(error)(f"`{method}`: {error}") from error
        check.autograder_usual = is_usual
        home[f"test_{name}"] = check


def _applies(task: Spec, method: str) -> bool:
    """Return whether a check is made of a task that does not ask for it."""
    if method == "from_scratch":
        return task.forbidden is not None
    is_module, has_buffers = isinstance(task, ModuleSpec), getattr(task, "buffers", None) is not None
    if method == "updates":
        return has_buffers or bool(task.changes)
    if method == "follows":
        return is_module and not has_buffers
    return method != "raises" and (method != "registered" or is_module)


def _single(task: Spec) -> Iterable[Case]:
    """Return cases with a single one of each dimension that may be alone, and with strided inputs."""
    for letter, each in task.dimensions.items():
        if letter in task._letters and each.one and 1 in each.small:
            yield sized(f"with one {each.one} ({letter} = 1)", **{letter: 1})
    yield strided()
