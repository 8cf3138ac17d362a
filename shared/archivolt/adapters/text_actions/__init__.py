"""Models without tools: they search first, and act by what they write (O17)."""
