"""What `autograder validate` tries besides known mistakes: right answers in other styles."""
