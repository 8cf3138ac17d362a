"""Tenants, settings, keys, rate limits and audit."""
