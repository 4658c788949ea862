"""What people look at: the card under a check, in the notebook and in the feedback."""
