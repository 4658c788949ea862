"""The kernel that runs a solution ends with the command that started it."""

import nbformat
import pytest
from nbgrader.preprocessors import Execute

from autograder.grading.building.solving import _telling


def test_a_kernel_whose_start_is_interrupted_is_gone_before_its_folder_is_cleared(tmp_path, monkeypatch):
    kernels = []

    def interrupted(self):
        kernels.append(self.km.provisioner.process)
        raise KeyboardInterrupt

    monkeypatch.setattr(Execute, "start_new_kernel_client", interrupted)
    running = _telling(tmp_path / "kernel.log", [], "the source")()
    with pytest.raises(KeyboardInterrupt):
        running.preprocess(nbformat.v4.new_notebook(), {})
    (kernel,) = kernels
    assert kernel.poll() is not None
