"""Calls to the receivers of webhooks."""
