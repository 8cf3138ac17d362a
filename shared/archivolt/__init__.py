"""Archivolt: a private AI workspace over a team's documents, on the team's own AWS account."""

__version__ = "0.1.0"
