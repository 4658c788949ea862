"""The trusted side: rebuild a submission, have it run behind the wall, judge it, record it.

`rebuild` → `workers` → `judge` → `record`; `batch` does it for a class, `preprocessor` for plain
nbgrader, `build` makes and proves what is released.
"""
