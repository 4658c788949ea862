"""The command `autograder`, run as `python -m autograder`."""

from autograder.cli import main

main()
