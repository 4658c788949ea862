"""The files that make a release complete, beside the notebook that nbgrader generates.

Hints of the known mistakes, and where a course has checks of its own, these as students get them. To make
them, each known mistake is tried on the public inputs, which takes seconds; so they are kept, and used again
while all that they depend on is the same.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from autograder import __version__
from autograder.checking.diagnosis.match import Known
from autograder.checking.diagnosis.sealed_hints import FILE as HINTS
from autograder.checking.diagnosis.sealed_hints import sealed
from autograder.checking.inputs.references import Recorder
from autograder.checking.runner.check import Check, ChecksBroken
from autograder.checking.runner.checks import PUBLIC_SEED, Checks
from autograder.checking.runner.collection import collect
from autograder.checking.runner.fault import fault_of
from autograder.checking.runner.handed_out_file import FILE as HANDED_OUT
from autograder.checking.runner.handed_out_file import text_of
from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle, forget_modules
from autograder.grading.course.course import Course
from autograder.grading.course.places import Places
from autograder.grading.course.template import checkout
from autograder.grading.judging.faults_met import MetFault, refuse_faults
from autograder.grading.judging.judge import judge_answers, unfit_checks
from autograder.grading.judging.judge_pool import Failure, LocalJudges, Setting, cores, work_off
from autograder.grading.judging.trial import Trial
from autograder.grading.records.store import one_writer, write_whole
from autograder.grading.releasing.check_file import CannotStrip
from autograder.grading.releasing.strip import Stripped, strip
from autograder.grading.workers.forkserver import ForkServer
from autograder.tasks import OWN

RECORDED = "solutions/recorded"
"""The folder in which a checkout keeps the results of the packaged checks' references, for the wheels."""


@dataclass(frozen=True)
class Handout:
    """The material that goes out with an assignment's notebook."""

    files: Mapping[str, str]
    """Texts by their path in the release."""
    recorded: str = ""
    """The part of the packaged checks that is handed out besides their text; `""` for a course's own."""

    def write(self, release: Path) -> None:
        """Put the files into a release that nbgrader has generated, and take out what is not to be there."""
        for name, text in self.files.items():
            write_whole(release / name, text)
        if HINTS not in self.files:
            (release / HINTS).unlink(missing_ok=True)
        shutil.rmtree(release / OWN / "__pycache__", ignore_errors=True)  # compiled from the whole checks


