"""Bearer tokens in the form of JSON Web Tokens."""
