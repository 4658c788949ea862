"""The page that a student gets back: what it says, how it looks, and what it must not show.

`nbgrader generate_feedback` and formgrader's button find these names by the strings in a course's
`nbgrader_config.py`.
"""

from autograder.grading.feedback.exporter import FeedbackExporter
from autograder.grading.feedback.hidden import WithoutHiddenTests
from autograder.grading.feedback.points import PointsOfAPerson

__all__ = ["FeedbackExporter", "PointsOfAPerson", "WithoutHiddenTests"]
