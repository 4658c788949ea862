"""A course directory: its configuration, its assignments and where each student's work lies.

All paths come from nbgrader's own `CourseDirectory`, so that whatever an instructor sets in
`nbgrader_config.py` holds here, too.
"""

from __future__ import annotations

import json
import os
import sys
import sysconfig
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import nbformat
import sqlalchemy.exc
from dateutil.tz import gettz
from jupyter_core.paths import jupyter_config_path
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import ConfigFileNotFound, PyFileConfigLoader

from autograder.errors import UserError
from autograder.grading.assignment.bundle import Bundle
from autograder.grading.assignment.catalogue import Mistake, read_catalogue
from autograder.grading.assignment.cells import check_task, grade_id, is_grade, is_solution, other_language
from autograder.grading.assignment.instead import without_instead
from autograder.grading.course.gradebook import Opener, patient_url
from autograder.grading.course.times import read_time
from autograder.grading.files.access import Access
from autograder.grading.handed_in.folder import HandedIn, read_folder
from autograder.grading.handed_in.helpers import instructors_files
from autograder.grading.handed_in.names import shown

CONFIG_FILE = "nbgrader_config.py"
_AUTOTEST = "AUTOTEST"
"""The mark of lines in whose place nbgrader writes tests when it generates a release."""

# nbgrader builds its rows in an order that SQLAlchemy 2 comments on, three times a student;
# the rows are right.
warnings.filterwarnings("ignore", category=sqlalchemy.exc.SAWarning, module=r"nbgrader\.")


