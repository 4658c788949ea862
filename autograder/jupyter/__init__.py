"""What has to do with the front end and the folder that a student works in."""