def handout(
    course: Course, bundle: Bundle, judges: LocalJudges | None = None, *, anew: bool = False
) -> Handout:
    """Return the material that goes out with an assignment, made now, or kept from before unless `anew`.

    Raises `UserError` where it cannot be made: a known mistake that cannot be tried, a check that cannot be
    kept back.
    """
    key, path = _key(bundle), course.root / ".autograder" / "handouts" / f"{bundle.assignment}.json"
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["key"] == key and not anew:
            return Handout(kept["files"], kept["recorded"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    # Of packaged checks, only a checkout keeps what their references give.
    noted = bool(bundle.own_checks) or course.root == checkout()
    parent = judges or LocalJudges(ForkServer(preload=bundle.preload), cores())
    try:
        made = _made(bundle, parent, Places(course, bundle.assignment, bundle.notebook), noted)
    finally:
        if judges is None:
            parent.workers.close()
    with one_writer(course):
        text = json.dumps({"key": key, "files": made.files, "recorded": made.recorded}) + "\n"
        write_whole(path, text, course.access)
    return made


def _made(bundle: Bundle, judges: LocalJudges, places: Places, noted: bool) -> Handout:
    known: dict[str, list[Known]] = {}
    recorder, checks = Recorder(), set[Check]()
    trials = [PublicTrial(task, noted) for task in bundle.tasks]
    for trial, told in work_off(trials, judges.count, Setting(bundle, PUBLIC_SEED, judges.workers)):
        assert isinstance(trial, PublicTrial)
        if isinstance(told, Failure):
            where = f"{places.checks_of(trial.task)}: the known mistakes of `{trial.task}`"
            raise UserError(f"{where} could not be tried: {told.reason}")
        refuse_faults(bundle.assignment, told.faults)
        known[trial.task] = told.known
        recorder.add(told.recorder)
        checks |= set(told.checks)
    files = (
        {HINTS: sealed({task: known[task] for task in bundle.tasks if known[task]})}
        if bundle.mistakes
        else {}
    )
    if not bundle.own_checks:
        return Handout(files, json.dumps(recorder.as_data()) if noted else "")
    stripped = own_stripped(bundle)
    _prove(bundle, checks, stripped.names, places)
    files |= {f"{OWN}/{name}": text for name, text in stripped.files.items()}
    files[f"{OWN}/{HANDED_OUT}"] = text_of(stripped.kept_back_in(), recorder.as_data())
    _prove_public({check for check in checks if check.instead is None}, bundle, files, places)
    return Handout(files)


def _prove_public(public: set[Check], bundle: Bundle, files: Mapping[str, str], places: Places) -> None:
    """Raise `UserError` unless what goes out can be imported and has every check that is not hidden."""
    with tempfile.TemporaryDirectory(prefix="autograder-handout-") as made:
        # Python keeps modules by their name: another assignment's checks must not be taken for these.
        content = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:8]
        folder = Path(made) / f"{bundle.notebook}_handed_out_{content}"
        folder.mkdir()
        for name, text in files.items():
            if Path(name).parent == OWN:
                (folder / Path(name).name).write_text(text, encoding="utf-8")
        try:
            found = set(collect(folder).all)
        except ChecksBroken as error:
            raise UserError(_why_not_collected(error, bundle, folder)) from error
        finally:
            forget_modules(folder)
    for check in sorted(public - found, key=lambda check: (check.task, check.name)):
        raise UserError(
            f"{places.check(check.task, check.name)}: {bundle.assignment} cannot be released: without the "
            f"hidden checks, `{check.name}` of `{check.task}` is gone, too."
        )


def _why_not_collected(error: ChecksBroken, bundle: Bundle, folder: Path) -> str:
    """Return why checks cannot be collected as students get them; the line is that of the author's own file.

    A line that was moved by what is left out is looked up by its text.
    """
    place, told = bundle.checks_home, str(error).strip().splitlines()[-1]
    if error.broken and error.broken[0].error is not None:
        fault = fault_of(error.broken[0].error, folder, bundle.checks_home)
        file = Path(fault.file).name
        place = f"{bundle.checks_home}/{file}"
        with suppress(OSError, IndexError):
            text = (folder / file).read_text(encoding="utf-8").splitlines()[fault.line - 1]
            own = bundle.own_checks.get(file, "").splitlines()
            if own.count(text) == 1:
                place += f", line {own.index(text) + 1}"
    return (
        f"{place}: {bundle.assignment} cannot be released: its checks cannot be imported without the hidden "
        f"ones and the bodies of references ({told})."
    )


def own_stripped(bundle: Bundle) -> Stripped:
    """A course's own checks as students get them. Raises `UserError` for what cannot be kept back."""
    try:
        return strip(bundle.own_checks)
    except CannotStrip as error:
        place = f"{bundle.checks_home}/{error.place}"
        raise UserError(f"{place}: {bundle.assignment} cannot be released: {error.told}") from error


def _prove(bundle: Bundle, checks: set[Check], cut: frozenset[tuple[str, str]], places: Places) -> None:
    """Raise `UserError` unless the checks hidden by their text are those hidden when the checks are run."""
    hidden = {
        (f"test_{check.task}.py", f"test_{check.name}") for check in checks if check.instead is not None
    }
    known = {
        (file, name) for file, name in cut if file.removesuffix(".py").removeprefix("test_") in bundle.tasks
    }
    for file, name in sorted(hidden ^ known):
        task = file.removesuffix(".py").removeprefix("test_")
        raise UserError(
            f"{places.check(task, name.removeprefix('test_'))}: {bundle.assignment} cannot be released: "
            f"whether `{name}` is hidden cannot be read from its text; "
            'write `@hidden("…")` above it.'
        )


@dataclass(frozen=True)
class Tried:
    """The results of trying a task on the public inputs."""

    known: list[Known]
    faults: list[MetFault]
    recorder: Recorder
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class PublicTrial:
    """The job of trying a task's known mistakes and solution on public inputs; references are noted."""

    task: str
    explain: bool
    """True to make messages, so that the results of references for these are noted, too."""

    def run(self, setting: Setting, checks: Checks) -> Tried:
        bundle, solution = setting.bundle, setting.bundle.solution
        with checks.recording() as recorder:
            trial = Trial(self.task, setting.seed, include_hidden=False, explain=self.explain)
            known, faults = trial.run(setting, checks)
            if self.task in solution:
                right = {"solution": solution[self.task]}
                seed, workers = setting.seed, setting.workers
                judged = judge_answers(bundle, self.task, right, seed=seed, checks=checks, workers=workers)
                for check in judged["solution"].checks:
                    if check.instead is None and check.outcome != "passed":
                        raise UserError(
                            f"with what is handed out of references, `{check.check}` does not hold for the "
                            f"solution ({check.outcome}): {check.message}"
                        )
                unfit_checks(bundle, seed=seed, checks=checks, workers=workers, tasks=[self.task])
        return Tried(known, faults, recorder, checks.of(self.task))


def _key(bundle: Bundle) -> str:
    parts = (__version__, bundle.judging_digest(), repr(bundle.mistakes))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
