"""Results on record: verdicts, scores, known answers, and the files beside a graded notebook."""
