"""The contents of the three wheels, and a fresh course made from them."""

from __future__ import annotations

import ast
import bz2
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from textwrap import dedent

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import autograder
from autograder import data
from autograder.grading.course import template as module
from autograder.grading.course.template import CourseFilesMissing, CourseTargetTaken, course_files, new_course

ROOT = Path(__file__).parents[2]
SOLUTION = re.compile(r"^### BEGIN SOLUTION$\n(.*?)^### END SOLUTION$", re.MULTILINE | re.DOTALL)

Contents = dict[str, bytes]


def build(project: Path, kind: str, out: Path) -> Path:
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", out, project]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    [built] = out.iterdir()
    return built


def wheel_contents(wheel: Path) -> Contents:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def student_wheel(tmp_path_factory) -> Contents:
    return wheel_contents(build(ROOT, "wheel", tmp_path_factory.mktemp("student")))


@pytest.fixture(scope="module")
def student_sdist(tmp_path_factory) -> Contents:
    with tarfile.open(build(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))) as archive:
        return {m.name: archive.extractfile(m).read() for m in archive.getmembers() if m.isfile()}


@pytest.fixture(scope="module")
def course_wheel(tmp_path_factory) -> Contents:
    return wheel_contents(build(ROOT / "packaging/course", "wheel", tmp_path_factory.mktemp("course")))


@pytest.fixture(scope="module")
def checks_wheel(tmp_path_factory) -> Contents:
    return wheel_contents(build(ROOT / "packaging/checks", "wheel", tmp_path_factory.mktemp("checks")))


def unindented(text: str) -> str:
    return re.sub(r"(?m)^[ \t]+", "", text)


def solutions() -> list[str]:
    """The text between the solution marks of every source notebook, where it is more than one line."""
    notebooks = [json.loads(path.read_text(encoding="utf-8")) for path in ROOT.glob("source/*/*.ipynb")]
    cells = [unindented("".join(cell["source"])) for notebook in notebooks for cell in notebook["cells"]]
    return [text for cell in cells for text in SOLUTION.findall(cell) if text.count("\n") > 1]


def test_students_get_no_notebook_and_no_list_of_mistakes(student_wheel, student_sdist):
    for contents in (student_wheel, student_sdist):
        assert [name for name in contents if name.endswith(".ipynb")] == []
        for name in contents:
            if name.endswith(".toml") and not name.endswith("/pyproject.toml"):
                assert not re.search(rb"(?m)^(find|replace|answer|hint|caught_by) *=", contents[name]), name


def catalogue_texts() -> list[str]:
    """What the catalogue says: its hints, and edits that are longer than a call that anybody might write."""
    tables = [tomllib.loads(path.read_text()) for path in ROOT.glob("solutions/mistakes/*.toml")]
    keys = ("hint", "replace", "answer")
    texts = [mistake.get(key, "") for table in tables for mistake in table.values() for key in keys]
    return [" ".join(text.split()) for text in texts if len(text) > 60]


@pytest.mark.slow
def test_students_get_hints_that_cannot_be_read(student_wheel, student_sdist):
    secrets = catalogue_texts()
    assert len(secrets) > 110, "the catalogue was not found: this test would pass on anything"
    for contents in (student_wheel, student_sdist, release()):
        flat = {name: " ".join(body.decode(errors="replace").split()) for name, body in contents.items()}
        assert not [(name, text) for name, body in flat.items() for text in secrets if text in body]
    for path in sorted(ROOT.glob("release/*/*.ipynb")):
        hints = json.loads(student_wheel[f"autograder/exercises/{path.stem}/hints.json"])
        assert hints == json.loads((path.parent / "hints.json").read_text())
        assert set(hints["tasks"]) <= {p.stem.removeprefix("test_") for p in exercise(path.stem)}


def release() -> Contents:
    return {str(path): path.read_bytes() for path in ROOT.glob("release/*/*") if path.is_file()}


def exercise(notebook: str) -> list[Path]:
    return list((ROOT / "autograder" / "exercises" / notebook).glob("test_*.py"))


def test_students_get_no_solution(student_wheel, student_sdist):
    secrets = solutions()
    assert secrets, "no solution was found in source/: this test would pass on anything"
    for contents in (student_wheel, student_sdist):
        for name, body in contents.items():
            text = unindented(body.decode("utf-8", errors="replace"))
            assert "\n### BEGIN SOLUTION\n" not in text, name
            assert not any(secret in text for secret in secrets), name


def test_the_student_wheel_is_the_package_and_nothing_else(student_wheel):
    assert {name.split("/")[0] for name in student_wheel} == {
        "autograder",
        f"lstm_autograder-{autograder.__version__}.dist-info",
    }
    assert "autograder/__init__.py" in student_wheel
    entry_points = student_wheel[f"lstm_autograder-{autograder.__version__}.dist-info/entry_points.txt"]
    assert b"autograder = autograder.cli:main" in entry_points


