"""The operating system."""
