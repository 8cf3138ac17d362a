"""The search engine SearXNG, through its JSON interface."""
