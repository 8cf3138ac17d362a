"""OAuth 2.1 as a client of strangers: what they say of themselves, and tokens from them."""
