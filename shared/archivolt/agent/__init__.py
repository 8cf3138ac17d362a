"""The loop: one pure step, its brakes and its prompts (decision 21)."""
