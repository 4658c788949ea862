"""Check files as students get them: no hidden check, no reference's body, nothing that only these use.

Everything else keeps its text. It is read, not run, and needs Python alone: wheels are built with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.checking.runner.marks import RULE_OF_METHOD
from autograder.grading.releasing.check_file import (
    CannotStrip,
    CheckFile,
    Unit,
    called_name,
    keywords_of,
)

Name = tuple[str, str]
"""A name and the module that binds it."""


@dataclass(frozen=True)
class Stripped:
    """Check files as they are handed out."""

    files: Mapping[str, str]
    """Their texts, by path."""
    kept_back: Mapping[str, list[dict[str, Any]]]
    """The checks that each file lacks, by its path: points, rule, and what students read instead."""
    names: frozenset[Name]
    """The checks that were cut, with their paths."""

    def kept_back_in(self, folder: str = "") -> dict[str, list[dict[str, Any]]]:
        """The checks that the files of one folder lack, by task."""
        inside = {path.rpartition("/")[2]: told for path, told in self.kept_back.items()
                  if path.rpartition("/")[0] == folder}  # fmt: skip
        return {name.removesuffix(".py").removeprefix("test_"): told for name, told in inside.items()}


def strip(sources: Mapping[str, str], package: str = "") -> Stripped:
    """Strip check files, given by their paths with `/`, of which those in one tree import one another.

    `package` is the dotted name of the folder that the paths start from; `""` where the files lie in no
    package. Raises `CannotStrip`, which names the file and the check.
    """
    modules = {path: CheckFile(path, text, package) for path, text in sources.items()}
    by_name = {module.dotted: module for module in modules.values()}
    graph = _Graph(by_name)
    kept = graph.kept()
    for module in modules.values():
        for name in module.hidden:
            if (module.dotted, name) in kept:
                raise CannotStrip(
                    module.path,
                    module.hidden[name].lineno,
                    f"something that is not hidden needs the hidden check `{name}`, which students do not "
                    "get; hide both, or let neither build on the other.",
                )
    kept_back: dict[str, list[dict[str, Any]]] = {}
    for module in modules.values():
        for name, check in module.hidden.items():
            kept_back.setdefault(module.path, []).append(_kept_back(module, name, check))
    names = frozenset((module.path, name) for module in modules.values() for name in module.hidden)
    texts = {path: module.text_with({name for where, name in kept if where == module.dotted})
             for path, module in modules.items()}  # fmt: skip
    return Stripped(texts, kept_back, names)


class _Graph:
    """The names that each name needs, over all modules."""

    def __init__(self, modules: Mapping[str, CheckFile]) -> None:
        self.modules = modules
        self.units: dict[Name, list[Unit]] = {}
        for module in modules.values():
            for unit in module.units:
                self.units.setdefault((module.dotted, unit.binds), []).append(unit)

    def kept(self) -> set[Name]:
        """All names but those that are cut, and those that only what is cut needs."""
        hidden = {(m.dotted, name) for m in self.modules.values() for name in m.hidden}
        cut = [
            name
            for module in self.modules.values()
            for unit in module.units
            for name in self._named(
                module, unit.cut_uses | (unit.uses if unit.binds in module.hidden else set())
            )
        ]
        only_cut = self._reached(cut, whole=True)
        roots = {name for name in self.units if name not in only_cut | hidden}
        for module in self.modules.values():
            roots |= {(module.dotted, u.binds) for u in module.units if module.is_check(u.binds)} - hidden
            roots |= set(self._named(module, module.loose))
        return self._reached(roots, whole=False)

    def _reached(self, start: Iterable[Name], *, whole: bool) -> set[Name]:
        """These names and all they need; `whole` counts in what is cut of a reference."""
        found: set[Name] = set()
        waiting = list(start)
        while waiting:
            name = waiting.pop()
            if name in found or name not in self.units:
                continue
            found.add(name)
            module = self.modules[name[0]]
            for unit in self.units[name]:
                waiting += self._named(module, unit.uses | (unit.cut_uses if whole else set()))
            waiting += self._behind(module, name[1])
        return found

    def _named(self, module: CheckFile, uses: set[str]) -> Iterator[Name]:
        for name in uses:
            if (module.dotted, name) in self.units:
                yield module.dotted, name
            first, _, attribute = name.partition(".")
            if attribute and first in module.imports:
                yield self._module_behind(module, first), attribute

    def _behind(self, module: CheckFile, name: str) -> Iterator[Name]:
        """Yield the module and the name that an imported name comes from."""
        if name in module.imports:
            origin, inside = module.imports[name]
            if inside is not None:
                yield origin, inside

    def _module_behind(self, module: CheckFile, name: str) -> str:
        origin, inside = module.imports[name]
        return origin if inside is None else f"{origin}.{inside}"


def _kept_back(module: CheckFile, name: str, check: ast.FunctionDef | ast.Call) -> dict[str, Any]:
    """Return what a notebook says of a hidden check: its points, its rule, and the sentence in its place."""
    found = dict[str, Any](points=0.0)
    told_by = (("points", "points"), ("rule", "rule"), ("hidden", "instead"))
    said: list[tuple[str, list[ast.expr]]]
    if isinstance(check, ast.Call):
        keywords = keywords_of(check)
        said = [(field, [keywords[mark]]) for mark, field in told_by if mark in keywords]
        if (method := called_name(check)) in RULE_OF_METHOD:
            found["rule"] = RULE_OF_METHOD[method]
    else:
        fields = {known: field for mark, field in told_by for known in module.marks[mark]}
        said = [
            (fields[called_name(each)], [*each.args, *keywords_of(each).values()])
            for each in check.decorator_list
            if isinstance(each, ast.Call) and called_name(each) in fields
        ]
    for told, argument in said:
        try:
            found[told] = ast.literal_eval(argument[0])
        except (ValueError, IndexError) as error:
            raise CannotStrip(
                module.path,
                argument[0].lineno if argument else check.lineno,
                f"{told} of the hidden check `{name}` must be written out as it is, since students are told "
                "it without the check.",
            ) from error
    if missing := {"rule", "instead"} - set(found):
        told = f"the hidden check `{name}` says nothing of its {missing.pop()}."
        raise CannotStrip(module.path, check.lineno, told)
    return found
