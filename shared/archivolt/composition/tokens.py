"""What tells the tokens of a text: the model's tokenizer where its file is named, else a bound."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from archivolt.retrieval.tokens import SafeBound
from archivolt.settings import MissingSettingError

if TYPE_CHECKING:
    from archivolt.ports.ingestion import TokenCounter


@cache
def token_counter(file: str) -> "TokenCounter":
    """Return what counts by a tokenizer's file; "" for the bound that needs none.

    Raises:
        MissingSettingError: There is no such file, or what reads it is not installed.

    """
    if not file:
        return SafeBound()
    from archivolt.adapters.tokens.exact import ExactTokenCounter, is_installed, package_for

    path = Path(file)
    package = package_for(path)
    if not package:
        raise MissingSettingError("EMBEDDING_TOKENIZER is neither a .model nor a .json file")
    if not path.is_file():
        raise MissingSettingError("EMBEDDING_TOKENIZER names a file that is not there")
    if not is_installed(package):
        raise MissingSettingError(f"EMBEDDING_TOKENIZER needs {package}, which is not installed")
    return ExactTokenCounter(path)
