"""Missing cells of a CSV file: counted by column, and rejected, dropped, or kept to be filled in every fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudbound.inputs.classifier_recipe import STRATEGIES
from cudbound.inputs.column_roles import Roles
from cudbound.inputs.data_file import CsvError, first_few, quoted
from cudbound.inputs.number_texts import to_numbers

if TYPE_CHECKING:
    import pandas as pd

#: Cells, in lower case, that say "no value".
MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "<na>", "null", ".", "?"})
#: What may be done about them on the command line.
CHOICES = ("error", "drop", *STRATEGIES)
#: They are left to a model that was fitted to data with missing values.
KEEP = "keep"


def missing_cells(frame: pd.DataFrame, further: Sequence[str] = ()) -> pd.DataFrame:
    """Return where a cell is missing, or equals one of the `further` texts; numbers are compared as numbers."""
    import pandas as pd

    texts = MISSING | {text.strip().lower() for text in further}
    numbers = to_numbers(pd.Series(sorted(texts), dtype=object)).dropna()
    absent: pd.DataFrame = frame.apply(
        lambda column: column.str.lower().isin(texts) | to_numbers(column).isin(numbers)
    )
    return absent


def settle_missing(
    source: str, frame: pd.DataFrame, absent: pd.DataFrame, roles: Roles, missing: str
) -> tuple[pd.DataFrame, str | None]:
    """Return the used cells with nan where one is missing, and a sentence on what was done, or None.

    Parameters
    ----------
    source : str
        Name of the file.
    frame : DataFrame of str
        The used columns.
    absent : DataFrame of bool
        Where they are missing, see `missing_cells`.
    roles : Roles
    missing : str
        One of `CHOICES`, or `KEEP`.

    Raises
    ------
    CsvError
        If a cell is missing and `missing` is "error", if the target, the group or the weight has a missing value
        without "drop", if no complete row is left, or if a feature is empty.
    """
    counts = absent.sum()
    columns = first_few([f"{quoted(str(name))} {count}" for name, count in counts.items() if count])
    frame = frame.mask(absent)
    if not columns:
        return frame, None
    number = f"{int(counts.sum())} missing value(s) in {quoted(source)}"
    if missing == "error":
        raise CsvError(
            f"{number}: {columns}; --missing drop removes these rows, --missing median or most-frequent fills them in "
            "every fit; or drop a column with --exclude COL"
        )
    n = len(frame)
    if missing == "drop":
        frame = frame[~absent.any(axis=1)]
        if frame.empty:
            raise CsvError(f"{number}: {columns}; no row is complete: drop a column with --exclude COL")
        return frame, f"{n - len(frame)} of {n} rows left out ({columns})"
    needed = [name for name in roles.used if name not in roles.features and counts[name]]
    if needed:
        raise CsvError(
            f"column {quoted(needed[0])} lacks {counts[needed[0]]} value(s), which cannot be filled; remove these "
            "rows with --missing drop"
        )
    empty = [quoted(str(name)) for name in roles.features if counts[name] == n]
    if empty:
        raise CsvError(f"column {first_few(empty)} is empty; drop it with --exclude COL")
    if missing == KEEP:
        return frame, f"{columns} of {n} rows, passed to the model"
    return frame, (
        f"{columns} of {n} rows, filled with the {_WORDS[missing]}, in every fit; for cud, with that of all rows"
    )


_WORDS = {
    "median": "median of the column (a category with its most frequent level)",
    "most-frequent": "most frequent value of the column",
}
