"""How one call of a student's objects is made: where its prints go, and how long it may take."""
