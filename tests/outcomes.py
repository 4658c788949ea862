"""A program that writes down how everything is judged that has a known answer, and compares two such records.

    python tests/outcomes.py record before.json          # on one commit
    python tests/outcomes.py record after.json           # on another
    python tests/outcomes.py compare before.json after.json

A record has, for each assignment, the solution, the release, every known mistake, the right and the wrong
answers of tests/variants, the forgeries and hostile cells of tests/attacks that end by themselves, and the
demo's class: of each check the outcome, the points, the message, the mistake that was named and the answers'
fingerprint; of each notebook the findings and the number of exchanges with its workers. Seeds are fixed, so
two records of one commit are equal, but for the exchanges of wrong answers on a machine so busy that looks at
them take long and are given up. `make outcomes` writes one; `AGAINST=before.json` compares it, too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
from autograder.grading.records.known import KnownMistakes, mistaken, try_mistakes
from autograder.grading.workers.client import Worker
from autograder.grading.workers.forkserver import ForkServer
from autograder.protocol.answers import AnyAnswer
from autograder.protocol.messages import AnyMessage
from autograder.verdict import TaskVerdict
from tests.attacks import borrowing, driving, handed, oddities, recognising, rewriting
from tests.attacks.cells import ADDED, CELLS
from tests.support.helpers import ASSIGNMENT, ROOT, make_course, released, submission
from tests.variants import NOTEBOOKS

SEED = 20_261_123
FORGERIES = [
    forgery
    for kind in (borrowing, handed, oddities, recognising, rewriting)
    for forgery in kind.FORGERIES.items()
]
NOWHERE = dict.fromkeys(("COURSE", "HOME", "OUTSIDE", "PEER", "PACKAGE", "ABSTRACT"), "/nowhere") | {
    "VICTIM": "999999",
    "PORT": "9",
}
"""What hostile cells are told of the place that they attack; tests/wall/test_attacks.py has a real one."""
UNSTEADY = ("an answer of the asked shape and no content",)
"""Forgeries that answer with memory that nobody wrote."""
TOGETHER = 25
"""How many answers to one task are judged in one worker."""

ADDRESS = re.compile("0x[0-9a-f]{6,}")

Entry = dict[str, Any]


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count what is asked of workers in this process."""
    count, perform = Counter[str](), Worker.perform

    def counting(self: Worker, messages: Sequence[AnyMessage], seconds: float) -> list[AnyAnswer]:
        count["exchanges"] += 1
        return perform(self, messages, seconds)

    # Counted from outside: the judge has no other use for the number.
    Worker.perform = counting  # type: ignore[method-assign]  # put back below
    try:
        yield count
    finally:
        Worker.perform = perform  # type: ignore[method-assign]  # as it was


@dataclass(frozen=True)
class Notebook:
    """One notebook to be judged whole."""

    name: str
    submitted: HandedIn | bytes | None
    unsteady: bool = False
    """True if its threads or children race, or it reads what nobody wrote: only its points are kept."""

    def run(self, setting: Setting, checks: Checks) -> dict[str, Entry]:
        with counted() as count:
            graded = Submitted(self.name, self.submitted).run(setting, checks)
        assert isinstance(graded, Graded), graded
        verdict = graded.verdict
        if self.unsteady:
            scores = {task.task: {"score": task.score} for task in verdict.tasks}
            return {self.name: {"tasks": scores}}
        findings = [[finding.kind, finding.message, finding.student] for finding in verdict.findings]
        tasks = {task.task: of_task(task) for task in verdict.tasks}
        return {self.name: {"status": verdict.status, "findings": findings, **count, "tasks": tasks}}


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
            "diagnosis": (check.diagnosis or {}).get("mistake"),
            "hint": (check.diagnosis or {}).get("hint"),
            "answers": None if ADDRESS.search(check.message) else check.answers,
        }
        for check in task.checks
    }
    return {"score": task.score, "note": task.note, "checks": checks}


def record(assignments: Iterable[str], jobs: int, few: int | None = None) -> dict[str, dict[str, Entry]]:
    course = Course.at(ROOT)
    found = {}
    with ForkServer(preload=OPTIMIZERS) as workers:
        for name in assignments:
            bundle = course.bundle(name)
            known = try_mistakes(bundle, SEED, LocalJudges(workers, jobs)).known
            found[name] = judged(bundle, known, workers, jobs, few)
            print(f"{name}: {len(found[name])} entries", flush=True)
    return found


def judged(
    bundle: Bundle, known: KnownMistakes, workers: ForkServer, jobs: int, few: int | None
) -> dict[str, Entry]:
    """Judge everything with a known answer, or of each kind only a few."""
    found: dict[str, Entry] = {}
    todo = [*first_of_each_kind(notebooks(bundle), few), *answers(bundle, few)]
    for job, told in work_off(todo, jobs, Setting(bundle, SEED, workers, known)):
        if isinstance(told, Failure):
            name = getattr(job, "name", "an answer")
            raise SystemExit(f"{bundle.assignment}: {name} could not be judged: {told.reason}")
        found |= told
    return dict(sorted(found.items()))


