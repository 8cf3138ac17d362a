"""Language models behind Gemini's `streamGenerateContent` (O73)."""
