"""Qdrant's REST API over the embedded engine: product code talks to it as to a Qdrant server."""
