"""Write docs/reference.md: the names that a check may import, as their docstrings tell of them.

The code is read by griffe and not run, so the page is the same on every machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent, indent

import griffe

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference.md"
HEAD = """\
# Reference

All names that a check may import, made from the code by `make reference`. [Writing checks](checks.md) says
how they go together. They come from one place:

```python
from autograder.checking import FunctionSpec, expect, points, rule, sized
```

Dimensions are letters, as in `"B T D"`, with a number before one (`"4H"`) or a number alone (`"1"`). A check
file [states its own](checks.md#dimensions-of-your-own); one that states none has those of recurrent networks:
B batch, T time, D features, H hidden, L layers, V vocabulary. `CheckFailed` is a failed check and its message
for the student; a `ValueError`, `TypeError` or `KeyError` is a
[fault of the check](checks.md#faults-of-checks), for which nobody pays.

In the examples `x`, `h`, `query`, `keys` and the like are drawn inputs, `step` is a reference and `right`
what it gives, `cell` and `layer` are modules of the student's, `gru` is one of torch's, `F` is
`torch.nn.functional`.
"""
GROUPS = {
    "Specifications and cases": """
        FunctionSpec ModuleSpec standard worth weight Handed Optimizer
        Case USUAL sized strided leaving_out with_inputs""",
    "Inputs": "Sizes Dimensions Dimension Draw reference computed_once as_leaves",
    "Marks": "points rule needs hidden without Without anywhere teaching_only",
    "Expectations": """
        expect expect_shapes parts_of expect_equal expect_table computed expect_count expect_whole
        expect_gradients expect_follows expect_dtype expect_dtypes DTYPES EXTREMES expect_device_neutral
        expect_untouched expect_module_untouched expect_settings_untouched expect_weights_untouched
        expect_not_shared expect_module expect_registered expect_raises expect_no_mention
        compare agree""",
    "Calls and answers": """
        Submission make_module Handle Call Request asked carried Opaque
        StudentError""",
    "Words": "case fail CheckFailed NotWritten in_words spell",
}
TYPES = """
    checking.specs.inputs.Input checking.specs.statement.Outputs checking.specs.module.Shapes
    checking.specs.module.Buffers
    checking.specs.cases.Size checking.specs.cases.Cases checking.specs.statement.Explain
    checking.specs.statement.Prepared checking.specs.marks.Marks checking.specs.marks.CheckFunction
    checking.specs.standard.Stated
    checking.expectations.portability.calls.Arguments checking.expectations.in_use.Held
    checking.remote.observations.Gradients protocol.answers.Registered
"""
"""Those that signatures name and nobody needs to import."""
GIVEN = {"Submission", "Sizes", "Draw", "Handle", "Call", "Request", "Opaque", "StudentError"}
"""Classes whose objects a check is given, and never makes."""
OBJECTS = {"FunctionSpec": "task", "ModuleSpec": "task", "StudentError": "error", "CheckFailed": "error"}
"""The names of objects before a method's, where they are not the class's in small letters."""
INTERNAL = """
    Case.draw Case.draw_options Case.words_at CheckFailed.is_special Dimension.may_show Dimension.index
    Dimension.counted Dimensions.drawn Dimensions.ladder Dimensions.in_words Sizes.by_letter
    Call.left Draw.again Draw.letters Draw.with_zeros
    Handed.drawn Handle.gradient_requests Handle.made Handle.on_gpu Handle.probed Handle.probe_request
    Handle.ref Opaque.own Request.before Sizes.dims Sizes.drawn Sizes.letters Sizes.name Sizes.names Sizes.of
    StudentError.help StudentError.out_of_memory StudentError.owners Submission.cell_errors
"""
"""Members that only the package uses."""
LAST = {"prepare", "right", "form", "if_right"}
"""Members that come after the others: they are for checks of one's own."""


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the whole page."""
    package = griffe.load("autograder", search_paths=[ROOT], resolve_aliases=True)
    contents, body, anchors, told = [], [], Counter[str](), set[str]()
    for title, names in GROUPS.items():
        body.append(f"## {title}\n")
        links = []
        for name in names.split():
            slug = name.lower()
            links.append(f"[`{name}`](#{slug}-{anchors[slug]})" if anchors[slug] else f"[`{name}`](#{slug})")
            anchors[slug] += 1
            body += entry(name, resolved(package[f"checking.language.{name}"]), told)
        contents.append(f"- {title}: {', '.join(links)}")
    body.append("## Types in the signatures\n")
    for path in TYPES.split():
        item = package[path]
        value = f" = {item.value}" if item.is_attribute else ""
        body.append(f"- `{item.name}{value}`\n\n{indent(prose(item), '  ')}")
    return "\n".join([HEAD, *contents, "", *body])


def entry(name: str, item: griffe.Object, told: set[str]) -> Iterator[str]:
    """Yield what the page says of one name, without the members that were `told` for a class before."""
    yield f"### `{name}`\n"
    if item.is_attribute:
        yield fenced(f"{name} = {item.value}")
    elif name in GIVEN:
        yield fenced(f"class {name}")
    else:
        yield fenced(signature(name, item.all_members.get("__init__", item) if item.is_class else item))
    yield prose(item)
    if not item.is_class:
        return
    classes = [item, *item.mro()]
    every = dict.fromkeys(each for kind in classes for each in kind.members)
    for each in sorted(every, key=lambda each: (each in LAST) - (each == "__call__")):
        written = [kind[each] for kind in classes if each in kind.members and kind[each].has_docstring]
        if not written or (each.startswith("_") and each != "__call__"):
            continue
        member = written[0]
        if member.path in told or f"{member.parent.name}.{each}" in INTERNAL.split():
            continue
        told.add(member.path)
        call = OBJECTS.get(name, name.lower()) + (f".{each}" if each != "__call__" else "")
        shown = call if member.is_attribute else signature(call, member, width=1000)
        yield f"- `{shown}`\n\n{indent(prose(member), '  ')}"


def resolved(item: griffe.Object | griffe.Alias) -> griffe.Object:
    return item.final_target if item.is_alias else item


def signature(name: str, item: griffe.Object | griffe.Alias, width: int = 100) -> str:
    """Return a call in the words of the code, one argument a line where it is long."""
    told = resolved(item).signature(name=name).removesuffix(" -> None")
    if told.endswith(" -> Iterator[None]"):
        told = f"with {told.removesuffix(' -> Iterator[None]')}: ..."
    if len(told) <= width:
        return told
    head, _, rest = told.partition("(")
    inside, _, end = rest.rpartition(")")
    arguments, depth = [""], 0
    for mark in inside:
        depth += (mark in "([{") - (mark in ")]}")
        if mark == "," and not depth:
            arguments.append("")
        else:
            arguments[-1] += mark
    return "\n".join([f"{head}(", *(f"    {each.strip()}," for each in arguments), f"){end}"])


def prose(item: griffe.Object | griffe.Alias) -> str:
    """Return a docstring as Markdown, its examples marked as Python."""
    text = f"{item.docstring.value}\n" if item.docstring else ""
    text = re.sub(r"\bdocs/(\w+\.md)", r"[\1](\1)", text)
    blocks = re.compile(r"(?:^    .*\n(?:\n(?=    ))?)+", re.MULTILINE)
    return blocks.sub(lambda block: fenced(dedent(block[0])), text)


def fenced(code: str) -> str:
    return f"```python\n{code.strip()}\n```\n"


if __name__ == "__main__":
    main()
