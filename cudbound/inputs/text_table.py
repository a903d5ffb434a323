"""Read a CSV file, a sheet of an Excel workbook, or a file of Stata as text, with the line number of each record.

Nothing is converted. A file that is not a clean table raises an error with the line number.
"""

from __future__ import annotations

import datetime
import io
import math
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudbound.basis.exceptions import install_command
from cudbound.inputs.data_file import (
    MOST_BYTES,
    MOST_CELLS,
    PLAIN,
    WORKBOOK,
    CsvError,
    DataFile,
    content_of,
    conventions,
    decoded,
    first_few,
    is_formatted,
    megabytes,
    number_of,
    quoted,
    stripped,
    too_large,
)

if TYPE_CHECKING:
    import pandas as pd


DELIMITERS, TAB = ",;\t|", "\t"
#: Rows at the top that may be titles, lines that show how many columns there are, and how a last row begins that sums
#: up the others.
LEADING, FIRST_LINES = 10, 50
TOTALS = {"total", "totals", "grand total", "sum", "mean", "average", "summe", "gesamt"}


@dataclass(frozen=True, eq=False)
class Table:
    """The records of a file as text, without leading and trailing blanks.

    Attributes
    ----------
    source : str
        Name of the file, without its folder.
    cells : DataFrame of str, shape (n_records, n_columns)
        Indexed by the line on which each record begins, counted from 1; empty records are omitted. A column without a
        name is called ``column 3`` by its position, and omitted if it is empty.
    unnamed : frozenset of str
        Columns that had no name.
    encoding : str, default ""
        The encoding, if it was found by trial.
    warnings : tuple of str, default ()
        What a reader of the file may have overlooked.
    """

    source: str
    cells: pd.DataFrame
    unnamed: frozenset[str]
    encoding: str = ""
    warnings: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.cells.columns)


def read_csv_file(data: DataFile, content: bytes) -> Table:
    """Read a CSV file as text.

    Lines end in LF, CRLF or CR; quoted cells may contain delimiters, line ends and doubled quotes.

    Parameters
    ----------
    data : DataFile
    content : bytes
        The content of the file.

    Raises
    ------
    CsvError
        If the file is not text, is empty or has no records, has another delimiter, has a record with more or fewer
        cells than the header, or has two columns with the same name.
    """
    path = data.file
    if len(data.delimiter) != 1 or data.delimiter in '\r\n"':
        raise CsvError(
            f"--delimiter must be one character between cells, such as , or ;. Got {data.delimiter!r}."
        )
    text, encoding = decoded(content, path, data.encoding)
    cells = _split(text, data)
    if cells.notna().sum(axis=1).max() == 1 < len(cells):
        raise CsvError(
            f"{quoted(path.name)} has one column, {quoted(str(cells.iloc[0, 0]))}, but a target and a feature are "
            "needed; name what separates the cells with --delimiter, or remove quotation marks around whole lines"
        )
    note = ""
    if encoding and (word := re.search(r"\w*[^\x00-\x7f]\w*", text)):
        note = (
            f"{quoted(path.name)} is not UTF-8 text and was read as {encoding}: check words such as "
            f"{quoted(word[0])}; if they are wrong, name the encoding with --encoding"
        )
    return as_table(path, cells, encoding, (note,) if note else ())


def as_table(path: Path, cells: pd.DataFrame, encoding: str = "", warnings: tuple[str, ...] = ()) -> Table:
    """Return rows as a table, see `Table`.

    Parameters
    ----------
    path : Path
    cells : DataFrame of str
        The rows by their line numbers; nan at the end of a row that has fewer cells.
    encoding : str, default ""
    warnings : tuple of str, default ()
    """
    cells = cells[_filled(cells).any(axis=1)]
    if cells.empty:
        raise CsvError(f"{quoted(path.name)} is empty; it needs a header line and one line per case")
    _check_title(path, cells)
    header = cells.iloc[0].dropna().tolist()
    if len(cells) == 1:
        raise CsvError(f"{quoted(path.name)} has a header line but no data")
    records = cells.iloc[1:]
    _check_lengths(path, len(header), records)
    records = records.iloc[:, : len(header)]
    _check_last(path, records)
    _check_header(path, cells.index[0], header, records)
    _check_second_header(path, cells.index[0], header, records)
    records.columns = [name or f"column {place}" for place, name in enumerate(header, start=1)]
    _check_unique(path, records.columns, cells.index[0])
    # spreadsheets add columns without any content
    kept = records.loc[:, [bool(name) for name in header] | _filled(records).any().to_numpy()]
    named = set(header)
    return Table(path.name, kept, frozenset(kept.columns) - named, encoding, warnings)


def _filled(cells: pd.DataFrame) -> pd.DataFrame:
    return cells.notna() & (cells != "")


