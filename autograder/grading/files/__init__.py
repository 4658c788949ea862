"""A course's files: what lies beside a graded notebook, and who on the machine may read and write what."""
