"""The lexical index as SQLite files."""