def _split(text: str, data: DataFile) -> pd.DataFrame:
    """Return the stripped cells of every record by the line on which it begins; nan where it has no such cell."""
    import pandas as pd

    stream = io.StringIO(text, newline="")
    for _ in range(data.skip_rows):
        stream.readline()
    start = stream.tell()
    _check_delimiter(data.file, [*islice(stream, FIRST_LINES)], data.delimiter)
    stream.seek(start)
    widths = [line.count(data.delimiter) + 2 for line in stream]
    width, n_lines = max(widths, default=2), len(widths)
    if n_lines * width > MOST_CELLS + n_lines:
        raise too_large(data.file.name, f"{n_lines:,} lines of up to {width - 1:,} cells")
    stream.seek(start)
    try:
        cells = pd.read_csv(
            stream,
            sep=data.delimiter,
            header=None,
            names=range(width),
            index_col=False,
            dtype=object,
            keep_default_na=False,
            skip_blank_lines=False,
            skipinitialspace=True,
            engine="python",  # the strict one
        )
    except pd.errors.ParserError as error:
        if str(error).startswith("Expected"):
            raise CsvError(
                f"{quoted(data.file.name)}: a record of several lines has more cells than the header"
            ) from None
        # a record begins after the last line up to which quotation marks are in pairs
        lines = [*io.StringIO(text[start : stream.tell()], newline="")]
        marks = accumulate(line.count('"') for line in lines[:-1])
        begin = max((number for number, count in enumerate(marks, start=1) if count % 2 == 0), default=0)
        raise CsvError(
            f"{quoted(data.file.name)} is not a CSV file: the record that begins on line {data.skip_rows + begin + 1}: "
            f"{error}"
        ) from None
    breaks = cells.map(lambda cell: len(re.findall(r"\r\n?|\n", cell)), "ignore")
    ends = (breaks.sum(axis=1) + 1).cumsum()
    cells.index = pd.Index((ends.shift(fill_value=0) + data.skip_rows + 1).astype(int))
    return cells.map(stripped, "ignore")


def _check_delimiter(path: Path, lines: Sequence[str], delimiter: str) -> None:
    """Raise an error if another delimiter splits the header, and the last of the first lines, into more cells."""
    bare = [line for text in lines if (line := re.sub(r'"[^"]*"', "", text).strip())]
    for place, line in enumerate(bare[:LEADING]):  # titles may stand above the header
        n_delimiters = line.count(delimiter)
        other = max((other for other in DELIMITERS if other != delimiter), key=line.count)
        alike = bare[-1].count(other) == line.count(other)
        if line.count(other) > n_delimiters and (alike or not (n_delimiters or place)):
            columns = f"{n_delimiters + 1} columns" if n_delimiters else "one column"
            cells = [cell.strip(' "') for text in lines[place + 1 :] for cell in text.split(other)]
            numbers = next(iter(conventions(cells)), PLAIN)
            commas = numbers.decimal == ","  # as R's write.csv2 writes them
            raise CsvError(
                f"{quoted(path.name)} has {columns} when read with delimiter {delimiter!r}; it seems to be separated "
                f"by {other!r}{' and to have decimal commas' * commas}: add --delimiter "
                f"'{'tab' if other == TAB else other}'{commas * f' {numbers.options}'}",
                delimiter=other,
                **(numbers._asdict() if commas else {}),
            )
        if n_delimiters and n_delimiters == bare[-1].count(delimiter):
            return


