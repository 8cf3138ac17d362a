"""Keeps a vault like a folder of this machine, one way."""
