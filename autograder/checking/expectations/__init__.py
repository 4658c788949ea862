"""What a check may expect of an answer, and the words a student reads when it is not so."""
