"""A program that writes down how everything is judged that has a known answer, and compares two such records.

    python tests/outcomes.py record before.json                       # on one commit
    python tests/outcomes.py record after.json --inputs before.json   # on another, the same answers
    python tests/outcomes.py compare before.json after.json

A record has, for each assignment, the solution, the release, every known mistake, the right and the wrong
answers of tests/variants, the forgeries and hostile cells of tests/attacks that end by themselves, and the
demo's class: of each check the outcome, the points, the message, the mistake that was named and the answers'
fingerprint; of each notebook the findings. It also has the answers themselves, so that a later record can
judge the same ones, whatever has become of the catalogues; only the demo's class is read anew each time.
Seeds are fixed. Two records are compared by what a person sees: numbers in messages count as equal, and of
fingerprints only which answers share one. `make outcomes AGAINST=before.json` does the last two at once.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # this checkout, whichever is installed

from autograder.checking.runner.checks import Checks
from autograder.grading.assignment.bundle import OPTIMIZERS, Bundle
from autograder.grading.course.course import Course
from autograder.grading.demo import read_class, write_class
from autograder.grading.handed_in.folder import HandedIn, read_folder
from autograder.grading.judging.judge import Graded, judge_answers
from autograder.grading.judging.judge_pool import Failure, LocalJudges, Setting, cores, work_off
from autograder.grading.judging.submitted import Submitted
from autograder.grading.records.known import try_mistakes
from autograder.grading.workers.forkserver import ForkServer
from autograder.verdict import TaskVerdict
from tests.attacks import borrowing, driving, handed, rewriting
from tests.attacks.cells import ADDED, CELLS
from tests.support.helpers import ASSIGNMENT, ROOT, make_course, released, submission
from tests.variants import NOTEBOOKS

SEED = 20_261_123
FORGERIES = [forgery for kind in (borrowing, handed, rewriting) for forgery in kind.FORGERIES.items()]
NOWHERE = dict.fromkeys(("COURSE", "HOME", "OUTSIDE", "PEER", "PACKAGE", "ABSTRACT"), "/nowhere") | {
    "VICTIM": "999999",
    "PORT": "9",
}
"""What hostile cells are told of the place that they attack; tests/wall/test_attacks.py has a real one."""
TOGETHER = 25
"""How many answers to one task are judged in one worker."""

ADDRESS = re.compile("0x[0-9a-f]{6,}")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
TEXT = ("message", "hint", "note", "findings")
"""The fields whose numbers may differ between two records."""

Entry = dict[str, Any]
Input = dict[str, Any]
"""Other `answers` in the solved notebook, other `cells` in the released one, or one task's `source`."""
Inputs = dict[str, dict[str, Input]]
"""By assignment and by name."""


@dataclass(frozen=True)
class Notebook:
    """One notebook to be judged whole."""

    name: str
    submitted: HandedIn | bytes | None
    unsteady: bool = False
    """True if its threads or children race: only its points are kept."""

    def run(self, setting: Setting, checks: Checks) -> dict[str, Entry]:
        graded = Submitted(self.name, self.submitted).run(setting, checks)
        assert isinstance(graded, Graded), graded
        verdict = graded.verdict
        if self.unsteady:
            scores = {task.task: {"score": task.score} for task in verdict.tasks}
            return {self.name: {"tasks": scores}}
        findings = [[finding.kind, finding.message, finding.student] for finding in verdict.findings]
        tasks = {task.task: of_task(task) for task in verdict.tasks}
        return {self.name: {"status": verdict.status, "findings": findings, "tasks": tasks}}


@dataclass(frozen=True)
class Answers:
    """Several answers to one task, each in the otherwise solved notebook; they share a worker."""

    task: str
    sources: Mapping[str, str]

    def run(self, setting: Setting, checks: Checks) -> dict[str, Entry]:
        told = judge_answers(
            setting.bundle, self.task, self.sources, seed=setting.seed, checks=checks, workers=setting.workers
        )
        known = setting.known.get(self.task, ())
        return {name: {"tasks": {self.task: of_task(task.diagnosed(known))}} for name, task in told.items()}


def of_task(task: TaskVerdict) -> Entry:
    """Return what is kept of a task's verdict; addresses differ each time, and what depends on them."""
    checks = {
        check.check: {
            "outcome": check.outcome,
            "points": check.points,
            "message": ADDRESS.sub("0x…", check.message),
            "diagnosis": check.diagnosis and check.diagnosis.mistake,
            "hint": check.diagnosis and check.diagnosis.hint,
            "answers": None if ADDRESS.search(check.message) else check.answers,
        }
        for check in task.checks
    }
    return {"score": task.score, "note": task.note, "checks": checks}


