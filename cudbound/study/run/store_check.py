"""What a store must be like before anything in it is used: it may have come from somebody else, or be damaged."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cudbound.outcomes import Estimand
from cudbound.study.design.identity import cells_of
from cudbound.study.design.published import PublishedValue
from cudbound.study.run.store_columns import StoredTable

#: Letters of a name, and of a description of a study.
MAX_NAME, MAX_TEXT = 1_000, 100_000_000
#: Replicates of a study, all scenarios and sizes together: as many as memory has room for to say which are missing.
MAX_STORED = 20_000_000
#: Unix seconds from 1970 to 2999.
MAX_TIME = 32.5e9
#: The column of further numbers of a method, one object of JSON, and characters that it may have.
DETAILS, MAX_DETAILS = "details", 10_000
#: Columns of names.
NAMES = frozenset({"scenario", "method", "estimand"})
#: Columns without infinite numbers; limits that are not clipped may be infinite.
FINITE = frozenset(
    {"truth", "truth_se", "training_error", "estimate", "low", "high", "pvalue", "seconds", "finished"}
)
#: Levels of lists and mappings in a text of JSON.
MAX_DEPTH = 50


class WrongContentsError(ValueError):
    """What a store holds cannot be used; the text says why."""


def check_tables(connection: sqlite3.Connection, statements: Iterable[str]) -> None:
    """Refuse a store whose tables are not those that the statements create, and nothing else.

    A view in the place of a table computes, maybe without end, and a trigger acts when a row is written.
    """
    found = {
        sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'")
    }
    if found != set(statements):
        raise WrongContentsError("its tables are not those of a study")


def check_rows(connection: sqlite3.Connection, table: StoredTable) -> None:
    """Refuse rows with values of another type than their columns have, numbers without end, and endless texts."""
    wrong = " OR ".join(_wrong(name, kind) for name, kind in table.types.items())
    found = connection.execute(f"SELECT 1 FROM {table.name} WHERE {wrong} LIMIT 1").fetchone()
    if found is not None:
        raise WrongContentsError(f"a row of its table {table.name} has a value that no study writes")


def check_keys(connection: sqlite3.Connection, table: StoredTable, described: Mapping[str, Any]) -> None:
    """Refuse rows of scenarios, sizes, replicates, methods or estimands that the study does not have."""
    cells = cells_of(described)
    known = {"method": set(described["methods"]).__contains__, "estimand": _is_estimand}
    # all rows are fetched: a cursor with rows left would keep the file open, and locked, after the refusal
    found = connection.execute(
        f"SELECT scenario, n, max(replicate) FROM {table.name} GROUP BY scenario, n"
    ).fetchall()
    is_known = all(last < cells.get((scenario, n), 0) for scenario, n, last in found)
    for name in known.keys() & table.types.keys():
        values = connection.execute(f"SELECT DISTINCT {name} FROM {table.name}").fetchall()
        is_known = is_known and all(known[name](value) for (value,) in values)
    if not is_known:
        raise WrongContentsError(f"its table {table.name} has rows that are not of the study it describes")


def _is_estimand(text: str) -> bool:
    try:
        return (Estimand.read(text).n_train_rows or 0) < 2**63
    except ValueError:
        return False


def _wrong(name: str, kind: str) -> str:
    """Return the condition that a value of a column is not as it should be."""
    base = kind.removesuffix(" | None")
    if name == DETAILS:
        is_object = f"CASE WHEN json_valid({name}) THEN json_type({name}) = 'object' END"
        return f"({name} IS NOT NULL AND ({is_object} IS NOT 1 OR length({name}) > {MAX_DETAILS}))"
    condition = {
        "str": f"typeof({name}) != 'text'" + (f" OR length({name}) > {MAX_NAME}" if name in NAMES else ""),
        "int": f"typeof({name}) != 'integer' OR {name} < 0",
        # SQLite reads 9e999 as infinite
        "float": f"typeof({name}) != 'real'" + (f" OR abs({name}) = 9e999" if name in FINITE else ""),
    }[base]
    return f"({condition})" if base == kind else f"({name} IS NOT NULL AND ({condition}))"


def read_json(text: object) -> dict[str, Any]:
    """Read a text of JSON that is an object.

    Raises
    ------
    WrongContentsError
        If it is no text, none of JSON, too long, or too deep.
    """
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise WrongContentsError("a description in it is no text, or too long")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WrongContentsError("a description in it is not written in JSON") from error
    if not isinstance(found, dict) or _depth(found) > MAX_DEPTH:
        raise WrongContentsError("a description in it is no list of settings, or too deep")
    return found


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level and depth <= MAX_DEPTH:
        depth += 1
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return depth


def check_description(described: Mapping[str, Any]) -> None:
    """Refuse a description of a study that has settings of the wrong kind, or more replicates than can be counted."""
    for name, is_right in _SETTINGS.items():
        if name not in described or not is_right(described[name]):
            raise WrongContentsError(f"the setting {name!r} of the study it describes is missing or wrong")
    for scenario, entries in described["scenarios"].items():
        words = [
            entries.get(name, "") for name in ("title", "population", "parameters", "classifier", "rival")
        ]
        if not all(isinstance(word, str) for word in words) or not isinstance(
            entries.get("description"), dict
        ):
            raise WrongContentsError(f"what it says of scenario {scenario!r} is missing or wrong")
        if not all(is_right(entries[name]) for name, is_right in _OWN.items() if name in entries):
            raise WrongContentsError(f"a number of scenario {scenario!r} of the study it describes is wrong")
    if (n_stored := sum(cells_of(described).values())) > MAX_STORED:
        raise WrongContentsError(
            f"the study it describes has {n_stored:,} replicates, and no study may have more than {MAX_STORED:,}"
        )


def check_run(begun: object, environment: Mapping[str, Any]) -> None:
    """Refuse a run that began at no time, or that is described by anything but words."""
    if not (isinstance(begun, float) and 0.0 <= begun <= MAX_TIME) or not all(
        map(_is_name, environment.values())
    ):
        raise WrongContentsError("what it says of a run is wrong")


def _is_name(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_NAME


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: object, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63


def _is_published(value: object) -> bool:
    try:
        published = PublishedValue(**value) if isinstance(value, dict) else None
    except (TypeError, ValueError):
        return False
    return (
        published is not None
        and _is_count(published.n)
        and all(map(_is_name, (published.scenario, published.method, published.source)))
    )


def _is_list_of(is_right: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and bool(value) and all(map(is_right, value))


def _is_mapping_to(kind: type) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, dict)
        and all(map(_is_name, value))
        and all(isinstance(one, kind) for one in value.values())
    )


#: Settings that every description has, and what their values are.
_SETTINGS: Mapping[str, Callable[[object], bool]] = {
    "cudbound": _is_name,
    "name": _is_name,
    "scenarios": lambda value: bool(value) and _is_mapping_to(dict)(value),
    "n_samples": _is_list_of(_is_count),
    "n_replicates": _is_count,
    "methods": lambda value: _is_name(value) or _is_list_of(_is_name)(value),
    "n_resamples": _is_count,
    "inner": lambda value: _is_count(value) or _is_name(value),
    "confidence_level": lambda value: _is_number(value) and 0.0 < float(str(value)) < 1.0,
    "localization": lambda value: value == math.inf or _is_number(value) or _is_name(value),
    "options": _is_mapping_to(dict),
    "sizes": _is_mapping_to(object),
    "seed": lambda value: isinstance(value, int) and value >= 0,
    "published": lambda value: isinstance(value, list) and all(map(_is_published, value)),
}
#: Those that a scenario may have for itself.
_OWN = {name: _SETTINGS[name] for name in ("n_samples", "n_replicates", "n_resamples")}
