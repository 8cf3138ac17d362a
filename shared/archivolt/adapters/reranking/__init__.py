"""Models that order passages anew."""