@dataclass(frozen=True)
class Course:
    """A course directory that has been found to be one."""

    root: Path
    config: Config
    directory: CourseDirectory

    @classmethod
    def at(cls, root: Path, *, configured: bool = True) -> Course:
        """The course in a directory; `UserError` if there is none, which needs to be `configured`."""
        root = root.resolve()
        if configured and not (root / CONFIG_FILE).is_file():
            raise UserError(
                f"There is no course in {root}: it has no {CONFIG_FILE}. "
                "Name the course directory with `--course DIR`, or make one with `autograder new DIR`."
            )
        find_alembic()
        if str(root) not in sys.path:
            sys.path.append(str(root))  # as nbgrader does: the config may name a late policy of the course's
        config = Config()
        # nbgrader reads the machine's and the user's settings first, and the course's last.
        for folder in (*reversed(jupyter_config_path()), str(root)):
            if (Path(folder) / CONFIG_FILE).is_file():
                config.merge(_load_config(Path(folder)))
        config.CourseDirectory.root = str(root)
        return cls(root, config, CourseDirectory(config=config))

    def folder(self, step: str, student: str, assignment: str) -> Path:
        """The folder of a student's assignment at one of nbgrader's steps: `submitted`, `source`, …."""
        directory = getattr(self.directory, f"{step}_directory")
        return self.root / self.directory.format_path(directory, student, assignment)

    def assignments(self) -> list[str]:
        """The assignments that have a source notebook, in order."""
        sources = self.folder("source", ".", ".")
        return sorted(folder.name for folder in sources.glob("*") if any(folder.glob("*.ipynb")))

    def bundle(self, assignment: str, released: Mapping[str, str] | None = None) -> Bundle:
        """All that grading the assignment needs; `UserError` if it is unknown or not built.

        `released` has the texts of notebooks that are not in their place yet, by name.
        """
        release = self.folder("release", ".", assignment)
        notebooks = sorted(
            {*release.glob("*.ipynb"), *(release / f"{name}.ipynb" for name in released or ())}
        )
        if not notebooks:
            known = self.assignments()
            if assignment in known:
                raise UserError(
                    f"The assignment {assignment} has not been built: "
                    f"run `autograder build {assignment}` first."
                )
            raise UserError(
                f"There is no assignment {assignment!r} in {self.root}. "
                f"Assignments: {', '.join(known) or 'none'}."
            )
        given = released or {}
        texts = {each.stem: given.get(each.stem) or each.read_text(encoding="utf-8") for each in notebooks}
        first, *others = [self._bundle_of(assignment, *each) for each in texts.items()]
        whole = replace(first, others=tuple(others))
        return self.with_mistakes(whole)

    def with_mistakes(self, bundle: Bundle) -> Bundle:
        """Return the bundle with its catalogue of known mistakes; `UserError` where that does not fit it."""
        solution = {task: source for part in bundle.parts for task, source in part.solution.items()}
        mistakes = self.mistakes(bundle.assignment, solution)
        first, *others = [
            replace(part, mistakes=tuple(each for each in mistakes if each.task in part.solution))
            for part in bundle.parts
        ]
        return replace(first, others=tuple(others))

    def _bundle_of(self, assignment: str, notebook: str, released: str) -> Bundle:
        """The bundle of a released notebook that is given as text; `UserError` if it has no whole checks."""
        source = self.folder("source", ".", assignment) / f"{notebook}.ipynb"
        tests: dict[str, str] = {}
        solution: dict[str, str] = {}
        if source.is_file():
            for cell in nbformat.read(source, as_version=4).cells:
                if is_solution(cell) and cell["cell_type"] == "code":
                    solution[grade_id(cell)] = without_instead(cell["source"])
                elif is_grade(cell) and not is_solution(cell) and not check_task(cell):
                    tests[grade_id(cell)] = cell["source"]
        if any(_AUTOTEST in text for text in tests.values()):
            tests = self._instantiated(assignment, notebook, tests)
        own = {path.name: path.read_text(encoding="utf-8") for path in source.parent.glob("checks/*.py")}
        relatives = self._relatives(assignment, notebook)
        home = self.told(source.parent / "checks") if own else ""
        files = instructors_files(source.parent, source.name)
        bundle = Bundle(assignment, notebook, released, tests, own, solution, (), relatives, home, files)
        if language := other_language(bundle.handed_out()["metadata"]):
            raise UserError(
                f"The notebook {bundle.notebook} of {assignment} is one for {language}, and grading runs "
                "Python: keep it in a course directory that nbgrader alone grades."
            )
        if bundle.has_plain_tests:
            bundle = replace(bundle, cell_seconds=self._cell_seconds())
        if bundle.tasks and not bundle.has_checks:
            raise UserError(
                f"There are no checks for the notebook {bundle.notebook} of {assignment}: "
                f"they are expected in {source.parent / 'checks'}."
            )
        if bundle.has_checks and not bundle.has_whole_checks:
            raise UserError(
                f"The checks for {bundle.notebook} that are installed here are those that students get, "
                "without the hidden ones: install `lstm-autograder[grading]`, which brings the whole ones."
            )
        return bundle

    def release_after(self, assignment: str) -> list[str]:
        """The assignments that are to be collected before this one is released, since it holds their answers.

        The metadata of its source notebook name them: `"autograder": {"release_after": ["01_first"]}`.
        """
        try:
            path = min(self.folder("source", ".", assignment).glob("*.ipynb"))
            named = json.loads(path.read_bytes())["metadata"]["autograder"]["release_after"]
            return [str(each) for each in named] if isinstance(named, list) else []
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def _cell_seconds(self) -> float:
        """The seconds that `c.Execute.timeout`, or what it inherits, gives a cell; 0 for no limit."""
        from nbgrader.preprocessors import Execute

        return max(0.0, Execute(config=self.config).timeout or 0.0)

    def catalogue_path(self, assignment: str) -> Path:
        """The file with the assignment's known mistakes."""
        return self.folder("solution", ".", "mistakes") / f"{assignment}.toml"

    def right_answers_path(self, assignment: str) -> Path:
        """The file with right answers to the assignment in other styles."""
        return self.folder("solution", ".", "variants") / f"{assignment}.toml"

    def mistakes(self, assignment: str, solution: Mapping[str, str]) -> tuple[Mistake, ...]:
        """The assignment's catalogue; none where there is none or no solution to apply it to."""
        path = self.catalogue_path(assignment)
        if not path.is_file() or not solution:
            return ()
        return read_catalogue(path.read_text(encoding="utf-8"), solution, self.told(path))

    def told(self, path: Path) -> str:
        """A path as messages name it: from the course's root on."""
        return str(path.relative_to(self.root) if path.is_relative_to(self.root) else path)

    def students(self, assignment: str) -> list[str]:
        """The students who have handed in a folder for the assignment, in order."""
        pattern = self.directory.format_path(self.directory.submitted_directory, "*", assignment)
        relative = os.path.relpath(pattern, self.directory.root)
        position = Path(relative).parts.index("*")
        found = (path for path in self.root.glob(relative) if path.is_dir())
        return sorted(path.relative_to(self.root).parts[position] for path in found)

    def handed_in(self, student: str, bundle: Bundle) -> HandedIn:
        """Return what a student's folder holds: the notebooks' bytes, if it has them, and other files."""
        folder = self.folder("submitted", student, bundle.assignment)
        return read_folder(folder, *(f"{part.notebook}.ipynb" for part in bundle.parts))

    def _relatives(self, assignment: str, notebook: str) -> dict[str, frozenset[str]]:
        """The names of the solution cells of the course's other notebooks, released or not yet."""
        found: dict[str, frozenset[str]] = {}
        folders = [self.folder(step, ".", ".") for step in ("release", "source")]
        for path in (path for folder in folders for path in sorted(folder.glob("*/*.ipynb"))):
            alone = len([*path.parent.glob("*.ipynb")]) == 1
            name = path.parent.name if alone else f"{path.parent.name}/{path.stem}"
            if (path.parent.name, path.stem) == (assignment, notebook) or name in found:
                continue
            try:
                cells = json.loads(path.read_bytes())["cells"]
                marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
                found[name] = frozenset(mark["grade_id"] for mark in marks if mark.get("solution"))
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                continue  # it is another assignment's affair
        return found

    def submitted_at(self, student: str, assignment: str) -> datetime | None:
        """The time of handing in, in UTC, if `timestamp.txt` gives one."""
        return self.read_timestamp(self.folder("submitted", student, assignment))[0]

    def read_timestamp(self, folder: Path) -> tuple[datetime | None, str]:
        """Return the time that nbgrader's `timestamp.txt` in a folder gives, or why it gives none."""
        path = folder / "timestamp.txt"
        try:
            if not path.is_file():
                return None, ""
            with path.open("rb") as file:
                text = file.read(1 << 10).decode("utf-8-sig", errors="replace").strip()
        except OSError as error:
            return None, f"cannot be read ({error.strerror})"
        short = gettz(str(self.config.Exchange.get("timezone", "UTC")))
        moment = read_time(text, UTC, short)
        if moment is None:
            return None, f"says {shown(text)}, which is no time" if text else "is empty"
        return moment.replace(tzinfo=None), ""

    def verdict_path(self, student: str, assignment: str) -> Path:
        """The file of a verdict: not in `autograded/`, which nbgrader hands back to students."""
        return self.root / "verdicts" / assignment / f"{student}.json"

    def has_autotests(self, assignment: str) -> bool:
        """Return whether nbgrader writes tests of the assignment itself, from its AUTOTEST lines."""
        sources = self.folder("source", ".", assignment).glob("*.ipynb")
        return any(_AUTOTEST.encode() in path.read_bytes() for path in sources)

    def _instantiated(self, assignment: str, notebook: str, tests: Mapping[str, str]) -> dict[str, str]:
        """The tests that nbgrader wrote when it generated the release, hidden ones included."""
        with self.gradebook() as gradebook:
            try:
                cells = gradebook.find_notebook(notebook, assignment).source_cells
            except MissingEntry:
                raise UserError(
                    f"The assignment {assignment} has not been built: "
                    f"run `autograder build {assignment}` first."
                ) from None
            return {cell.name: cell.source for cell in cells if cell.name in tests}

    @property
    def has_gradebook(self) -> bool:
        """Return whether there is a gradebook to read: nbgrader would make one, which takes seconds."""
        url = patient_url(str(self.directory.db_url))
        return url.get_backend_name() != "sqlite" or bool(url.database and Path(url.database).exists())

    @cached_property
    def access(self) -> Access:
        """Return who may read and write what grading makes: its owner, or the course's group."""
        return Access.of(self.root, bool(self.directory.groupshared))

    @contextmanager
    def gradebook(self) -> Iterator[Gradebook]:
        """The gradebook, opened; `UserError` if it is locked, read-only or broken."""
        with self._opener.open() as gradebook:
            yield gradebook

    def make_gradebook_file(self) -> None:
        """Make the file of a gradebook that is not there yet, before nbgrader makes one that all may read."""
        self._opener.make_file()

    @property
    def _opener(self) -> Opener:
        address = str(self.directory.db_url)
        return self._openers.setdefault(address, Opener(address, self.directory.course_id, self.access))

    @cached_property
    def _openers(self) -> dict[str, Opener]:
        """The openers by the gradebook's address."""
        return {}


def _load_config(folder: Path) -> Config:
    try:
        return PyFileConfigLoader(CONFIG_FILE, path=str(folder)).load_config()
    except ConfigFileNotFound as error:
        raise UserError(f"{folder / CONFIG_FILE} cannot be read.") from error
    except Exception as error:  # it is Python: anything may happen in it
        raise UserError(f"{folder / CONFIG_FILE} fails with {type(error).__name__}: {error}") from error


def find_alembic() -> None:
    """Put this environment's scripts on PATH, where nbgrader looks for `alembic`, activated or not."""
    scripts = sysconfig.get_path("scripts")
    if scripts not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join(filter(None, [scripts, os.environ.get("PATH", "")]))
