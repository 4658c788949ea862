"""The walls between the packages hold, and only the content knows what is being taught."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "autograder"

# The project's own name is the one place where the word may stand.
TOPIC = re.compile(r"(?<!\w)lstm[-_]autograder(?!\w)|(?P<word>lstm)", re.IGNORECASE)


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True)


def test_imports_keep_to_the_contracts():
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        (
            "worker/intruder.py",
            "import autograder.checking",
            "The worker imports only the protocol",
        ),
        ("protocol/intruder.py", "import autograder.worker", "The protocol imports nothing of ours"),
        ("worker/intruder.py", "import pickle", "No pickle and nothing like it"),
        ("exercises/intruder.py", "import autograder.worker", "Exercises import only checking"),
        ("checking/intruder.py", "import autograder.exercises", "Imports go down the layers"),
        ("checking/intruder.py", "import nbgrader", "A notebook needs no grading package"),
        ("grading/intruder.py", "import autograder.cli", "Nothing imports the command line"),
    ],
)
def test_a_forbidden_import_is_seen(tmp_path, module, line, contract):
    """The contracts can fail: each is broken in a small copy of the layout."""
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    for name in ("", "worker", "checking", "exercises", "grading", "jupyter", "protocol", "reporting"):
        (tmp_path / "autograder" / name).mkdir()
        (tmp_path / "autograder" / name / "__init__.py").touch()
    for name in ("cli.py", "notebook.py"):
        (tmp_path / "autograder" / name).touch()
    (tmp_path / "autograder" / module).write_text(f"{line}\n")

    result = lint_imports(tmp_path)

    assert result.returncode == 1, result.stdout + result.stderr
    assert re.search(rf"^{re.escape(contract)} BROKEN$", result.stdout, re.MULTILINE), result.stdout


def test_no_source_that_a_check_sends_names_the_worker():
    """Imports in strings go past the contracts; such a source finds what it needs under `contents`."""
    naming = [
        str(path.relative_to(ROOT))
        for room in ("checking", "exercises")
        for path in sorted((PACKAGE / room).rglob("*.py"))
        if re.search(r"\bautograder(\.| import )worker\b", path.read_text(encoding="utf-8"))
    ]
    assert not naming


TWO_FILES = {"grading/a.py": "import autograder.grading.b", "grading/b.py": "import autograder.grading.a"}
TWO_ROOMS = {
    "grading/x/a.py": "import autograder.grading.y.a",
    "grading/y/a.py": "",
    "grading/y/b.py": "import autograder.grading.x.b",
    "grading/x/b.py": "",
}


@pytest.mark.parametrize("files", [TWO_FILES, TWO_ROOMS])
def test_a_circle_is_seen(tmp_path, files):
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    for name in ("", "worker", "checking", "exercises", "grading/x", "grading/y", "jupyter", "protocol"):
        (tmp_path / "autograder" / name).mkdir(parents=True, exist_ok=True)
    for folder in (tmp_path / "autograder", *(tmp_path / "autograder").rglob("*")):
        (folder / "__init__.py").touch()
    for name in ("cli.py", "notebook.py", *files):
        (tmp_path / "autograder" / name).write_text(files.get(name, ""))

    result = lint_imports(tmp_path)

    assert "No two files and no two rooms import each other BROKEN" in result.stdout, result.stdout


def test_the_worker_carries_no_check_in_its_memory():
    """What the fork server preloads is inherited by every student's process."""
    code = """
        import importlib, pkgutil, sys
        import autograder.figures, autograder.guesses, autograder.notebook, autograder.worker
        for module in pkgutil.walk_packages(autograder.worker.__path__, "autograder.worker."):
            importlib.import_module(module.name)
        print(*sorted(name for name in sys.modules if name.startswith("autograder.")))
    """
    result = subprocess.run([sys.executable, "-c", dedent(code)], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    loaded = {name.split(".")[1] for name in result.stdout.split()}
    assert loaded == {
        "cell_source",
        "figures",
        "guesses",
        "jupyter",
        "notebook",
        "palette",
        "protocol",
        "worker",
    }


def test_what_attacks_name_of_ours_is_there():
    """An attack on a function that is gone does nothing, and would go on passing its test."""
    gone = [
        f"{path.relative_to(ROOT)}: {missing}"
        for path in sorted({*(ROOT / "tests").rglob("*.py")} - {Path(__file__)})
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for missing in names_not_there(node.value)
    ]
    assert not gone, "\n".join(gone)


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ("from autograder.worker import gone", ["autograder.worker.gone"]),
        ("from autograder.protocol import frames as f\nf.gone = f.encode_frame = None", ["f.gone"]),
        ("import autograder.protocol.values as v; v.Gone, v.Ref", ["v.Gone"]),
        ("from autograder.protocol.values import Opaque, Ref\nRef.__init__", []),
    ],
)
def test_a_name_that_is_gone_is_seen(source, missing):
    assert names_not_there(source) == missing


OURS = re.compile(
    r"\bfrom (?P<module>autograder\.\w[\w.]*) import (?P<names>\w+(?: as \w+)?(?:, \w+(?: as \w+)?)*)"
    r"|\bimport (?P<whole>autograder\.\w[\w.]*) as (?P<alias>\w+)"
)


def names_not_there(source: str) -> list[str]:
    """Return the names of ours that some code imports, or uses of what it imports, and that are not there."""
    found, missing = {}, []
    for match in OURS.finditer(source):
        if match["whole"]:
            found[match["alias"]] = importlib.import_module(match["whole"])
            continue
        module = importlib.import_module(match["module"])
        for each in match["names"].split(", "):
            name, _, alias = each.partition(" as ")
            if not hasattr(module, name) and not importlib.util.find_spec(f"{match['module']}.{name}"):
                missing.append(f"{match['module']}.{name}")
                continue
            found[alias or name] = getattr(module, name, None) or importlib.import_module(
                f"{match['module']}.{name}"
            )
    for alias, thing in found.items():
        for match in re.finditer(rf"(?<![\w.]){alias}\.([A-Za-z_]\w*)", source):
            if not hasattr(thing, match[1]):
                missing.append(match[0])
    return missing


def test_no_room_is_crowded():
    """More than sixteen files in a folder, and nobody finds the one that they look for."""
    rooms = (PACKAGE, ROOT / "tests")
    folders = [*rooms, *(path for room in rooms for path in room.rglob("*") if path.is_dir())]
    crowded = {folder: len([*folder.glob("*.py")]) for folder in folders if folder != PACKAGE / "exercises"}
    assert not {folder: files for folder, files in crowded.items() if files > 16}


def test_only_the_exercises_know_the_topic():
    """A course on something else would replace exercises/ and source/, and nothing more."""
    knowing = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted(PACKAGE.rglob("*"))
        if path.suffix in {".py", ".html", ".css", ".j2", ".tpl", ".toml"}
        and PACKAGE / "exercises" not in path.parents
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if any(match["word"] for match in TOPIC.finditer(line))
    ]
    assert not knowing, "\n".join(knowing)


def test_what_starts_the_fork_server_imports_nothing_slow():
    """It is started before its caller imports torch, so that both do so at the same time."""
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, autograder.cli, autograder.grading.workers.forkserver\n"
            "print('torch' in sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "False"
