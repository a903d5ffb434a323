"""A CSV file, or a sheet of an Excel workbook, as text with the line of each record, and the roles of its columns.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudbound.basis.exceptions import install_command, suggestion
from cudbound.basis.words import counted
from cudbound.inputs.classifier_recipe import STRATEGIES
from cudbound.inputs.data_file import (
    PLAIN,
    CsvError,
    DataFile,
    first_few,
    in_plain_form,
    key_of,
    one_spelling,
    quoted,
    spelling,
    to_drop,
)

if TYPE_CHECKING:
    import pandas as pd

#: The cells of a file by the line on which their record begins.
Rows = dict[int, list[str]]

#: The largest file, unpacked, and the most cells, which take a gigabyte as text.
MOST_BYTES, MOST_CELLS = 50 * 2**20, 4_000_000
DELIMITERS = ",;\t|"
#: Lines that show the delimiter.
FIRST_LINES = 50
#: What is dropped at the ends of a cell: blanks, up to the last one in Unicode, and invisible characters.
BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u00ad\u200b\u200e\u200f\u2060\ufeff"
WORKBOOK = b"PK\x03\x04"
AS_CSV = "save it as CSV ('CSV UTF-8' in the dialog of Excel) and use that file"
#: Rows of a sheet that openpyxl does not show when it reads row by row.
_HIDDEN = re.compile(rb'<(?:\w+:)?(?:row|col)\b[^>]*\bhidden="(?:1|true)"')

#: What stands for all columns of text in the list of the categorical ones.
AUTO = "auto"
#: Pairs of options that may name the same column.
TOGETHER = {("--features", "--categorical"), ("--exclude", "--group"), ("--exclude", "--weight")}
#: Cells, in lower case, that say "no value".
MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "<na>", "null", ".", "?"})
#: What may be done about them on the command line.
CHOICES = ("error", "drop", *STRATEGIES)
#: They are left to a model that was fitted to data with missing values.
KEEP = "keep"
_DONE = {
    KEEP: "passed to the model",
    "median": "filled with the median of the column (a category with its most frequent level), in every fit",
    "most-frequent": "filled with the most frequent value of the column, in every fit",
}
#: Values that may say "no value": words, signs without letters, and the errors of spreadsheets, such as #DIV/0!.
UNKNOWN = re.compile(
    r"-+|\*+|#[\w/]+[!?]?|unk(nown)?|missing|n[./][akd]\.?|not (known|recorded|done|available)|pending|unbekannt|"
    r"k\.? ?a\.?|keine angabe|inconnu|desconocido",
    re.IGNORECASE,
)
#: Numbers that are often codes of missing values.
CODE = re.compile(r"-?9+|-1")


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


def read_data_file(data: DataFile) -> Table:
    """Read a file as text, with the options of its description.

    Lines of a CSV file end in LF, CRLF or CR; quoted cells may contain delimiters, line ends and doubled quotes.

    Raises
    ------
    CsvError
        If the file cannot be read or is too large, is no text or workbook, there is no such sheet, it has no records,
        has a record with more or fewer cells than the header, or has two columns of one name.
    """
    import pandas as pd

    content, name = _content(data.file), data.file.name
    is_workbook = content.startswith(WORKBOOK) and b"xl/workbook" in content
    if data.sheet is not None and not is_workbook:
        raise CsvError(f"--sheet: {quoted(name)} is not an .xlsx workbook; drop the option")
    rows, remarks, delimiter = (_workbook_rows if is_workbook else _csv_rows)(data, content)
    rows = {line: cells for line, cells in rows.items() if any(cells)}
    if len(rows) < 2:
        raise CsvError(
            "; ".join([f"{quoted(name)} has no data; it needs a header line and one line per case", *remarks])
        )
    _check_form(name, rows)
    (begin, header), *records = rows.items()
    names = [text or f"column {place}" for place, text in enumerate(header, start=1)]
    if repeated := [quoted(text) for text, times in Counter(names).items() if times > 1]:
        raise CsvError(
            f"{quoted(name)}: more than one column is called {first_few(repeated)} (line {begin}); give each column a "
            "unique name"
        )
    lines = [line for line, _ in records]
    cells = pd.DataFrame([row[: len(header)] for _, row in records], lines, names, dtype=object)
    # spreadsheets add columns without any content
    kept = cells.loc[:, [text in header or cells[text].any() for text in names]]
    return Table(name, kept, frozenset(kept.columns).difference(header), remarks, delimiter)


def _check_form(name: str, rows: Rows) -> None:
    """Raise an error for a title above the header, and for a row with fewer or more cells than the header."""
    begin, width = next((line, len(cells)) for line, cells in rows.items())
    n_filled = {line: sum(map(bool, cells)) for line, cells in rows.items()}
    usual = sorted(n_filled.values())[(len(rows) - 1) // 2]
    first = next(line for line, number in n_filled.items() if 2 * number > usual)
    if first != begin:
        raise CsvError(
            f"{quoted(name)}: line {begin} has {counted(n_filled[begin], 'cell')}, line {first} has "
            f"{len(rows[first])}: is the text above line {first} a title? Add --skip-rows {first - 1}"
        )
    for line, cells in rows.items():
        if len(cells) < width or any(cells[width:]):
            raise CsvError(
                f"{quoted(name)}: line {line} has {counted(len(cells), 'cell')}, the header has {width}; put text that "
                "contains the delimiter in quotes, delete a footer or a note, or, if the first cells are names of the "
                "rows, as R writes them, put a name for them at the start of the header"
            )
    if width == 1:
        raise CsvError(
            f"{quoted(name)} has one column, {quoted(rows[begin][0])}, but a target and a feature are needed; name "
            "what separates the cells with --delimiter, or remove quotation marks around whole lines"
        )


def _content(path: Path) -> bytes:
    """Return the content of a file, decompressed if its name ends in ``.gz``; more than `MOST_BYTES` is an error."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise CsvError(f"no such file: {quoted(str(path), 200)}") from None
    except (OSError, ValueError, EOFError, zlib.error) as error:  # ValueError: a name with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise CsvError(f"cannot read {quoted(str(path), 200)}: {reason}") from None
    if len(content) > MOST_BYTES:
        raise _too_large(path.name)
    return content


