"""The student's front end and working folder: everything that depends on them."""
