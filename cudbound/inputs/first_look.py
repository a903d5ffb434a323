"""Errors in a file that can be found before its columns become numbers, without scikit-learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cudbound.inputs.column_kinds import one_spelling, spelling
from cudbound.inputs.column_roles import Roles, find_roles
from cudbound.inputs.csv_file import Table
from cudbound.inputs.data_file import CsvError, DataFile, first_few, quoted
from cudbound.inputs.missing_cells import missing_cells
from cudbound.inputs.number_texts import key_of
from cudbound.inputs.suspicions import missing_codes
from cudbound.inputs.workbook import read_data_file


@dataclass(frozen=True)
class FirstLook:
    """A file as text, how to read it, and the roles of its columns."""

    data: DataFile
    table: Table
    roles: Roles


def first_look(data: DataFile, used: Sequence[str] = ()) -> FirstLook:
    """Read a file as text, and check its header, the roles of its columns and the values of its target.

    Parameters
    ----------
    data : DataFile
    used : sequence of str, default ()
        The columns that were used of such a file, in their order; if it has them, no others are read.

    Raises
    ------
    CsvError
        If the file cannot be read, the columns do not have the requested roles, or the target does not have the
        requested classes.
    """
    table = read_data_file(data)
    if used and set(used).issubset(table.names):
        table = replace(table, cells=table.cells[[*used]], unnamed=table.unnamed.intersection(used))
        data = replace(data, exclude=())
    roles = find_roles(table, data)
    if data.positive or data.all_classes:
        # before missing values: with a wrong target, they would be reported for unrelated columns
        cells = table.cells[[roles.target]]
        known = cells[~missing_cells(cells, data.missing_values)][roles.target].dropna()
        positive = None if data.all_classes else data.positive
        classes_of(Counter(one_spelling(known.map(key_of))[0]), positive, roles.target, least=1)
    return FirstLook(data, table, roles)


def classes_of(counts: Counter[str], positive: str | None, target: str, least: int = 2) -> tuple[str, ...]:
    """Return the keys of the negative and of the positive class, or of all for None, each of them on `least` rows.

    Parameters
    ----------
    counts : Counter of str
        Rows of each key, see `key_of`.
    positive : str or None
        Value of the target that is the event; None for more than two classes.
    target : str
        Name of the column.
    least : int, default=2
        Rows that each class must have.

    Raises
    ------
    CsvError
        If there are other numbers of classes or rows, or no value is the event.
    """
    found = [f"{quoted(key)} ({count} row{'' if count == 1 else 's'})" for key, count in counts.items()]
    if positive is None and len(counts) == 2:
        raise CsvError(
            f"--all-classes: the target {quoted(target)} has two values, {', '.join(found)}; choose one with --positive"
        )
    if (len(counts) != 2 and positive is not None) or len(counts) < 2:
        raise CsvError(_not_two(counts, target, found))
    too_few = CsvError(f"each class of {quoted(target)} needs at least two rows; found {', '.join(found)}")
    if positive is None:
        if min(counts.values()) < least:
            raise too_few
        return tuple(sorted(counts))
    event = spelling(key_of(positive.strip()))
    if event not in map(spelling, counts):
        raise CsvError(
            f"--positive {quoted(positive)} is not a value of {quoted(target)}; found {', '.join(found)}; choose one "
            "of these with --positive"
        )
    if min(counts.values()) < least:
        raise too_few
    other, of_event = sorted(counts, key=lambda key: spelling(key) == event)
    return other, of_event


def _not_two(counts: Counter[str], target: str, found: list[str]) -> str:
    only = {0: "no value", 1: "one value"}.get(len(counts), f"{len(counts)} values")
    listed = [first_few(found)] if found else []
    way = "choose another column with --target"
    if len(counts) > 2:
        one = "use one class against the rest as the target, for each class in turn"
        way = f"keep all classes with --all-classes of cudbound interval, {one}, or {way}"
        if codes := missing_codes(counts):
            way = (
                f"add --missing-values={','.join(codes)} if that means a missing value in every column, {way}"
            )
    return f"the target {quoted(target)} must have two classes; it has {': '.join([only, *listed])}; {way}"
