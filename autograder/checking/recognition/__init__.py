"""Recognition of wrong numbers: what turns them into the right ones."""
