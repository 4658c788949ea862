"""The nbgrader settings by which a course is graded here, and the lines that make them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from traitlets.config import Config

REMARK = "# Grading outside the students' process: each of these lines names a part of autograder."
"""The line above those that are added to a configuration."""


@dataclass(frozen=True)
class Setting:
    """A setting of one of nbgrader's applications."""

    app: str
    name: str
    value: str | list[str]
    otherwise: str
    """The consequence of not having it."""

    @property
    def key(self) -> str:
        return f"{self.app}.{self.name}"

    @property
    def line(self) -> str:
        """The line that sets it in an `nbgrader_config.py`."""
        return f"c.{self.key} = {json.dumps(self.value)}"

    def lacks(self, config: Config) -> bool:
        """Return whether a configuration does not mention it."""
        return self.name not in config[self.app]

    def holds(self, config: Config) -> bool:
        """Return whether a configuration has it with the value that is needed."""
        return not self.lacks(config) and config[self.app][self.name] == self.value


SETTINGS = (
    Setting(
        "GenerateAssignment",
        "exporter_class",
        "autograder.grading.releasing.exporter.ReleaseExporter",
        "formgrader's Generate hands out hidden checks and no hints",
    ),
    Setting(
        "Autograde",
        "exporter_class",
        "autograder.grading.preprocessor.SubmissionExporter",
        "`nbgrader autograde` stops at a submission that is no notebook",
    ),
    Setting(
        "Autograde",
        "sanitize_preprocessors",
        ["autograder.grading.preprocessor.GradeOutside"],
        "`nbgrader autograde` runs students' code unconfined",
    ),
    Setting(
        "Autograde",
        "autograde_preprocessors",
        ["nbgrader.preprocessors.CheckCellMetadata"],
        "`nbgrader autograde` runs what was graded again, unconfined",
    ),
    Setting(
        "GenerateFeedback",
        "exporter_class",
        "autograder.grading.feedback.FeedbackExporter",
        "feedback is nbgrader's own page, which does not begin with what to look at",
    ),
    Setting(
        "GenerateFeedback",
        "preprocessors",
        ["autograder.grading.feedback.WithoutHiddenTests"],
        "hidden tests stand on the feedback page",
    ),
    Setting(
        "ExportApp",
        "plugin_class",
        "autograder.reporting.nbgrader_csv.ScoresAndStates",
        "`nbgrader export` writes 0 for those who have no score",
    ),
)
"""All of them; the repository's own `nbgrader_config.py` has the same ones, each with its reason."""


def with_settings(text: str, settings: Iterable[Setting]) -> str:
    """The text of an `nbgrader_config.py` with settings added at its end, where they hold."""
    lines = [setting.line for setting in settings]
    if not lines:
        return text
    head = text if text.strip() else "c = get_config()\n"
    return "\n".join([head if head.endswith("\n") else f"{head}\n", REMARK, *lines, ""])


def missing(config: Config) -> list[Setting]:
    """The settings that a configuration does not have with the value that is needed."""
    return [each for each in SETTINGS if not each.holds(config)]
