"""Chat turns, their events and the conversations they belong to."""
