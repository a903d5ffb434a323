"""Rows of results as a data frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def frame_of(rows: Iterable[Any], columns: tuple[str, ...]) -> pd.DataFrame:
    """Return one unrounded row for each of `rows` of results; `columns` are those of a frame without rows."""
    import pandas as pd

    records = [row.to_record() for row in rows]
    frame = pd.DataFrame(records, columns=list(records[0] if records else columns))
    if "n_test" in frame:
        # a row from all training rows has none, which must not make floats of the others
        frame["n_test"] = pd.Series([record["n_test"] for record in records], dtype=object)
    return frame
