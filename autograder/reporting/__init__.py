"""What people look at: the card under a check, tables on the command line, the report of a class, exports."""
