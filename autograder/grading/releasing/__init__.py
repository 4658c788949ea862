"""Material that goes out to students: checks without what is kept for grading, recorded answers, hints.

`strip` needs nothing but Python itself: the wheels are built with it where torch is not installed.
"""
