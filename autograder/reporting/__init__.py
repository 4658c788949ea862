"""Reports on an assignment and on a course, as pages and as tables, and marks for other systems."""
