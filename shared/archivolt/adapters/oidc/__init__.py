"""OpenID Connect, as a client of an identity provider."""
