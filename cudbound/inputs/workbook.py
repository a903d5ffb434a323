"""Read patient data from a CSV file or a sheet of an Excel workbook."""

from __future__ import annotations

import datetime
import io
import warnings

from cudbound.basis.hints import install_command
from cudbound.inputs.csv_file import (
    WORKBOOK,
    CsvError,
    CsvTable,
    DataFile,
    as_table,
    content_of,
    first_few,
    quoted,
    read_csv_file,
)


def read_data_file(data: DataFile) -> CsvTable:
    """Read a file as text, with the options of its description.

    Raises
    ------
    CsvError
        If the file cannot be used, see `cudbound.inputs.csv_file.read_csv_file`, a workbook cannot be read, openpyxl
        is not installed, or there is no such sheet.
    """
    content = content_of(data.file)
    if content.startswith(WORKBOOK) and b"xl/workbook" in content:
        rows = _rows(content, data.file.name, data.sheet)
        return as_table(data.file, [row for row in rows if row[0] > data.skip_rows])
    if data.sheet is not None:
        raise CsvError(f"--sheet: {quoted(data.file.name)} is not an .xlsx workbook; drop the option")
    return read_csv_file(data.file, delimiter=data.delimiter, content=content, skip_rows=data.skip_rows)


def _rows(content: bytes, name: str, sheet: str | None) -> list[tuple[int, tuple[str, ...]]]:
    """Return (number, cells) of every row of a sheet that is not empty."""
    way = "save it as CSV ('CSV UTF-8' in the dialog) and use that file"
    try:
        import openpyxl
    except ImportError:
        raise CsvError(
            f"{quoted(name)} is an Excel workbook: {way}, or install a package that reads it: "
            f"{install_command('excel')}"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and other parts that are not read
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            sheets = {one.title: one for one in book.worksheets}
            chosen = sheets.get(sheet or next(iter(sheets)))
            if chosen is not None:
                chosen.reset_dimensions()  # what the file says of them may be wrong
                rows = [tuple(map(_text, cells)) for cells in chosen.iter_rows(values_only=True)]
    except Exception as error:  # a file of others can be anything
        raise CsvError(
            f"{quoted(name)} cannot be read as an Excel workbook, {type(error).__name__}; {way}"
        ) from error
    if chosen is None:
        found = first_few([quoted(one) for one in sheets])
        raise CsvError(f"--sheet: no sheet {quoted(sheet or '')} in {quoted(name)}; the sheets are {found}")
    width = max((place for cells in rows for place, cell in enumerate(cells, start=1) if cell), default=0)
    return [
        (place, (*cells, *[""] * width)[:width]) for place, cells in enumerate(rows, start=1) if any(cells)
    ]


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
    return str(value).strip()
