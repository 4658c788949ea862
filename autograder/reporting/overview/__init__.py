"""Reports on a course as a whole: the state of each assignment, and the class's results in all of them."""