def _check_title(path: Path, cells: pd.DataFrame) -> None:
    """Raise an error if the first rows have at most half as many cells with content as later ones."""
    n_filled, n_cells = _filled(cells).sum(axis=1), cells.notna().sum(axis=1)
    usual, width = int(n_filled.quantile(0.75)), int(n_cells.median())
    is_title = (n_filled <= max(1, usual // 2)) & ((n_cells < width) | (usual > 2))
    above = int((~is_title).to_numpy().argmax())
    if 0 < above < min(LEADING, len(cells) - 1):
        first, line = cells.index[0], cells.index[above]
        raise CsvError(
            f"{quoted(path.name)}: line {first} has {_cells(n_filled.iloc[0])}, line {line} has "
            f"{n_cells.iloc[above]}: is the text above line {line} a title? Add --skip-rows {line - 1}",
            skip_rows=int(line) - 1,
        )


def _check_lengths(path: Path, width: int, records: pd.DataFrame) -> None:
    """Raise an error if a row has fewer cells than the header, or more of which one has content."""
    longer = _filled(records.iloc[:, width:]).any(axis=1)
    other = longer | (records.notna().sum(axis=1) < width)
    if longer.all():
        raise CsvError(
            f"{quoted(path.name)}: every line has more cells than the header, which has {width}; if the first ones are "
            "numbers or names of the rows, as R writes them, put a name for them at the start of the header"
        )
    if other.any():
        place = int(other.to_numpy().argmax())
        short = f"{_cells(records.iloc[place].notna().sum())}, the header has {width}; if it is a footer or a note"
        long = (
            f"more cells than the header, which has {width}; put text that contains the delimiter in quotes"
        )
        raise CsvError(
            f"{quoted(path.name)}: line {records.index[place]} has "
            f"{long if longer.iloc[place] else short + ', delete it'}"
        )


def _check_last(path: Path, records: pd.DataFrame) -> None:
    """Raise an error if the last row contains totals, which would count as a case, or only a text below numbers."""
    filled = _filled(records)
    column = records.iloc[:, int(filled.iloc[-1].to_numpy().argmax())]
    word, above = column.iloc[-1], column.iloc[:-1]
    is_total = word.casefold().rstrip(":") in TOTALS and (above != word).all()
    is_alone = filled.iloc[-1].sum() == 1 and filled.sum(axis=1).median() > 2 and len(above)
    if is_total or (is_alone and _fits(word, above[-200:]) is None):
        raise CsvError(
            f"{quoted(path.name)}: line {records.index[-1]}, the last one, begins with {quoted(word, 20)}; delete it "
            "if it contains totals or a note, or change that word"
        )


def _check_header(path: Path, line: int, header: Sequence[str], records: pd.DataFrame) -> None:
    """Raise an error if the first line has values instead of names: it fits the columns below and is not a series."""
    fitting = [_fits(name, records[place].iloc[:200]) for place, name in enumerate(header)]
    numbers = [number for name in header if not math.isnan(number := number_of(name))]
    steps = {after - before for before, after in pairwise(numbers)}
    is_series = len(steps) == 1 and (len(numbers) > 2 or steps == {1.0})
    if any(fitting) and None not in fitting and not is_series:
        lower = "" if line == 1 else ", or lower --skip-rows"
        raise CsvError(
            f"{quoted(path.name)}: line {line} should have the names of the columns, but has values such as those "
            f"below it, {first_few([quoted(name, 20) for name in header])}; add a line with names above it{lower}"
        )


def _check_second_header(path: Path, line: int, header: Sequence[str], records: pd.DataFrame) -> None:
    """Raise an error if the first record has words in at least two columns of numbers, and no number in any."""
    numeric = [
        place
        for place in range(len(header))
        if _fits("0", records[place].iloc[1:200]) and records[place].iloc[0]
    ]
    words = [text for place in numeric if math.isnan(number_of(text := records[place].iloc[0]))]
    if len(words) > 1 and len(words) == len(numeric) and len(records) > LEADING and len({*words}) > 1:
        names = {"skip_rows": int(line)} if "" in header else {}
        raise CsvError(
            f"{quoted(path.name)}: line {records.index[0]} has words above columns of numbers, "
            f"{first_few([quoted(text, 20) for text in words])}: delete it if these are units; if they name the "
            f"columns, add --skip-rows {line}",
            **names,
        )


def _fits(name: str, column: pd.Series[str]) -> bool | None:
    """Whether a name is certainly a value of its column; None if it is certainly none."""
    values = column[column.ne("")]

    def is_number(text: str) -> bool:
        return not math.isnan(number_of(text)) or is_formatted(text)

    if not name or values.empty:
        return False
    if 2 * values.map(is_number).sum() > len(values):
        return is_number(name) or None
    if values.eq(name).any():
        return True
    shapes = {re.sub(r"\d", "9", text) for text in values if re.search(r"\d", text)}
    return False if values.is_unique or re.sub(r"\d", "9", name) in shapes else None


def _cells(number: int) -> str:
    return "one cell" if number == 1 else f"{number} cells"


def _check_unique(path: Path, names: Iterable[str], line: int) -> None:
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise CsvError(
            f"{quoted(path.name)}: more than one column is called {', '.join(map(quoted, repeated[:10]))} "
            f"(line {line}); give each column a unique name"
        )


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
        If the file cannot be used, see `read_csv_file`, a workbook cannot be read, openpyxl
        is not installed, there is no such sheet, only another sheet has a table, or a formula has no stored value.
    """
    content = content_of(data.file)
    if content.startswith(WORKBOOK) and b"xl/workbook" in content:
        return _read_workbook(data, content)
    if data.sheet is not None:
        raise CsvError(f"--sheet: {quoted(data.file.name)} is not an .xlsx workbook; drop the option")
    if STATA.match(content):
        return as_table(data.file, _stata(content, data.file.name))
    return read_csv_file(data, content)


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
    cells = _sheet_cells(sheet, data)
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


def _sheet_cells(sheet: Any, data: DataFile) -> pd.DataFrame:
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
