"""Read a CSV file as a table of text, with the line number of each record.

pandas splits the lines into cells; nothing is converted. A file that is not a clean table raises an error with the line
number.
"""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from cudbound.inputs.data_file import (
    MOST_CELLS,
    CsvError,
    Reading,
    decoded,
    first_few,
    quoted,
    stripped,
    too_large,
)
from cudbound.inputs.number_texts import PLAIN, conventions, is_formatted, number_of

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


def read_csv_file(path: Path, content: bytes, reading: Reading) -> Table:
    """Read a CSV file as text.

    Lines end in LF, CRLF or CR; quoted cells may contain delimiters, line ends and doubled quotes.

    Parameters
    ----------
    path : Path
    content : bytes
        The content of the file.
    reading : Reading

    Raises
    ------
    CsvError
        If the file is not text, is empty or has no records, has another delimiter, has a record with more or fewer
        cells than the header, or has two columns with the same name.
    """
    if len(reading.delimiter) != 1 or reading.delimiter in '\r\n"':
        raise CsvError(
            f"--delimiter must be one character between cells, such as , or ;. Got {reading.delimiter!r}."
        )
    text, encoding = decoded(content, path, reading.encoding)
    cells = _split(text, path, reading)
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


def _split(text: str, path: Path, reading: Reading) -> pd.DataFrame:
    """Return the stripped cells of every record by the line on which it begins; nan where it has no such cell."""
    import pandas as pd

    stream = io.StringIO(text, newline="")
    for _ in range(reading.skip_rows):
        stream.readline()
    start = stream.tell()
    _check_delimiter(path, [*islice(stream, FIRST_LINES)], reading.delimiter)
    stream.seek(start)
    widths = [line.count(reading.delimiter) + 2 for line in stream]
    width, n_lines = max(widths, default=2), len(widths)
    if n_lines * width > MOST_CELLS + n_lines:
        raise too_large(path.name, f"{n_lines:,} lines of up to {width - 1:,} cells")
    stream.seek(start)
    try:
        cells = pd.read_csv(
            stream,
            sep=reading.delimiter,
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
                f"{quoted(path.name)}: a record of several lines has more cells than the header"
            ) from None
        # a record begins after the last line up to which quotation marks are in pairs
        lines = [*io.StringIO(text[start : stream.tell()], newline="")]
        marks = accumulate(line.count('"') for line in lines[:-1])
        begin = max((number for number, count in enumerate(marks, start=1) if count % 2 == 0), default=0)
        raise CsvError(
            f"{quoted(path.name)} is not a CSV file: the record that begins on line {reading.skip_rows + begin + 1}: "
            f"{error}"
        ) from None
    breaks = cells.map(lambda cell: len(re.findall(r"\r\n?|\n", cell)), "ignore")
    ends = (breaks.sum(axis=1) + 1).cumsum()
    cells.index = pd.Index((ends.shift(fill_value=0) + reading.skip_rows + 1).astype(int))
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
