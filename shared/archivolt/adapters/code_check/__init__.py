"""Code is parsed in a child process, which limits itself (decision 64)."""