def test_an_editable_install_copies_nothing(tmp_path):
    """Copies would grow old beside the checkout, and a submission could find them there."""
    code = "import sys; from hatchling.build import build_editable; build_editable(sys.argv[1])"
    result = subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    [built] = tmp_path.iterdir()
    held = [name for name in wheel_contents(built) if ".dist-info/" not in name]
    assert held == ["_editable_impl_lstm_autograder.pth"]


def test_the_report_finds_its_templates(student_wheel, student_sdist):
    for contents in (student_wheel, student_sdist):
        names = {Path(name).name for name in contents if "/reporting/templates/" in name}
        assert names == {"report.html.j2", "course.html.j2", "figures.html.j2", "report.css", "report.js"}


def test_students_get_the_data(student_wheel, student_sdist):
    for contents in (student_wheel, student_sdist):
        (held,) = (body for name, body in contents.items() if name.endswith("pride_and_prejudice.txt.bz2"))
        assert bz2.decompress(held).decode() == data.text("pride_and_prejudice")


def test_students_need_no_grading_package(student_wheel):
    metadata = student_wheel[f"lstm_autograder-{autograder.__version__}.dist-info/METADATA"].decode()
    required = re.findall(r"(?m)^Requires-Dist: ([\w.-]+)(?!.*extra ==)", metadata)
    assert sorted(required) == ["ipython", "matplotlib", "msgspec", "numpy", "pytest", "torch"]


def test_grading_installs_only_what_it_imports():
    """What the tests alone import is in the extra `dev`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    imported = {
        name.split(".")[0]
        for path in (ROOT / "autograder").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
        )
    }
    modules = metadata.packages_distributions()
    used = {canonicalize_name(distribution) for name in imported for distribution in modules.get(name, ())}
    asked = [Requirement(each).name for each in project["optional-dependencies"]["grading-tools"]]
    assert [name for name in asked if canonicalize_name(name) not in used] == []


def test_a_notebook_needs_neither_grading_packages_nor_linux():
    """What `check` uses is imported with the grading extra and the modules of Unix taken away."""
    code = """
        import importlib, pkgutil, sys
        import IPython, matplotlib.pyplot, numpy, pytest, torch
        for name in sys.argv[1:]:
            sys.modules[name] = None
        import autograder.checking, autograder.exercises, autograder.figures, autograder.notebook
        for package in (autograder.checking, autograder.exercises):
            for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
                importlib.import_module(module.name)
    """
    grading = ["nbclient", "nbconvert", "nbformat", "nbgrader", "psutil", "rich", "sqlalchemy", "typer"]
    unix = ["fcntl", "grp", "pwd", "pyseccomp", "resource", "sandlock", "termios"]
    command = [sys.executable, "-c", dedent(code), *grading, *unix]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_the_course_wheel_holds_the_course(course_wheel):
    held = {name.removeprefix("autograder_course/") for name in course_wheel}
    tracked = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "source").rglob("*.ipynb")
        if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
    }
    assert tracked <= held
    assert {"nbgrader_config.py", "skeleton/assignment.ipynb", "skeleton/mistakes.toml"} <= held
    assert not [name for name in held if "/." in name or "__pycache__" in name]


@pytest.mark.parametrize(("name", "extra"), [("course", "course"), ("checks", "grading")])
def test_all_distributions_have_one_version(name, extra):
    other = tomllib.loads((ROOT / f"packaging/{name}/pyproject.toml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert other["project"]["version"] == autograder.__version__
    major_minor = ".".join(autograder.__version__.split(".")[:2])
    needed = f"lstm-autograder-{name}=={major_minor}.*"
    assert needed in project["project"]["optional-dependencies"][extra]
    others = project["project"]["optional-dependencies"].keys() - {extra}
    assert not [each for each in others if needed in project["project"]["optional-dependencies"][each]]


def test_the_graders_wheel_holds_the_whole_checks(checks_wheel):
    home = ROOT / "autograder" / "exercises"
    whole = {path.relative_to(home).as_posix(): path.read_bytes() for path in home.rglob("*.py")}
    del whole["__init__.py"]
    assert len(whole) > 50
    assert {name: checks_wheel[f"autograder_checks/{name}"] for name in whole} == whole
    assert {name.split("/")[0] for name in checks_wheel} == {
        "autograder_checks",
        f"lstm_autograder_checks-{autograder.__version__}.dist-info",
    }
    assert not [name for name in checks_wheel if name.endswith((".ipynb", ".toml", "handed_out.json"))]


def test_the_wheels_description_is_for_those_who_install_it(student_wheel):
    """Its page in a registry has no repository around it: no `make`, no relative link."""
    metadata = student_wheel[f"lstm_autograder-{autograder.__version__}.dist-info/METADATA"].decode()
    description = metadata.partition("\n\n")[2]
    assert "pip install" in description
    assert "make " not in description
    assert [link for link in re.findall(r"\]\(([^)]*)\)", description) if "://" not in link] == []


def test_torch_is_pinned_without_a_local_version():
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    assert "torch==2.13.0" in pins
    assert not [pin for pin in pins if "+" in pin or " @ " in pin or "/" in pin.partition("#")[0]]


def test_the_oldest_python_that_is_named_can_have_every_pin():
    """Its first release can: people have the one that their distribution came with, such as 3.11.2."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    oldest = f"{project['requires-python'].removeprefix('>=')}.0"
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    asked = {pin: metadata.metadata(pin.name) for pin in pins}
    others = [str(pin) for pin in pins if not pin.specifier.contains(asked[pin]["Version"])]
    assert not others, "this environment is not the one that constraints.txt describes: set it up again"
    refused = [
        f"{pin} needs Python {asked[pin].get('Requires-Python')}"
        for pin in pins
        if not SpecifierSet(asked[pin].get("Requires-Python") or "").contains(oldest)
    ]
    assert not refused, f"{oldest} is promised: `make constraints` finds pins that it can have"


