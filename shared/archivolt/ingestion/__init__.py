"""From a changed object to searchable passages."""
