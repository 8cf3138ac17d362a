"""Tokenizers of embedding models."""
