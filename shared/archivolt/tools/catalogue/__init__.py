"""The tools, one module per family."""
