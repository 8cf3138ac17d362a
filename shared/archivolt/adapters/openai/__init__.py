"""Language models behind an OpenAI-compatible endpoint (S4)."""
