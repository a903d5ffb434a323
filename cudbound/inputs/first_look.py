"""Errors in a file that can be found before its columns become numbers, without pandas or scikit-learn."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from cudbound.inputs.column_kinds import number_of
from cudbound.inputs.column_roles import Roles, find_roles
from cudbound.inputs.csv_file import DECIMALS, CsvError, CsvTable, DataFile, first_few, quoted
from cudbound.inputs.missing_cells import MISSING
from cudbound.inputs.workbook import read_data_file


@dataclass(frozen=True)
class FirstLook:
    """A file as text, how to read it, and the roles of its columns."""

    data: DataFile
    table: CsvTable
    roles: Roles


def first_look(data: DataFile) -> FirstLook:
    """Read a file as text, and check its header, the roles of its columns and the values of its target.

    Raises
    ------
    CsvError
        If the file cannot be read, the columns do not have the requested roles, or the target does not have the
        requested classes.
    """
    if data.decimal not in DECIMALS:
        raise CsvError(f"--decimal must be one of {' '.join(DECIMALS)}. Got {data.decimal!r}.")
    table = read_data_file(data)
    roles = find_roles(table, data)
    if data.positive or data.all_classes:
        place = table.names.index(roles.target)
        absent = MISSING | {text.strip().lower() for text in data.missing_values}
        numbers = {number for text in absent if not math.isnan(number := number_of(text))}
        # before missing values: with a wrong target, they would be reported for unrelated columns
        cells = (record[place] for record in table.records)
        known = [key_of(one) for one in cells if one.lower() not in absent and number_of(one) not in numbers]
        positive = None if data.all_classes else data.positive
        classes_of(Counter(known), positive, roles.target, least=1)
    return FirstLook(data, table, roles)


def key_of(text: str) -> str:
    """Return one text for all spellings of the same value: ``1``, ``1.0`` and ``1e0`` become ``1``."""
    number = number_of(text)
    return text if math.isnan(number) else repr(number).removesuffix(".0")


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
    key_of_event = key_of(positive.strip())
    if key_of_event not in counts:
        alike = [key for key in counts if key.casefold() == key_of_event.casefold()]
        way = (
            f"did you mean --positive {quoted(alike[0])}?" if alike else "choose one of these with --positive"
        )
        raise CsvError(
            f"--positive {quoted(positive)} is not a value of {quoted(target)}; found {', '.join(found)}; {way}",
            **({"positive": alike[0]} if alike else {}),
        )
    if min(counts.values()) < least:
        raise too_few
    other = next(key for key in counts if key != key_of_event)
    return other, key_of_event


def _not_two(counts: Counter[str], target: str, found: list[str]) -> str:
    only = {0: "no value", 1: "one value"}.get(len(counts), f"{len(counts)} values")
    listed = [first_few(found)] if found else []
    way = "choose another column with --target"
    if len({key.casefold() for key in counts}) == 2:
        way = "in the file, use one spelling for values that differ only in case"
    elif len(counts) > 2:
        one = "use one class against the rest as the target, for each class in turn"
        way = f"keep all classes with --all-classes of cudbound interval, {one}, or {way}"
    return f"the target {quoted(target)} must have two classes; it has {': '.join([only, *listed])}; {way}"
