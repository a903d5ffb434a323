"""Read a CSV file, a sheet of an Excel workbook, or a file of Stata as text, with the line number of each record.

Nothing is converted. A file that is not a clean table raises an error with the line number.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import re
import warnings
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudbound.basis.exceptions import install_command
from cudbound.inputs.data_file import CsvError, DataFile, first_few, quoted

if TYPE_CHECKING:
    import pandas as pd

#: The cells of a file by the line on which their record begins.
Rows = dict[int, list[str]]

#: The largest file, unpacked, and the most cells, which take a gigabyte as text.
MOST_BYTES, MOST_CELLS = 50 * 2**20, 4_000_000
DELIMITERS = ",;\t|"
#: Rows at the top that may be titles, and lines that show the delimiter.
LEADING, FIRST_LINES = 10, 50
#: How a last row begins that sums up the others.
TOTALS = {"total", "totals", "grand total", "sum", "mean", "average", "summe", "gesamt"}
#: Invisible characters that are dropped, like blanks, at the ends of a cell.
INVISIBLE = "\u00ad\u200b\u200e\u200f\u2060\ufeff"
WORKBOOK = b"PK\x03\x04"
#: How files of Stata begin, by their version.
STATA = re.compile(rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\0")
AS_CSV = "save it as CSV ('CSV UTF-8' in the dialog of Excel) and use that file"
#: Rows of a sheet that openpyxl does not show when it reads row by row.
_HIDDEN = re.compile(rb'<(?:\w+:)?(?:row|col)\b[^>]*\bhidden="(?:1|true)"')


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
    warnings : tuple of str, default ()
        What a reader of the file may have overlooked.
    delimiter : str, default ""
        What separates the cells; "" where the file is no CSV file.
    """

    source: str
    cells: pd.DataFrame
    unnamed: frozenset[str]
    warnings: tuple[str, ...] = ()
    delimiter: str = ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.cells.columns)


def read_data_file(data: DataFile) -> Table:
    """Read a file as text, with the options of its description.

    Lines of a CSV file end in LF, CRLF or CR; quoted cells may contain delimiters, line ends and doubled quotes.

    Raises
    ------
    CsvError
        If the file cannot be read or is too large, is no text, workbook or file of Stata, there is no such sheet, it is
        empty or has no records, has a record with more or fewer cells than the header, or has two columns of one name.
    """
    content = _content(data.file)
    is_workbook = content.startswith(WORKBOOK) and b"xl/workbook" in content
    if data.sheet is not None and not is_workbook:
        raise CsvError(f"--sheet: {quoted(data.file.name)} is not an .xlsx workbook; drop the option")
    if is_workbook:
        return _as_table(data.file.name, *_workbook_rows(data, content))
    if STATA.match(content):
        return _as_table(data.file.name, _stata_rows(data.file.name, content))
    return _as_table(data.file.name, *_csv_rows(data, content))


def _as_table(source: str, rows: Rows, remarks: tuple[str, ...] = (), delimiter: str = "") -> Table:
    import pandas as pd

    name = quoted(source)
    rows = {line: cells for line, cells in rows.items() if any(cells)}
    if not rows:
        raise CsvError(f"{name} is empty; it needs a header line and one line per case")
    if (width := max(map(len, rows.values()))) * len(rows) > MOST_CELLS:
        raise _too_large(source, f"{len(rows):,} lines of up to {width:,} cells")
    _check_title(name, rows)
    (begin, header), *records = rows.items()
    if not records:
        raise CsvError(f"{name} has a header line but no data")
    _check_lengths(name, len(header), dict(records))
    _check_last(name, records)
    if len(header) == 1:
        raise CsvError(
            f"{name} has one column, {quoted(header[0])}, but a target and a feature are needed; name what separates "
            "the cells with --delimiter, or remove quotation marks around whole lines"
        )
    names = [text or f"column {place}" for place, text in enumerate(header, start=1)]
    if repeated := [quoted(text) for text, times in Counter(names).items() if times > 1]:
        raise CsvError(
            f"{name}: more than one column is called {first_few(repeated)} (line {begin}); give each column a unique "
            "name"
        )
    lines = [line for line, _ in records]
    cells = pd.DataFrame([row[: len(header)] for _, row in records], lines, names, dtype=object)
    # spreadsheets add columns without any content
    kept = cells.loc[:, [text in header or cells[text].any() for text in names]]
    return Table(source, kept, frozenset(kept.columns).difference(header), remarks, delimiter)


