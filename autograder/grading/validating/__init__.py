"""Steps of `autograder validate`: its right answers, its jobs, and what their verdicts say."""
