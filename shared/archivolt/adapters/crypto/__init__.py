"""Sealing secrets (decision 24)."""
