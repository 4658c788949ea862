"""What concerns a course as a whole: where each assignment stands, and how the class does in all of them."""
