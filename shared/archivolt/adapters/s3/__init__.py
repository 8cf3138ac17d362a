"""What is kept as objects in a bucket."""
