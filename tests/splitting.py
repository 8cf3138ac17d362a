"""The splitter as the product is composed without a counter of its own."""

from functools import partial
from typing import Final

from archivolt.domain.limits import CHUNK_OVERLAP_TOKENS, CHUNK_TOKENS
from archivolt.ingestion.splitting import split
from archivolt.retrieval.tokens import token_upper_bound

product_split: Final = partial(
    split, budget=CHUNK_TOKENS, count=token_upper_bound, overlap=CHUNK_OVERLAP_TOKENS
)
