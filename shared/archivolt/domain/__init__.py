"""What is true whatever the technology. Imports the standard library only."""
