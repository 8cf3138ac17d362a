"""Events on a bus."""
