"""Ports implemented with a technology, one package per technology."""
