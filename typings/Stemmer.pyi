"""PyStemmer 3.1, as far as the product uses it."""

class Stemmer:
    def __init__(self, algorithm: str) -> None: ...
    def stemWord(self, word: str) -> str: ...  # noqa: N802  the library's own name
