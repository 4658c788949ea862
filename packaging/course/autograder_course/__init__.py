"""The course as `autograder new` copies it: `source/` with its solutions and `nbgrader_config.py`.

Only data lies here, put in when the package is built; `autograder.grading.course.template` reads it.
"""
