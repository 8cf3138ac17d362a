"""Finding passages: text analysis, ranking and fusion."""
