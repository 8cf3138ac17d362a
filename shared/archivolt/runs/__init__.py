"""Agent runs: the loop of the chat, driven durably (decision 21)."""
