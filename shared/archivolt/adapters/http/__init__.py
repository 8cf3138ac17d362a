"""Calls to hosts that are not ours (decision 25)."""