def _too_large(name: str) -> CsvError:
    return CsvError(
        f"{quoted(name)} is too large: at most {MOST_BYTES / 2**20:,.0f} MB, unpacked, and {MOST_CELLS:,} cells are "
        "read, such as 200 patients with 20,000 columns. Make a file of the rows and columns that are used"
    )


def _csv_rows(data: DataFile, content: bytes) -> tuple[Rows, tuple[str, ...], str]:
    text, remarks = _decoded(data.file.name, content)
    stream = io.StringIO(text, newline="")
    for _ in islice(stream, data.skip_rows):
        pass
    start = stream.tell()
    delimiter = data.delimiter
    if not delimiter:  # that which most lines have, of several the one that they have equally often
        bare = [re.sub(r'"[^"]*"', "", line) for line in islice(stream, FIRST_LINES)]
        agreement = {}
        for delimiter in DELIMITERS:
            counts = Counter(line.count(delimiter) for line in bare if delimiter in line)
            agreement[delimiter] = max(((n, count) for count, n in counts.items()), default=(0, 0))
        delimiter = max(DELIMITERS, key=agreement.__getitem__)
    if len(delimiter) != 1 or delimiter in '\r\n"':
        raise CsvError(f"--delimiter must be one character between cells, such as , or ;. Got {delimiter!r}.")
    if text.count(delimiter) + max(text.count("\n"), text.count("\r")) > MOST_CELLS:
        raise _too_large(data.file.name)
    stream.seek(start)
    rows, begin = Rows(), data.skip_rows + 1
    reader = csv.reader(stream, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            rows[begin] = [cell.strip(BLANKS) for cell in cells]
            begin = data.skip_rows + reader.line_num + 1
    except csv.Error as error:
        raise CsvError(
            f"{quoted(data.file.name)} is not a CSV file: the record that begins on line {begin}: {error}"
        ) from None
    return rows, remarks, delimiter


def _decoded(name: str, content: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file: UTF-8, UTF-16 with its mark, or else cp1252, with a remark."""
    marked = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ["utf-16"] if marked else ["utf-8-sig", "cp1252"]:
        try:
            text = content.decode(encoding)
        except UnicodeError:
            continue
        if re.search(r"[\0-\x08\x0e-\x1f]" if encoding == "cp1252" else r"\0", text):
            break
        word = re.search(r"\w*[^\x00-\x7f]\w*", text) if encoding == "cp1252" else None
        remark = word and (
            f"{quoted(name)} is not UTF-8 text and was read as cp1252: check words such as {quoted(word[0])}; if they "
            "are wrong, save the file as UTF-8"
        )
        return text, (remark,) if remark else ()
    raise CsvError(
        f"{quoted(name)} is not UTF-8 text, but perhaps of SPSS, SAS, Stata or R or an old workbook; {AS_CSV}"
    )


def _workbook_rows(data: DataFile, content: bytes) -> tuple[Rows, tuple[str, ...], str]:
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
            if sum(part.file_size for part in archive.infolist()) > MOST_BYTES:  # before a part is unpacked
                raise _too_large(name)
            sheets = load_workbook(io.BytesIO(content), read_only=True, data_only=True).worksheets
            return _sheet_rows(sheets, archive, data)
    except CsvError:
        raise
    except Exception as error:  # a file from elsewhere can be anything
        raise CsvError(
            f"{quoted(name)} cannot be read as an Excel workbook, {type(error).__name__}; {AS_CSV}"
        ) from error


def _sheet_rows(
    sheets: list[Any], archive: zipfile.ZipFile, data: DataFile
) -> tuple[Rows, tuple[str, ...], str]:
    """Return the sheet that `data` names, by default the first visible one, with what a reader may have overlooked."""
    visible = [sheet for sheet in sheets if sheet.sheet_state == "visible"] or sheets
    choice = [sheet for sheet in sheets if sheet.title == data.sheet] if data.sheet else visible[:1]
    if not choice:
        titles = first_few([quoted(sheet.title) for sheet in sheets])
        raise CsvError(
            f"--sheet: no sheet {quoted(data.sheet or '')} in {quoted(data.file.name)}; the sheets are {titles}"
        )
    sheet, rows, n_cells, width = choice[0], Rows(), 0, 0
    sheet.reset_dimensions()  # what the file says of them may be wrong
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells = [*map(_text, values)]
        if any(cells) and number > data.skip_rows:
            rows[number] = cells
            width = max(width, max(place for place, cell in enumerate(cells, start=1) if cell))
        n_cells += len(cells)
        if max(n_cells, width * len(rows)) > MOST_CELLS:  # a cell far to the right makes every row as wide
            raise _too_large(data.file.name)
    remarks = []
    if not data.sheet and (others := first_few([quoted(other.title) for other in visible[1:]])):
        remarks.append(
            f"only the first sheet, {quoted(sheet.title)}, is read, not {others}; choose another one with --sheet"
        )
    if _HIDDEN.search(archive.read(sheet._worksheet_path)):
        remarks.append(
            f"sheet {quoted(sheet.title)} has hidden rows or columns, which are read like the others; delete what "
            "should not be used"
        )
    return {line: (cells + [""] * width)[:width] for line, cells in rows.items()}, tuple(remarks), ""


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
    return str(value).strip(BLANKS)


# --- roles


def parse_file(data: DataFile) -> tuple[Table, DataFile, pd.DataFrame, pd.DataFrame, str]:
    """Read a file as text, and check its header, the roles of its columns and the values of its target.

    Returns
    -------
    table : Table
    data : DataFile
        With the names of all features.
    cells, frame : DataFrame of str
        All columns, and the used ones with missing values as `settle_missing` leaves them: numbers in plain form, nan
        where a cell is missing.
    settled : str
        What was done about missing values, or an empty text.

    Raises
    ------
    CsvError
        If the file cannot be read, a named column does not exist, a column has two roles, no feature is left, a used
        column has no name, the target does not have the requested classes, or a missing value cannot be settled.
    """
    table = read_data_file(data)
    named = check_names(table, data)
    left_out = {name for option in ("--target", "--exclude", "--group", "--weight") for name in named[option]}
    others = [name for name in table.cells.columns if name not in left_out]
    data = replace(data, features=tuple(dict.fromkeys(data.features or others)))
    if not data.features:
        raise CsvError(f"there is no feature column besides the target {quoted(data.target)}")
    used = list(dict.fromkeys([data.target, *data.features, *named["--group"], *named["--weight"]]))
    if unnamed := [name for name in used if name in table.unnamed]:
        raise CsvError(
            f"{unnamed[0]} of {quoted(table.source)} has no name in the header (row numbers?); give it a name, or drop "
            f'it with --exclude "{unnamed[0]}"'
        )
    cells = table.cells
    if (data.decimal, data.thousands) != PLAIN:
        numeric = [name for name in (*data.features, *named["--weight"]) if name not in data.categorical]
        cells = cells.assign(**in_plain_form(cells[numeric], data.decimal, data.thousands))
    cells = cells.mask(missing_cells(cells, data.missing_values))
    if data.positive or data.all_classes:
        # before missing values: with a wrong target, they would be reported for unrelated columns
        classes_of(one_spelling(cells[data.target].map(key_of))[0], data, least=1)
    frame, settled = cells[used], ""
    if frame.isna().any(axis=None):
        frame, settled = settle_missing(table.source, frame, data)
    return table, data, cells, frame, settled


def classes_of(keys: pd.Series[str], data: DataFile, least: int = 2) -> tuple[str, ...]:
    """Return the keys of the negative and of the positive class, or of all classes, each of them on `least` rows.

    Parameters
    ----------
    keys : Series of str
        The key of the target on each row, see `key_of`; nan where it is missing.
    data : DataFile
    least : int, default=2
        Rows that each class must have.

    Raises
    ------
    CsvError
        If there are other numbers of classes or rows, or no value is the event.
    """
    counts = Counter(keys.dropna())
    event = None if data.all_classes else spelling(key_of(data.positive.strip()))
    of_number = len(counts) > 2 if data.all_classes else len(counts) == 2
    if of_number and min(counts.values()) >= least and (event is None or event in map(spelling, counts)):
        return tuple(
            sorted(counts) if event is None else sorted(counts, key=lambda key: spelling(key) == event)
        )
    target, way = quoted(data.target), "choose another column with --target"
    found = first_few([f"{quoted(key)} ({counted(n, 'row')})" for key, n in counts.items()]) or "no value"
    if data.all_classes and len(counts) == 2:
        raise CsvError(
            f"--all-classes: the target {target} has two values, {found}; choose one with --positive"
        )
    if len(counts) > 2 and not of_number:
        way = (
            "keep all classes with --all-classes of cudbound interval, use one class against the rest as the target, "
            f"for each class in turn, or {way}"
        )
        if codes := [key for key in counts if CODE.fullmatch(key) or UNKNOWN.fullmatch(key)]:
            way = (
                f"add --missing-values={','.join(codes)} if that means a missing value in every column, {way}"
            )
    if not of_number:
        raise CsvError(f"the target {target} must have two classes; found {found}; {way}")
    if event is not None and event not in map(spelling, counts):
        raise CsvError(
            f"--positive {quoted(data.positive)} is not a value of {target}; found {found}; choose one of "
            "these with --positive"
        )
    raise CsvError(f"each class of {target} needs at least two rows; found {found}")


def check_names(table: Table, data: DataFile, *, with_target: bool = True) -> Mapping[str, Sequence[str]]:
    """Return the columns that each option names.

    Raises
    ------
    CsvError
        If a named column does not exist, or has two roles that exclude each other.
    """
    named = {
        "--target": [data.target] if with_target else [],
        "--features": data.features,
        "--categorical": [name for name in data.categorical if name != AUTO],
        "--exclude": data.exclude,
        "--group": [] if data.group is None else [data.group],
        "--weight": [] if data.weight is None else [data.weight],
    }
    columns = list(table.cells.columns)
    for option, names in named.items():
        for name in (name for name in names if name not in columns):
            problem = f"{option}: no column {quoted(name)} in {quoted(table.source)}"
            hint = suggestion(name, columns) or f" The columns are {first_few([*map(quoted, columns)])}."
            raise CsvError("; ".join([problem, *table.warnings]) + f".{hint}")  # there may be other sheets
    for pair in combinations(named, 2):
        both = [name for name in named[pair[0]] if name in named[pair[1]]]
        if both and pair not in TOGETHER:
            raise CsvError(f"column {quoted(both[0])} is named in both {' and '.join(pair)}; choose one")
    outside = [name for name in named["--categorical"] if name not in (named["--features"] or [name])]
    if outside:
        raise CsvError(
            f"column {quoted(outside[0])} is named in --categorical but not in --features; add it there"
        )
    return named


# --- missing cells


def missing_cells(frame: pd.DataFrame, further: Sequence[str] = ()) -> pd.DataFrame:
    """Return where a cell is missing, or equals one of the `further` texts; numbers are compared as numbers."""
    keys = {key_of(text.strip().lower()) for text in (*MISSING, *further)}
    return frame.map(lambda cell: key_of(cell.lower()) in keys)


def settle_missing(source: str, frame: pd.DataFrame, data: DataFile) -> tuple[pd.DataFrame, str]:
    """Return the used cells, some of which are missing, without dropped rows, and a sentence on what was done.

    Parameters
    ----------
    source : str
        Name of the file.
    frame : DataFrame of str
        The used columns, nan where a cell is missing.
    data : DataFile
        With the names of all features.

    Raises
    ------
    CsvError
        If a cell is missing and ``data.missing`` is "error", if the target, the group or the weight has a missing value
        without "drop", if no complete row is left, or if a feature is empty.
    """
    absent, n = frame.isna(), len(frame)
    counts = absent.sum()
    columns = first_few([f"{quoted(str(name))} {count}" for name, count in counts.items() if count])
    number = f"{counted(int(counts.sum()), 'missing value')} in {quoted(source)}: {columns}"
    needed = [name for name in frame.columns if name not in data.features and counts[name]]
    if data.missing == "error":
        fill = "" if needed else ", --missing median or most-frequent fills them in every fit"
        raise CsvError(
            f"{number}; --missing drop removes these rows{fill}; or drop a column with --exclude COL"
        )
    if data.missing == "drop":
        frame = frame[~absent.any(axis=1)]
        if frame.empty:
            raise CsvError(f"{number}; no row is complete: drop a column with --exclude COL")
        return frame, f"{n - len(frame)} of {n} rows left out ({columns})"
    if needed:
        raise CsvError(
            f"column {quoted(needed[0])} lacks {counted(counts[needed[0]], 'value')}, which cannot be filled; remove "
            "these rows with --missing drop"
        )
    if empty := [quoted(str(name)) for name in data.features if counts[name] == n]:
        raise CsvError(to_drop(empty, "is empty"))
    return frame, f"{columns} of {n} rows, {_DONE[data.missing]}"
