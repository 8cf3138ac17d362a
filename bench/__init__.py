"""The benchmarks. Numerical work in these processes takes one thread, as in the functions."""

import os
from typing import Final

BLAS_THREADS: Final = "OPENBLAS_NUM_THREADS"

# Read when numpy is loaded, which nothing has done yet.
os.environ.setdefault(BLAS_THREADS, "1")  # noqa: TID251  numpy's own library reads it there
