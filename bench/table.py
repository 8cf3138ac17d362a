"""One form for every measure, and the table they are printed in."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A measure beside its floor: what the same work costs where it cannot be avoided.

    `floor` names it and `floor_value` has the measure's unit; None where there is none.
    """

    measure: str
    value: float
    unit: str
    floor: str = ""
    floor_value: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times the floor."""
        return self.value / self.floor_value if self.floor_value else None

    def as_json(self) -> dict[str, object]:
        """Return the row as a JSON object."""
        return {**asdict(self), "ratio": self.ratio}


def render(rows: Sequence[Row]) -> str:
    """Return rows as an aligned table."""
    lines = [("measure", "value", "floor", "ratio"), *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_line(cells, widths) for cells in lines)


def _cells(row: Row) -> tuple[str, str, str, str]:
    floor = "" if row.floor_value is None else f"{row.floor} {_number(row.floor_value)} {row.unit}"
    ratio = "" if row.ratio is None else f"{row.ratio:.2f} x"
    return row.measure, f"{_number(row.value)} {row.unit}", floor, ratio


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    measure, value, floor, ratio = (
        cell.rjust(width) if place in {1, 3} else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return f"{measure}  {value}  {floor}  {ratio}".rstrip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004
