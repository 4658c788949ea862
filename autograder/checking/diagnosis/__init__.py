"""Known mistakes told by their answers: fingerprints, the match, and hints that only a match opens."""
