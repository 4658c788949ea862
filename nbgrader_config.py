"""This directory is an nbgrader course; what is graded here is judged outside the student's process.

Plain `nbgrader autograde`, formgrader's button and `autograder grade` all use the same path.
"""

import os
import sysconfig

c = get_config()

# By this name nbgrader's exchange, the groups of a JupyterHub and the gradebook know the course: no other
# course on the same exchange may have it. Change it before anything is released.
c.CourseDirectory.course_id = "recurrent-networks"
c.CourseDirectory.solution_directory = "solutions"
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "*.verdict.json"]

# What students get besides the notebook: hints of known mistakes, and checks without the hidden ones.
c.GenerateAssignment.exporter_class = "autograder.grading.releasing.exporter.ReleaseExporter"

# `nbgrader autograde` works in two stages. In the first, the submission is rebuilt, run behind the
# wall and judged, and its scores are recorded, late penalty included, by the same code as in
# `autograder grade`. Nothing is left for the second.
c.Autograde.exporter_class = "autograder.grading.preprocessor.SubmissionExporter"
c.Autograde.sanitize_preprocessors = ["autograder.grading.preprocessor.GradeOutside"]
c.Autograde.autograde_preprocessors = ["nbgrader.preprocessors.CheckCellMetadata"]

# The feedback page: the points first, the notebook folded below, nothing from the network. Hidden tests of an
# instructor's own do not stand in it.
c.GenerateFeedback.exporter_class = "autograder.grading.feedback.FeedbackExporter"
c.GenerateFeedback.preprocessors = ["autograder.grading.feedback.WithoutHiddenTests"]

# `nbgrader export` writes 0 for whoever has no score: here the field is empty, and a column says why.
c.ExportApp.plugin_class = "autograder.reporting.nbgrader_csv.ScoresAndStates"

# Solved notebooks are committed: nothing in them may depend on when they were run.
c.Execute.record_timing = False
c.Execute.timeout = 300

# nbgrader calls `alembic` by name, which an environment that is not activated does not find.
_scripts = sysconfig.get_path("scripts")
if _scripts not in os.environ.get("PATH", "").split(os.pathsep):
    os.environ["PATH"] = os.pathsep.join(filter(None, [_scripts, os.environ.get("PATH", "")]))
