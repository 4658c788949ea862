"""The files of a new course besides its notebooks: a name, a README, a .gitignore, a first assignment.

`course_files` copies a course; the texts here are written for each course anew.
"""
