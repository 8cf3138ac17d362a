"""What is kept in tables."""
