"""Where the world comes in: requests translated in, errors translated out."""