def record(assignments: Iterable[str], jobs: int, few: int | None, inputs: Inputs | None) -> dict[str, Any]:
    course = Course.at(ROOT)
    frozen: Inputs = {}
    outcomes = {}
    with ForkServer(preload=OPTIMIZERS) as workers:
        for name in assignments:
            bundle = course.bundle(name)
            known = try_mistakes(bundle, SEED, LocalJudges(workers, jobs)).known
            frozen[name] = inputs[name] if inputs is not None else dict(known_answers(bundle, few))
            outcomes[name] = judged(bundle, frozen[name], Setting(bundle, SEED, workers, known), jobs)
            print(f"{name}: {len(outcomes[name])} entries", flush=True)
    return {"commit": commit(), "inputs": frozen, "outcomes": outcomes}


def judged(bundle: Bundle, frozen: dict[str, Input], setting: Setting, jobs: int) -> dict[str, Entry]:
    """Judge everything with a known answer."""
    found: dict[str, Entry] = {}
    todo = [*notebooks(bundle, frozen), *answers(frozen)]
    for job, entries in work_off(todo, jobs, setting):
        if isinstance(entries, Failure):
            name = getattr(job, "name", "an answer")
            raise SystemExit(f"{bundle.assignment}: {name} could not be judged: {entries.reason}")
        found |= entries
    return dict(sorted(found.items()))


def known_answers(bundle: Bundle, few: int | None) -> Iterator[tuple[str, Input]]:
    """Give every answer that is recorded with its name, or the first few of each kind."""
    seen = Counter[str]()
    for name, each in all_known_answers(bundle):
        kind = name.partition(":")[0]
        if few is None or seen[kind] < few:
            yield name, each
        seen[kind] += 1


def all_known_answers(bundle: Bundle) -> Iterator[tuple[str, Input]]:
    for mistake in bundle.mistakes:
        source = mistake.answer(bundle.solution)
        yield f"mistake: {mistake.name}", {"answers": {mistake.task: source}}
    for name, forgery in FORGERIES:
        if forgery.assignment == bundle.assignment:
            answers = {forgery.task: forgery.source}
            yield f"forgery: {name}", {"answers": answers}
    for task, forgeries in driving.FORGED.get(bundle.notebook, {}).items():
        for name, source in forgeries.items():
            yield f"driving: {task}: {name}", {"answers": {task: source}}
    if bundle.assignment == ASSIGNMENT:
        for name, attack in CELLS.items():
            if not attack.hangs:
                source = attack.source
                for word, meaning in NOWHERE.items():
                    source = source.replace(f"@{word}@", meaning)
                cells: Any = (
                    {"before": source} if attack.place == ADDED else {"answers": {attack.place: source}}
                )
                yield f"attack: {name}", {"cells": cells, "unsteady": True}
    variants = NOTEBOOKS[bundle.notebook]
    for task in variants.SOLUTIONS:
        for name, source in variants.CORRECT[task].items():
            yield f"right: {task}: {name}", {"task": task, "source": source}
        for name, (_, source) in variants.WRONG[task].items():
            yield f"wrong: {task}: {name}", {"task": task, "source": source}


def notebooks(bundle: Bundle, frozen: Mapping[str, Input]) -> Iterator[Notebook]:
    yield Notebook("solution", bundle.with_answers(bundle.solution))
    yield Notebook("release", bundle.released.encode())
    for name, each in frozen.items():
        unsteady = each.get("unsteady", False)
        if "answers" in each:
            yield Notebook(name, bundle.with_answers({**bundle.solution, **each["answers"]}), unsteady)
        elif "cells" in each:
            yield Notebook(name, submission(base=released(), **each["cells"]), unsteady)
    invented = read_class(ROOT)
    if bundle.assignment == invented["assignment"]:
        with tempfile.TemporaryDirectory() as folder:
            course = make_course(Path(folder), (bundle.assignment,))
            write_class(course, invented)
            for one in invented["submission"]:
                place = course.folder("submitted", one["student"], bundle.assignment)
                handed_in = read_folder(place, f"{bundle.notebook}.ipynb")
                yield Notebook(f"demo: {one['student']}", handed_in)


def answers(frozen: Mapping[str, Input]) -> Iterator[Answers]:
    by_task = defaultdict[str, dict[str, str]](dict)
    for name, each in frozen.items():
        if "task" in each:
            by_task[each["task"]][name] = each["source"]
    for task, sources in by_task.items():
        for names in batched(sources, TOGETHER):
            yield Answers(task, {name: sources[name] for name in names})


