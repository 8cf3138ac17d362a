"""The single source of truth for what agents may do: registry, pipeline, catalogue (O1)."""
