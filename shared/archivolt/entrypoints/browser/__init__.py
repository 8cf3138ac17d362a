"""Pages for people: signing in, letting programs in, saying yes to a change."""
