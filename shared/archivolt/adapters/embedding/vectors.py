"""Vectors as they come from outside, checked and brought to unit length."""

import math
from array import array
from collections.abc import Sequence
from typing import cast

from archivolt.domain.errors import UnavailableError
from archivolt.ports.retrieval import Vector


def checked_vectors(rows: Sequence[object], *, count: int, dimension: int) -> list[Vector]:
    """Return vectors of unit length.

    Raises:
        UnavailableError: `unavailable`: they are not `count` lists of `dimension` finite numbers,
            or one is all zero.

    """
    if len(rows) != count:
        raise UnavailableError("unavailable")
    return [_checked(row, dimension) for row in rows]


def _checked(row: object, dimension: int) -> Vector:
    numbers = cast("list[object]", row) if isinstance(row, list) else []
    if len(numbers) != dimension:
        raise UnavailableError("unavailable")
    return unit_vector([_finite(number) for number in numbers])


def _finite(number: object) -> float:
    try:
        if (
            not isinstance(number, bool)
            and isinstance(number, int | float)
            and math.isfinite(number)
        ):
            return float(number)
    except OverflowError:
        pass  # a whole number beyond every float
    raise UnavailableError("unavailable")


def mean_vector(vectors: Sequence[Vector]) -> Vector:
    """Return the direction between vectors of unit length; one stays as it is."""
    if len(vectors) == 1:
        return vectors[0]
    return unit_vector([math.fsum(column) for column in zip(*vectors, strict=True)])


def unit_vector(floats: Sequence[float]) -> Vector:
    """Return a vector's direction as 32-bit floats.

    Raises:
        UnavailableError: `unavailable`: it has none.

    """
    length = math.hypot(*floats)
    if not length or not math.isfinite(length):
        raise UnavailableError("unavailable")
    return array("f", [value / length for value in floats])
