"""Vaults and the files in them: access, listing, reading, changing, searching text."""
