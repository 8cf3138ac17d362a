"""Language models behind Anthropic's Messages API (S4)."""