# --- a fresh course ---


@pytest.fixture
def packaged(tmp_path, monkeypatch) -> Path:
    """A tiny course, in the place of the real one."""
    root = tmp_path / "packaged"
    (root / "source/01_first/.ipynb_checkpoints").mkdir(parents=True)
    (root / "source/01_first/first.ipynb").write_text("{}")
    (root / "source/01_first/.ipynb_checkpoints/first-checkpoint.ipynb").write_text("{}")
    (root / "nbgrader_config.py").write_text("c = get_config()\n")
    (root / "gradebook.db").write_text("not for a new course")
    monkeypatch.setattr(module, "checkout", lambda: root)
    return root


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


FRESH = [".gitignore", "README.md", "nbgrader_config.py", "source/01_first/first.ipynb"]


def test_a_checkout_is_its_own_course():
    assert course_files() == ROOT


def test_without_a_checkout_the_installed_package_is_the_course(tmp_path, monkeypatch, packaged):
    packaged.rename(tmp_path / "autograder_course")
    (tmp_path / "autograder_course/__init__.py").touch()
    monkeypatch.setattr(module, "checkout", lambda: None)
    monkeypatch.syspath_prepend(tmp_path)
    assert course_files() == tmp_path / "autograder_course"


def test_without_either_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(module, "checkout", lambda: None)
    monkeypatch.setattr(module, "_installed_package", lambda: None)
    with pytest.raises(CourseFilesMissing, match="install lstm-autograder-course"):
        course_files()


@pytest.mark.parametrize("target", ["course", "not/yet/there"])
def test_a_new_course_is_the_source_and_the_configuration(tmp_path, packaged, target):
    new_course(tmp_path / target)
    assert files(tmp_path / target) == FRESH
    assert [path.name for path in (tmp_path / target).parent.iterdir() if path.name.startswith(".")] == []


def test_everything_written_by_hand_goes_into_a_new_course(tmp_path, packaged):
    """Without the right answers in other styles, `validate` would ask nothing of a check's fairness."""
    for part in ("mistakes/01_first.toml", "variants/first.py", "variants/__pycache__/first.pyc"):
        (packaged / "solutions" / part).parent.mkdir(parents=True, exist_ok=True)
        (packaged / "solutions" / part).write_text("")
    (packaged / "solutions/01_first").mkdir()
    (packaged / "solutions/01_first/first.ipynb").write_text("{}")
    new_course(tmp_path / "course")
    made = ["solutions/mistakes/01_first.toml", "solutions/variants/first.py"]
    assert files(tmp_path / "course") == sorted(FRESH + made)


def test_an_empty_directory_is_filled_where_it_is(tmp_path, monkeypatch, packaged):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    new_course(Path())
    assert files(Path()) == FRESH
    assert sorted(path.name for path in here.iterdir()) == [*FRESH[:3], "source"]


def test_copies_can_be_edited_even_where_the_package_is_read_only(tmp_path, packaged):
    (packaged / "source/01_first/first.ipynb").chmod(0o444)
    new_course(tmp_path / "course")
    assert (tmp_path / "course/source/01_first/first.ipynb").stat().st_mode & 0o200


@pytest.mark.parametrize("kind", ["directory", "file", "dangling link"])
def test_what_is_there_is_left_alone(tmp_path, packaged, kind):
    target = tmp_path / "taken"
    if kind == "directory":
        target.mkdir()
        (target / "thesis.tex").write_text("years of work")
    elif kind == "file":
        target.write_text("years of work")
    else:
        target.symlink_to(tmp_path / "nowhere")
    before = files(tmp_path)
    with pytest.raises(CourseTargetTaken, match="is not an empty directory"):
        new_course(target)
    assert files(tmp_path) == before


@pytest.mark.parametrize("exists", [False, True])
def test_an_interrupted_copy_leaves_nothing(tmp_path, monkeypatch, packaged, exists):
    def full_disk(*_args, **_kwargs):
        raise OSError(28, os.strerror(28))

    target = tmp_path / "course"
    if exists:
        target.mkdir()
    monkeypatch.setattr(module.shutil, "copyfile", full_disk)
    with pytest.raises(CourseTargetTaken, match="No course could be made"):
        new_course(target)
    assert target.exists() == exists
    assert {path.name for path in tmp_path.iterdir()} == {"packaged"} | ({"course"} if exists else set())
    assert not exists or not any(target.iterdir())