def _check_title(name: str, rows: Rows) -> None:
    """Raise an error if the first rows have at most half as many cells with content as later ones."""
    widths = sorted(map(len, rows.values()))
    n_filled = {line: sum(map(bool, cells)) for line, cells in rows.items()}
    width, usual = widths[len(widths) // 2], sorted(n_filled.values())[3 * (len(rows) - 1) // 4]
    above = []
    for line, number in n_filled.items():
        if number > max(1, usual // 2) or (usual <= 2 and len(rows[line]) >= width):
            break
        above.append(line)
    if above and len(above) < min(LEADING, len(rows) - 1):
        raise CsvError(
            f"{name}: line {above[0]} has {_cells(n_filled[above[0]])}, line {line} has {len(rows[line])}: is "
            f"the text above line {line} a title? Add --skip-rows {line - 1}"
        )


def _check_lengths(name: str, width: int, records: Rows) -> None:
    """Raise an error if a row has fewer cells than the header, or more of which one has content."""
    longer = [line for line, cells in records.items() if any(cells[width:])]
    shorter = [line for line, cells in records.items() if len(cells) < width]
    if len(longer) == len(records):
        raise CsvError(
            f"{name}: every line has more cells than the header, which has {width}; if the first ones are numbers or "
            "names of the rows, as R writes them, put a name for them at the start of the header"
        )
    if longer:
        raise CsvError(
            f"{name}: line {longer[0]} has more cells than the header, which has {width}; put text that contains the "
            "delimiter in quotes"
        )
    if shorter:
        raise CsvError(
            f"{name}: line {shorter[0]} has {_cells(len(records[shorter[0]]))}, the header has {width}; if it is a "
            "footer or a note, delete it"
        )


def _check_last(name: str, records: list[tuple[int, list[str]]]) -> None:
    """Raise an error if the last row sums up the others: it would count as a case."""
    (line, cells), above = records[-1], records[:-1]
    place = next(place for place, text in enumerate(cells) if text)
    word = cells[place]
    if word.casefold().rstrip(":") in TOTALS and all(
        row[place] != word for _, row in above if place < len(row)
    ):
        raise CsvError(
            f"{name}: line {line}, the last one, begins with {quoted(word, 20)}; delete it if it contains totals, or "
            "change that word"
        )


def _cells(number: int) -> str:
    return "one cell" if number == 1 else f"{number} cells"


# --- files


def _content(path: Path) -> bytes:
    """Return the content of a file, decompressed if its name ends in ``.gz``; more than `MOST_BYTES` is an error."""
    packed = path.suffix == ".gz"
    try:
        with gzip.open(path) if packed else path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise CsvError(f"no such file: {quoted(str(path), 200)}") from None
    except (OSError, ValueError, EOFError, zlib.error) as error:  # ValueError: a name with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise CsvError(f"cannot read {quoted(str(path), 200)}: {reason}") from None
    if len(content) > MOST_BYTES:
        raise _too_large(path.name, f"more than {_megabytes(MOST_BYTES)}{' unpacked' * packed}")
    return content


def _too_large(name: str, size: str) -> CsvError:
    return CsvError(
        f"{quoted(name)} has {size}; at most {_megabytes(MOST_BYTES)} and {MOST_CELLS:,} cells are read, such as 200 "
        "patients with 20,000 columns. Make a file of the rows and columns that are used"
    )


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MB"


def _csv_rows(data: DataFile, content: bytes) -> tuple[Rows, tuple[str, ...], str]:
    text, remarks = _decoded(data, content)
    stream = io.StringIO(text, newline="")
    for _ in islice(stream, data.skip_rows):
        pass
    start = stream.tell()
    delimiter = data.delimiter or _delimiter([*islice(stream, FIRST_LINES)])
    if len(delimiter) != 1 or delimiter in '\r\n"':
        raise CsvError(f"--delimiter must be one character between cells, such as , or ;. Got {delimiter!r}.")
    if text.count(delimiter) + max(text.count("\n"), text.count("\r")) > MOST_CELLS:
        raise _too_large(data.file.name, f"more than {MOST_CELLS:,} cells")
    stream.seek(start)
    rows, begin = Rows(), data.skip_rows + 1
    reader = csv.reader(stream, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            rows[begin] = [*map(stripped, cells)]
            begin = data.skip_rows + reader.line_num + 1
    except csv.Error as error:
        raise CsvError(
            f"{quoted(data.file.name)} is not a CSV file: the record that begins on line {begin}: {error}"
        ) from None
    return rows, remarks, delimiter


def _decoded(data: DataFile, content: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file, with a remark if its encoding is neither given nor Unicode."""
    name, marked = quoted(data.file.name), content.startswith((b"\xff\xfe", b"\xfe\xff"))
    trials = [data.encoding] if data.encoding else ["utf-16"] if marked else ["utf-8-sig", "cp1252"]
    for encoding in trials:
        try:
            text = content.decode(encoding)
        except LookupError:
            raise CsvError(
                f"--encoding: there is no encoding {quoted(encoding)}; try cp1252 or utf-16"
            ) from None
        except UnicodeError:
            continue
        guessed = encoding == "cp1252" != data.encoding
        if "\0" in text or (guessed and re.search(r"[\x01-\x08\x0e-\x1f]", text)):
            break
        word = re.search(r"\w*[^\x00-\x7f]\w*", text) if guessed else None
        remark = word and (
            f"{name} is not UTF-8 text and was read as cp1252: check words such as {quoted(word[0])}; if they are "
            "wrong, name the encoding with --encoding"
        )
        return text.removeprefix("\ufeff"), (remark,) if remark else ()
    raise CsvError(
        f"{name} is not {' or '.join(trial.removesuffix('-sig') for trial in trials)} text, but perhaps of SPSS, "
        f"SAS or R or an old workbook (.xls); {AS_CSV}, or name its encoding with --encoding"
    )


def _delimiter(lines: list[str]) -> str:
    """Return the delimiter that most lines have, of several the one that they have equally often."""
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines]

    def agreement(delimiter: str) -> tuple[int, int]:
        counts = Counter(line.count(delimiter) for line in bare if delimiter in line)
        return max(((n_lines, count) for count, n_lines in counts.items()), default=(0, 0))

    return max(DELIMITERS, key=agreement)


def stripped(cell: str) -> str:
    """Return a cell without blanks and invisible characters at its ends."""
    return cell.strip().strip(INVISIBLE).strip()


def _workbook_rows(data: DataFile, content: bytes) -> tuple[Rows, tuple[str, ...]]:
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
                raise _too_large(name, f"{_megabytes(size)} unpacked")
            sheets = load_workbook(io.BytesIO(content), read_only=True, data_only=True).worksheets
            return _sheet_rows(sheets, archive, data)
    except CsvError:
        raise
    except Exception as error:  # a file from elsewhere can be anything
        raise CsvError(
            f"{quoted(name)} cannot be read as an Excel workbook, {type(error).__name__}; {AS_CSV}"
        ) from error


def _sheet_rows(sheets: list[Any], archive: zipfile.ZipFile, data: DataFile) -> tuple[Rows, tuple[str, ...]]:
    """Return the sheet that `data` names, by default the first visible one, with what a reader may have overlooked."""
    name = quoted(data.file.name)
    visible = [sheet for sheet in sheets if sheet.sheet_state == "visible"] or sheets
    choice = [sheet for sheet in sheets if sheet.title == data.sheet] if data.sheet else visible[:1]
    if not choice:
        titles = first_few([quoted(sheet.title) for sheet in sheets])
        raise CsvError(f"--sheet: no sheet {quoted(data.sheet or '')} in {name}; the sheets are {titles}")
    sheet, rows, n_cells, width = choice[0], Rows(), 0, 0
    title = quoted(sheet.title)
    sheet.reset_dimensions()  # what the file says of them may be wrong
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells = [*map(_text, values)]
        if any(cells) and number > data.skip_rows:
            rows[number] = cells
            width = max(width, max(place for place, cell in enumerate(cells, start=1) if cell))
        n_cells += len(cells)
        if max(n_cells, width * len(rows)) > MOST_CELLS:  # a cell far to the right makes every row as wide
            raise _too_large(data.file.name, f"more than {MOST_CELLS:,} cells before its last column")
    remarks = []
    if not data.sheet and (others := first_few([quoted(other.title) for other in visible[1:]])):
        if len(rows) < 2:
            raise CsvError(
                f"{name}: the first sheet, {title}, has no table; choose one of {others} with --sheet"
            )
        remarks.append(
            f"only the first sheet, {title}, is read, not {others}; choose another one with --sheet"
        )
    if _HIDDEN.search(archive.read(sheet._worksheet_path)):
        remarks.append(
            f"sheet {title} has hidden rows or columns, which are read like the others; delete what should not be used"
        )
    return {line: (cells + [""] * width)[:width] for line, cells in rows.items()}, tuple(remarks)


def _stata_rows(name: str, content: bytes) -> Rows:
    """Return the names and the records of a file of Stata; values with a label are read as the label."""
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
    return dict(enumerate([list(frame.columns), *records], start=1))


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
