"""Answers of language models as they stream in, whatever the wire format."""
