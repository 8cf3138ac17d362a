"""Whether providers take a key."""
