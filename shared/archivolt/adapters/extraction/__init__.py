"""Readers of document formats, and the child process that the heavy ones run in."""
