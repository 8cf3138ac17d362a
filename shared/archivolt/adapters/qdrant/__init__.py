"""Vectors in Qdrant, over its REST API."""
