"""The whole checks, put in when the package is built; `autograder.exercises` is read from here where it is."""
