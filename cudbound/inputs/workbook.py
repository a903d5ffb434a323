"""Read patient data from a CSV file, a sheet of an Excel workbook, or a file of Stata."""

from __future__ import annotations

import datetime
import io
import re
import warnings
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cudbound.basis.exceptions import install_command
from cudbound.inputs.csv_file import Table, as_table, read_csv_file
from cudbound.inputs.data_file import (
    MOST_BYTES,
    MOST_CELLS,
    WORKBOOK,
    CsvError,
    DataFile,
    content_of,
    first_few,
    megabytes,
    quoted,
    stripped,
    too_large,
)

if TYPE_CHECKING:
    import pandas as pd

AS_CSV = "save it as CSV ('CSV UTF-8' in the dialog) and use that file"
#: Parts of a sheet that openpyxl does not show when it reads row by row; names of elements without their prefix.
_HIDDEN = {
    "rows": re.compile(rb'<row\b[^>]*\bhidden="(?:1|true)"'),
    "columns": re.compile(rb'<col\b[^>]*\bhidden="(?:1|true)"'),
}
_MERGED = re.compile(rb'<mergeCell [^>]*ref="[A-Z]+(\d+):[A-Z]+(\d+)"')
#: A formula without a value, which the program that wrote the file did not compute; a value of type str may be empty.
_FORMULA = re.compile(
    rb'<c\b(?![^>]*\bt="str")[^>]*\br="(\w+)"[^>]*>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v ?/>|<v></v>)?\s*</c>'
)
#: How files of Stata begin, by their version.
STATA = re.compile(rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\0")


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
        return _read_workbook(data, content)
    if data.sheet is not None:
        raise CsvError(f"--sheet: {quoted(data.file.name)} is not an .xlsx workbook; drop the option")
    if STATA.match(content):
        return as_table(data.file, _stata(content, data.file.name))
    return read_csv_file(data.file, content, data)


def _read_workbook(data: DataFile, content: bytes) -> Table:
    name = data.file.name
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise CsvError(
            f"{quoted(name)} is an Excel workbook: {AS_CSV}, or install a package that reads it: "
            f"{install_command('excel')}"
        ) from None
    try:
        with warnings.catch_warnings(), zipfile.ZipFile(io.BytesIO(content)) as archive:
            warnings.simplefilter("ignore")  # of styles and other parts that are not read
            size = sum(part.file_size for part in archive.infolist())
            if size > MOST_BYTES:  # before a part is unpacked
                raise too_large(name, f"{megabytes(size)} unpacked")
            sheets = load_workbook(io.BytesIO(content), read_only=True, data_only=True).worksheets
            return _read_sheet(sheets, archive, data)
    except CsvError:
        raise
    except Exception as error:  # a file from elsewhere can be anything
        raise CsvError(
            f"{quoted(name)} cannot be read as an Excel workbook, {type(error).__name__}; {AS_CSV}"
        ) from error


def _read_sheet(sheets: list[Any], archive: zipfile.ZipFile, data: DataFile) -> Table:
    """Return the sheet that `data` names, by default the first visible one, with what a reader may have overlooked."""
    name = quoted(data.file.name)
    visible = [sheet for sheet in sheets if sheet.sheet_state == "visible"] or sheets
    choice = [sheet for sheet in sheets if sheet.title == data.sheet] if data.sheet else visible[:1]
    if not choice:
        titles = first_few([quoted(sheet.title) for sheet in sheets])
        raise CsvError(f"--sheet: no sheet {quoted(data.sheet or '')} in {name}; the sheets are {titles}")
    (sheet,) = choice
    title = quoted(sheet.title)
    cells = _cells(sheet, data)
    others = [] if data.sheet else [other.title for other in visible[1:] if _is_table(other)]
    if others and len(cells) < 2:
        raise CsvError(
            f"{name}: the first sheet, {title}, has no table; use "
            f"{' or '.join(f'--sheet {quoted(other)}' for other in others[:3])}",
            sheet=others[0],
        )
    part = re.sub(rb"(</?)\w+:", rb"\1", archive.read(sheet._worksheet_path))
    if formula := _FORMULA.search(part):
        raise CsvError(
            f"{name}: sheet {title} has a formula without a stored value in cell {formula[1].decode()}; open the "
            "workbook in Excel or LibreOffice, save it, and use that file"
        )
    remarks = _overlooked(part, title, cells)
    if others:
        listed = first_few([*map(quoted, others)])
        remarks = [
            f"only the first sheet, {title}, is read, not {listed}; choose another one with --sheet",
            *remarks,
        ]
    return replace(as_table(data.file, cells), warnings=tuple(remarks))


def _cells(sheet: Any, data: DataFile) -> pd.DataFrame:
    """Return the rows that are not empty, by their numbers."""
    import pandas as pd

    rows, n_cells, width = {}, 0, 0
    sheet.reset_dimensions()  # what the file says of them may be wrong
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells = [*map(_text, values)]
        while cells and not cells[-1]:
            cells.pop()
        if cells and number > data.skip_rows:
            rows[number] = cells
        n_cells, width = n_cells + len(values), max(width, len(cells))
        if max(n_cells, width * len(rows)) > MOST_CELLS:  # a cell far to the right makes every row as wide
            raise too_large(
                data.file.name,
                f"more than {MOST_CELLS:,} cells before the last column of sheet {quoted(sheet.title)}",
            )
    return pd.DataFrame([*rows.values()], [*rows], dtype=object).fillna("")


def _is_table(sheet: Any) -> bool:
    """Whether two of the first rows have two cells or more."""
    sheet.reset_dimensions()
    first_rows = sheet.iter_rows(max_row=1000, values_only=True)
    return sum(sum(value is not None for value in values) > 1 for values in first_rows) > 1


def _overlooked(part: bytes, title: str, cells: pd.DataFrame) -> list[str]:
    """Return a sentence each on hidden rows and columns, and on merged cells below the header."""
    remarks = [
        f"sheet {title} has hidden {kind}, which are read like the others; delete what should not be used"
        for kind, pattern in _HIDDEN.items()
        if pattern.search(part)
    ]
    spans = [(int(first), int(last)) for first, last in _MERGED.findall(part)]
    if len(cells) and any(cells.index[0] < first < last for first, last in spans):
        remarks.append(
            f"sheet {title} has cells that are merged across rows; only the first row has the value, and the others "
            "are missing: unmerge them, and repeat the value in every row"
        )
    return remarks


def _stata(content: bytes, name: str) -> pd.DataFrame:
    """Return the names and the rows of a file of Stata; values with a label are read as the label."""
    import pandas as pd

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names and texts in other encodings
            frame = pd.read_stata(io.BytesIO(content))
    except Exception as error:  # a file from elsewhere can be anything
        raise CsvError(
            f"{quoted(name)} cannot be read as a file of Stata, {type(error).__name__}; save it as CSV, in Stata by "
            "'export delimited'"
        ) from error
    short = frame.select_dtypes("float32").columns
    frame[short] = frame[short].astype(str).astype(float)  # 0.1 and not 0.10000000149011612
    records = frame.astype(object).where(frame.notna(), None).map(_text).to_numpy().tolist()
    return pd.DataFrame([list(frame.columns), *records], range(1, len(records) + 2), dtype=object)


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
