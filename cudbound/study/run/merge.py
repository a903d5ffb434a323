"""Merge the stores of shards into one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import ExitStack, closing
from itertools import combinations
from pathlib import Path
from typing import Any

from cudbound.study.design.identity import differences, shown
from cudbound.study.run.status import StudyStatus
from cudbound.study.run.store import Store
from cudbound.study.run.store_file import (
    connect,
    create_tables,
    naming_store,
    store_error,
    transaction,
    writer_lock,
)
from cudbound.study.run.store_tables import METHOD_TIMINGS, RESULTS, TIMINGS

_KEY = "scenario, n, replicate"
#: The replicates that a part has and the merged store has too, and those that are taken from the part: new ones, and
#: of equal ones the one that was finished first, so that the order of parts leaves no trace.
_SHARED = f"CREATE TEMP TABLE shared AS SELECT {_KEY} FROM main.timings JOIN part.timings USING ({_KEY})"
_TAKEN = f"""CREATE TEMP TABLE taken AS SELECT {_KEY}
FROM part.timings AS here LEFT JOIN main.timings AS there USING ({_KEY})
WHERE there.finished IS NULL OR (here.finished, here.seconds) < (there.finished, there.seconds)"""


def merge_stores(parts: Iterable[str | Path], store_path: str | Path) -> StudyStatus:
    """Merge stores of one study, such as those of its shards, into one.

    Parameters
    ----------
    parts : iterable of str or path
        The stores, which stay as they are. Runs may be writing them: what is stored by now is taken.
    store_path : str or path
        The merged store. One that is there is a further part, and is replaced when all are merged.

    Returns
    -------
    StudyStatus
        What the merged store holds.

    Raises
    ------
    StudyError
        If a part is missing, damaged or no store, holds results of another study, or has a replicate that another part
        has with other results; or if the merged store cannot be written, or a run writes it. What is at `store_path` is
        then as it was.

    Guarantee
    ---------
    What the merged store holds does not depend on the order of parts, and its results not on which part has which
    replicates. Replicates that several parts have, equal but for times, are taken once, with the times of the one that
    was finished first. A merge that is killed at any moment leaves at `store_path` what was there before.

    Notes
    -----
    Parts may have different numbers of replicates, sizes and scenarios, as `Store.resume` allows; the merged store has
    the design in which all others are contained. A merged store can be resumed, and be a part again.

    Examples
    --------
    >>> import tempfile
    >>> from cudbound.study.design.design_file import read_design, template_text
    >>> from cudbound.study.run.runner import run_study
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     _ = (folder / "quick.toml").write_text(template_text("quick"))
    ...     study = read_design(folder / "quick.toml", n_replicates=2)
    ...     for number in (1, 2):
    ...         _ = run_study(study, folder / f"{number}.sqlite", shard=(number, 2))
    ...     status = merge_stores([folder / "1.sqlite", folder / "2.sqlite"], folder / "all.sqlite")
    >>> status.n_done, status.n_total
    (4, 4)
    """
    place = Path(store_path)
    sources = [Path(one) for one in parts]
    if not sources:
        raise ValueError("The 'parts' parameter must name at least one store. Got none instead.")
    with writer_lock(place), ExitStack() as stack:
        if place.exists():
            sources.append(place)
        descriptions, runs = _read_heads(sources)
        target = place.resolve()  # a link stays one
        unfinished = target.with_name(f"{target.name}-merging")
        unfinished.unlink(missing_ok=True)  # of a merge that was killed
        stack.callback(unfinished.unlink, missing_ok=True)
        with naming_store(place):
            _write(unfinished, sources, _common(descriptions), sorted(runs))
            unfinished.replace(target)
    with Store.open(place) as store:
        return store.status()


def _read_heads(sources: Iterable[Path]) -> tuple[dict[Path, dict[str, Any]], set[tuple[float, str]]]:
    """Return the descriptions of the studies, and all runs; what a killed run left in a store is undone."""
    descriptions, runs = {}, set()
    for path in sources:
        with Store.open(path) as store:
            descriptions[path] = store.description
            runs.update(store._select("SELECT begun, environment FROM runs"))
    return descriptions, runs


def _common(descriptions: dict[Path, dict[str, Any]]) -> str:
    """Return the description of the study of which all parts hold results, the first in words of several."""
    for text in sorted(set(map(json.dumps, descriptions.values()))):
        if not any(differences(one, json.loads(text)) for one in descriptions.values()):
            return text
    first, other, found = next(
        (first, other, found)
        for first, other in combinations(descriptions, 2)
        if (found := differences(descriptions[first], descriptions[other]))
        and differences(descriptions[other], descriptions[first])
    )
    raise store_error(
        first,
        f"it holds results of another study than {str(other)!r}, shown as 'now' ({shown(found)}); leave one of the two "
        "out",
    )


def _write(place: Path, sources: Iterable[Path], description: str, runs: Iterable[tuple[float, str]]) -> None:
    """Write a new store with the results of all parts."""
    connection, _ = connect(place, "w")
    with closing(connection):
        connection.execute("PRAGMA journal_mode = OFF")  # nobody reads the file before it is finished
        with transaction(connection):
            create_tables(connection)
            connection.execute("INSERT INTO study VALUES (1, ?)", (description,))
            connection.executemany("INSERT INTO runs (begun, environment) VALUES (?, ?)", runs)
        for path in sources:
            connection.execute("ATTACH ? AS part", (f"{path.absolute().as_uri()}?mode=ro",))
            with naming_store(path), transaction(connection):
                _add_part(connection, path)
            connection.execute("DETACH part")


def _add_part(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute(_SHARED)
    for table in RESULTS:
        _check_equal(connection, table.name, table.compared, path)
    connection.execute(_TAKEN)
    for table in (*RESULTS, METHOD_TIMINGS, TIMINGS):
        connection.execute(f"DELETE FROM main.{table.name} WHERE ({_KEY}) IN (SELECT * FROM taken)")
        columns = ", ".join(table.columns)
        connection.execute(
            f"INSERT INTO main.{table.name} SELECT {columns} FROM part.{table.name} JOIN taken USING ({_KEY})"
        )
    for name in ("shared", "taken"):
        connection.execute(f"DROP TABLE {name}")


def _check_equal(connection: sqlite3.Connection, table: str, columns: str, path: Path) -> None:
    """Refuse a part that has a replicate with other results than the merged store has."""
    here, there = (
        f"SELECT {columns} FROM {schema}.{table} JOIN shared USING ({_KEY})" for schema in ("part", "main")
    )
    for query in (f"{here} EXCEPT {there}", f"{there} EXCEPT {here}"):
        found = connection.execute(f"{query} ORDER BY 1, 2, 3 LIMIT 1").fetchone()
        if found is not None:
            scenario, n, replicate = found[:3]
            raise store_error(
                path,
                f"its replicate {replicate} of scenario {scenario!r} at n = {n} is not that of another part; run the "
                "replicate again, with replay, to see which of them is right, and leave the other store out",
            )
