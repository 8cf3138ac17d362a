"""Patterns in linear time, by RE2."""