def notebooks(bundle: Bundle) -> Iterator[Notebook]:
    yield Notebook("solution", bundle.with_answers(bundle.solution))
    yield Notebook("release", bundle.released.encode())
    for mistake in bundle.mistakes:
        yield Notebook(f"mistake: {mistake.name}", mistaken(bundle, mistake))
    for name, forgery in FORGERIES:
        if forgery.assignment == bundle.assignment:
            answers = {**bundle.solution, forgery.task: forgery.source}
            yield Notebook(f"forgery: {name}", bundle.with_answers(answers), unsteady=name in UNSTEADY)
    for task, forgeries in driving.FORGED.get(bundle.notebook, {}).items():
        for name, source in forgeries.items():
            yield Notebook(f"driving: {task}: {name}", bundle.with_answers({**bundle.solution, task: source}))
    if bundle.assignment == ASSIGNMENT:
        for name, attack in CELLS.items():
            if attack.hangs:
                continue
            source = attack.source
            for word, meaning in NOWHERE.items():
                source = source.replace(f"@{word}@", meaning)
            cells: Any = {"before": source} if attack.place == ADDED else {"answers": {attack.place: source}}
            yield Notebook(f"attack: {name}", submission(base=released(), **cells), unsteady=True)
    invented = read_class(ROOT)
    if bundle.assignment == invented["assignment"]:
        with tempfile.TemporaryDirectory() as folder:
            course = make_course(Path(folder), (bundle.assignment,))
            write_class(course, invented)
            for one in invented["submission"]:
                place = course.folder("submitted", one["student"], bundle.assignment)
                handed_in = read_folder(place, f"{bundle.notebook}.ipynb")
                yield Notebook(f"demo: {one['student']}", handed_in)


def first_of_each_kind(every: Iterable[Notebook], few: int | None) -> Iterator[Notebook]:
    """Give the first few notebooks of each kind, which their names begin with; all without a number."""
    seen = Counter[str]()
    for each in every:
        kind = each.name.partition(":")[0]
        if few is None or seen[kind] < few:
            yield each
        seen[kind] += 1


def answers(bundle: Bundle, few: int | None) -> Iterator[Answers]:
    variants = NOTEBOOKS[bundle.notebook]
    for task in variants.SOLUTIONS:
        right, wrong = (list(each[task].items())[:few] for each in (variants.CORRECT, variants.WRONG))
        sources = {f"right: {task}: {name}": source for name, source in right}
        sources |= {f"wrong: {task}: {name}": source for name, (_, source) in wrong}
        names = list(sources)
        for start in range(0, len(names), TOGETHER):
            yield Answers(task, {name: sources[name] for name in names[start : start + TOGETHER]})


def leaves(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give every field of a record with the way to it."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, (*place, name))
    else:
        yield place, value


def compare(before: Mapping[str, Any], after: Mapping[str, Any], ignore: set[str]) -> int:
    """Print what differs, by the kind of field, and return in how many fields, those to ignore left out."""
    old, new = dict(leaves(before["outcomes"])), dict(leaves(after["outcomes"]))
    changed: dict[str, dict[tuple[Any, Any], list[str]]] = defaultdict(lambda: defaultdict(list))
    for place in dict.fromkeys((*old, *new)):
        was, now = old.get(place, "(not there)"), new.get(place, "(not there)")
        if was != now:
            changed[place[-1]][json.dumps(was), json.dumps(now)].append(" / ".join(place[:-1]))
    print(f"{before['commit']} and {after['commit']}: {len(old)} fields and {len(new)} fields")
    for kind, values in sorted(changed.items()):
        print(f"\n{kind}: {sum(map(len, values.values()))} differ{' (ignored)' if kind in ignore else ''}")
        for (was, now), places in values.items() if kind not in ignore else ():
            more = f" and {len(places) - 1} more" if len(places) > 1 else ""
            print(f"  {places[0]}{more}\n    {was}\n    {now}")
    if not changed:
        print("Nothing differs.")
    return sum(len(places) for kind in changed.keys() - ignore for places in changed[kind].values())


def read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {"commit": found["commit"], "outcomes": found["outcomes"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
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
    comparing = commands.add_parser(
        "compare", help="print what differs; the exit status is 1 if anything does"
    )
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--ignore", default="", help="kinds of fields that may differ: exchanges,message")
    told = parser.parse_args()
    if told.command == "record":
        found = {"commit": commit(), "outcomes": record(told.assignments, told.jobs, told.few)}
        told.file.parent.mkdir(parents=True, exist_ok=True)
        beside = told.file.with_suffix(".part")
        beside.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        os.replace(beside, told.file)
    else:
        before, after = map(read, (told.before, told.after))
        sys.exit(compare(before, after, set(told.ignore.split(","))) > 0)


if __name__ == "__main__":
    main()
