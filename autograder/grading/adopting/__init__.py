"""Taking over a course that nbgrader has graded so far: what there is, and what is to be set."""
