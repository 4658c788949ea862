"""The whole checks, put in when the package is built; `autograder.exercises` reads them here."""
