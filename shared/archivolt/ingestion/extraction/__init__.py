"""From the bytes of a document to its text as Markdown: what it is, and who can read it."""
