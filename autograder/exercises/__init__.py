"""What the course asks of each task: one folder a notebook, one file `test_<task>.py` a task.

The only place, with `source/` and `solutions/`, that knows what the course is about.
"""