def batched(names: Iterable[str], most: int) -> Iterator[list[str]]:
    rest = iter(names)
    while group := list(islice(rest, most)):
        yield group


def leaves(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give every field of a record with the way to it; text has its numbers masked."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name != "answers":
                yield from leaves(part, (*place, name))
    else:
        yield place, masked(value) if place[-1] in TEXT else value


def masked(value: Any) -> str:
    """Return a text, or a list of texts as JSON, with `#` for each number."""
    return NUMBER.sub("#", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def shared_fingerprints(outcomes: Mapping[str, Any]) -> dict[tuple[str, str, str, str], str]:
    """Return the first of the answers that share a fingerprint, for each that a check fingerprinted."""
    first: dict[tuple[str, str, str, str], str] = {}
    found = {}
    for assignment, entries in outcomes.items():
        for name, entry in sorted(entries.items()):
            for task, told in entry["tasks"].items():
                for check, outcome in told.get("checks", {}).items():
                    if fingerprint := outcome.get("answers"):
                        same = first.setdefault((assignment, task, check, fingerprint), name)
                        found[assignment, name, task, check] = same
    return found


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, str, Any, Any]]:
    """Give each difference as its kind, its place, what was and what is."""
    old, new = dict(leaves(before["outcomes"])), dict(leaves(after["outcomes"]))
    for place in dict.fromkeys((*old, *new)):
        was, now = old.get(place, "(not there)"), new.get(place, "(not there)")
        if was != now:
            yield place[-1], " / ".join(place[:-1]), was, now
    shared = [shared_fingerprints(each["outcomes"]) for each in (before, after)]
    for where in shared[0].keys() & shared[1].keys():
        if shared[0][where] != shared[1][where]:
            yield "same answers", " / ".join(where), shared[0][where], shared[1][where]


def compare(before: Mapping[str, Any], after: Mapping[str, Any], ignore: set[str]) -> int:
    """Print what differs, by the kind of field, and return in how many fields, those to ignore left out."""
    changed: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for kind, place, was, now in differences(before, after):
        changed[kind][json.dumps(was), json.dumps(now)].append(place)
    entries = [sum(map(len, each["outcomes"].values())) for each in (before, after)]
    print(f"{before['commit']} and {after['commit']}: {entries[0]} answers and {entries[1]} answers")
    for kind, values in sorted(changed.items()):
        print(f"\n{kind}: {sum(map(len, values.values()))} differ{' (ignored)' if kind in ignore else ''}")
        for (was, now), places in sorted(values.items()) if kind not in ignore else ():
            more = f" and {len(places) - 1} more" if len(places) > 1 else ""
            print(f"  {places[0]}{more}\n    {was}\n    {now}")
    if not changed:
        print("Nothing differs.")
    return sum(len(places) for kind in changed.keys() - ignore for places in changed[kind].values())


def read(path: Path) -> dict[str, Any]:
    """Read a record, which may be compressed by xz."""
    try:
        raw = path.read_bytes()
        found = json.loads(lzma.decompress(raw) if path.suffix == ".xz" else raw)
        return {name: found[name] for name in ("commit", "inputs", "outcomes")}
    except (OSError, ValueError, KeyError, TypeError, lzma.LZMAError) as error:
        raise SystemExit(f"{path} is no record that can be read: {type(error).__name__}: {error}") from None


def commit() -> str:
    said = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
    )
    return said.stdout.strip() or "no commit"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="judge everything and write the record")
    recording.add_argument("file", type=Path)
    recording.add_argument(
        "assignments", nargs="*", default=sorted(each.name for each in (ROOT / "release").glob("*/"))
    )
    recording.add_argument("--jobs", type=int, default=cores())
    recording.add_argument("--few", type=int, help="of each kind of answer only so many, to try the program")
    recording.add_argument("--inputs", type=Path, help="a record whose answers are judged, not today's")
    comparing = commands.add_parser(
        "compare", help="print what differs; the exit status is 1 if anything does"
    )
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--ignore", default="", help="kinds of fields that may differ: message,hint")
    options = parser.parse_args()
    if options.command == "record":
        inputs = read(options.inputs)["inputs"] if options.inputs else None
        found = record(options.assignments, options.jobs, options.few, inputs)
        options.file.parent.mkdir(parents=True, exist_ok=True)
        beside = options.file.with_suffix(".part")
        beside.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        os.replace(beside, options.file)
    else:
        before, after = map(read, (options.before, options.after))
        sys.exit(compare(before, after, set(options.ignore.split(","))) > 0)


if __name__ == "__main__":
    main()
