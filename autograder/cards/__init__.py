"""A verdict as people see it below a task: the card, its picture and colours, the points so far."""
