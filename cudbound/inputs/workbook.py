"""Read patient data from a CSV file, a sheet of an Excel workbook, or a file of Stata."""

from __future__ import annotations

import datetime
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from cudbound.basis.hints import install_command
from cudbound.inputs.csv_file import Table, as_table, read_csv_file
from cudbound.inputs.data_file import CsvError, DataFile, first_few, quoted
from cudbound.inputs.file_content import (
    MOST_BYTES,
    MOST_CELLS,
    WORKBOOK,
    content_of,
    megabytes,
    stripped,
    too_large,
)

if TYPE_CHECKING:
    import pandas as pd

AS_CSV = "save it as CSV ('CSV UTF-8' in the dialog) and use that file"
_HIDDEN = {
    "rows": re.compile(rb'<(?:\w+:)?row\b[^>]*\bhidden="(?:1|true)"'),
    "columns": re.compile(rb'<(?:\w+:)?col\b[^>]*\bhidden="(?:1|true)"'),
}
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell [^>]*ref="[A-Z]+(\d+):[A-Z]+(\d+)"')
#: How files of Stata begin, by their version.
STATA = re.compile(rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\0")
Row = tuple[int, tuple[str, ...]]


def read_data_file(data: DataFile) -> Table:
    """Read a file as text, with the options of its description.

    Raises
    ------
    CsvError
        If the file cannot be used, see `cudbound.inputs.csv_file.read_csv_file`, a workbook cannot be read, openpyxl
        is not installed, there is no such sheet, only another sheet has a table, or a formula has no stored value.
    """
    content = content_of(data.file)
    if content.startswith(WORKBOOK) and b"xl/workbook" in content:
        return _read_sheet(data, content)
    if data.sheet is not None:
        raise CsvError(f"--sheet: {quoted(data.file.name)} is not an .xlsx workbook; drop the option")
    if STATA.match(content):
        return as_table(data.file, _stata(content, data.file.name))
    return read_csv_file(data.file, content, data)


def _read_sheet(data: DataFile, content: bytes) -> Table:
    name = data.file.name
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise CsvError(
            f"{quoted(name)} is an Excel workbook: {AS_CSV}, or install a package that reads it: "
            f"{install_command('excel')}"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and other parts that are not read
            rows, remarks = _rows_and_remarks(content, name, data.sheet)
    except CsvError:
        raise
    except Exception as error:  # a file of others can be anything
        raise CsvError(
            f"{quoted(name)} cannot be read as an Excel workbook, {type(error).__name__}; {AS_CSV}"
        ) from error
    table = as_table(data.file, _frame([row for row in rows if row[0] > data.skip_rows]))
    return replace(table, warnings=tuple(remarks))


def _frame(rows: list[Row]) -> pd.DataFrame:
    import pandas as pd

    numbers, cells = zip(*rows, strict=True) if rows else ((), ())
    return pd.DataFrame(list(cells), list(numbers), dtype=object)


def _stata(content: bytes, name: str) -> pd.DataFrame:
    """Return the names and the rows of a file of Stata; values with a label are read as the label."""
    import pandas as pd

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names and texts in other encodings
            frame = pd.read_stata(io.BytesIO(content))
    except Exception as error:  # a file of others can be anything
        raise CsvError(
            f"{quoted(name)} cannot be read as a file of Stata, {type(error).__name__}; save it as CSV, in Stata by "
            "'export delimited'"
        ) from error
    short = frame.select_dtypes("float32").columns
    frame[short] = frame[short].astype(str).astype(float)  # 0.1 and not 0.10000000149011612
    values = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    rows = [tuple(map(str, frame.columns)), *(tuple(map(_text, cells)) for cells in values)]
    return _frame([*enumerate(rows, start=1)])


def _rows_and_remarks(content: bytes, name: str, title: str | None) -> tuple[list[Row], list[str]]:
    """Return (number, cells) of every row of a sheet that is not empty, and what a reader may have overlooked."""
    from openpyxl import load_workbook

    archive = zipfile.ZipFile(io.BytesIO(content))
    size = sum(part.file_size for part in archive.infolist())
    if size > MOST_BYTES:  # before a part is unpacked
        raise too_large(name, f"{megabytes(size)} unpacked")
    book, with_formulas = (
        load_workbook(io.BytesIO(content), read_only=True, data_only=data_only) for data_only in (True, False)
    )
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    visible = [sheet for sheet in sheets.values() if sheet.sheet_state == "visible"] or [*sheets.values()]
    sheet = sheets.get(title) if title else visible[0]
    if sheet is None:
        titles = first_few([quoted(known) for known in sheets])
        raise CsvError(f"--sheet: no sheet {quoted(title or '')} in {quoted(name)}; the sheets are {titles}")
    rows = _rows(sheet, name)
    others = [] if title else [other.title for other in visible[1:] if _is_table(other, name)]
    if others and len(rows) < 2:
        raise CsvError(
            f"{quoted(name)}: the first sheet, {quoted(sheet.title)}, has no table; use "
            f"{' or '.join(f'--sheet {quoted(other)}' for other in others[:3])}",
            sheet=others[0],
        )
    _check_formulas(sheet, with_formulas[sheet.title], name)
    remarks = []
    if others:
        remarks.append(
            f"only the first sheet, {quoted(sheet.title)}, is read, not {first_few([quoted(o) for o in others])}; "
            "choose another one with --sheet"
        )
    part = archive.read(sheet._worksheet_path)
    remarks += [*_hidden(part, sheet.title), *_merged(part, sheet.title, rows[0][0] if rows else 0)]
    return rows, remarks


def _cells(sheet: Any, name: str) -> Iterator[tuple[Any, ...]]:
    """Yield the values of each row, up to the last cell that the file mentions."""
    sheet.reset_dimensions()  # what the file says of them may be wrong
    n_cells = 0
    for values in sheet.iter_rows(values_only=True):
        n_cells += len(values)
        _check_size(n_cells, sheet, name)
        yield values


def _check_size(n_cells: int, sheet: Any, name: str) -> None:
    if n_cells > MOST_CELLS:  # a cell far to the right makes every row as wide
        raise too_large(
            name, f"more than {MOST_CELLS:,} cells before the last column of sheet {quoted(sheet.title)}"
        )


def _rows(sheet: Any, name: str) -> list[Row]:
    rows, width = [], 0
    for number, values in enumerate(_cells(sheet, name), start=1):
        cells = [*map(_text, values)]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            rows.append((number, cells))
            width = max(width, len(cells))
            _check_size(width * len(rows), sheet, name)
    return [(number, (*cells, *[""] * (width - len(cells)))) for number, cells in rows]


def _is_table(sheet: Any, name: str) -> bool:
    """Whether two of the first rows have two cells or more."""
    first_rows = islice(_cells(sheet, name), 1000)
    return sum(sum(value is not None for value in values) > 1 for values in first_rows) > 1


def _check_formulas(sheet: Any, with_formulas: Any, name: str) -> None:
    """Raise an error if a formula has no value, because the program that wrote the file did not compute it."""
    for number, (values, sources) in enumerate(
        zip(_cells(sheet, name), _cells(with_formulas, name), strict=True), start=1
    ):
        for place, (value, source) in enumerate(zip(values, sources, strict=True), start=1):
            if value is None and str(getattr(source, "text", source)).startswith(
                "="
            ):  # an array has its text
                raise CsvError(
                    f"{quoted(name)}: sheet {quoted(sheet.title)} has a formula without a stored value in row "
                    f"{number}, column {place}; open the workbook in Excel or LibreOffice, save it, and use that file"
                )


def _hidden(part: bytes, title: str) -> Iterator[str]:
    for kind, pattern in _HIDDEN.items():
        if count := len(pattern.findall(part)):
            yield (
                f"sheet {quoted(title)} has {count} hidden {kind if count > 1 else kind[:-1]}, read like the others; "
                "delete what should not be used"
            )


def _merged(part: bytes, title: str, header: int) -> Iterator[str]:
    """Tell of cells below the header that span several rows, of which only the first has their value."""
    spans = [(int(first), int(last)) for first, last in _MERGED.findall(part)]
    if count := sum(header < first < last for first, last in spans):
        yield (
            f"sheet {quoted(title)} has {count} merged cell{'s' * (count > 1)} across rows; only the first row has the "
            "value, and the others are missing: unmerge them, and repeat the value in every row"
        )


def _text(value: object) -> str:
    """Return a cell as Excel would write it to CSV, except that dates are in ISO 8601."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return stripped(str(value))
