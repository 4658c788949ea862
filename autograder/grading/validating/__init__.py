"""Right answers in other styles, which `autograder validate` tries besides known mistakes."""
