"""Collecting check files: what they may import."""

import sys
from types import ModuleType

from autograder.checking.runner.collection import collect

CHECK = """
from autograder.checking import FunctionSpec
from given import DIMENSIONS

task = FunctionSpec("double", inputs={"x": "N"}, outputs={"y": "N"}, reference=lambda x: 2 * x)
test_shape = task.shape()
"""


def test_each_folder_has_the_files_beside_its_checks(tmp_path, monkeypatch):
    """Two assignments and the student have a `given.py`, each its own."""
    students = ModuleType("given")
    monkeypatch.setitem(sys.modules, "given", students)
    found = {}
    for name in ("images", "words"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "test_double.py").write_text(CHECK)
        given = f'from autograder.checking import Dimensions\nDIMENSIONS = Dimensions(N="{name}")\n'
        (tmp_path / name / "given.py").write_text(given)
        path = list(sys.path)
        found[name] = [check.title for check in collect(tmp_path / name).all]
        assert sys.path == path
        assert sys.modules["given"] is students
    assert found == {"images": ["It returns y (images)."], "words": ["It returns y (words)."]}
