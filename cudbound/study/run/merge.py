"""Merge the stores of shards into one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from cudbound.basis.calls import public_call
from cudbound.study.design.scenario import differences, shown
from cudbound.study.run.replicate_rows import RESULTS, TIMINGS
from cudbound.study.run.store import (
    Store,
    StudyStatus,
    connect,
    create_tables,
    naming_store,
    store_error,
    transaction,
    writer_lock,
)

_KEY = "scenario, n, replicate"


@public_call
def merge_stores(parts: Iterable[str | Path], store_path: str | Path) -> StudyStatus:
    """Merge stores of one study, such as those of its shards, into one.

    Parameters
    ----------
    parts : iterable of str or path
        The stores, which are not changed. Runs may be writing to them: only stored results are merged.
    store_path : str or path
        The merged store. An existing store is a further part, and is replaced when all are merged.

    Returns
    -------
    StudyStatus
        Status of the merged store.

    Raises
    ------
    StudyError
        If a part is missing, damaged or not a store, has results of another study, or has a replicate whose results
        differ from those in another part; or if the merged store cannot be written, or a run is writing to it. An
        existing file at `store_path` is then unchanged.

    Notes
    -----
    The merged results do not depend on the order of parts, nor on which part has which replicates. A replicate in
    several parts, equal except for times, is merged once, with the times of the first of these parts. A merge killed at
    any moment leaves `store_path` unchanged.

    A merged store can be resumed, and can be a part itself. After adding replicates, sizes or scenarios to a design,
    run its shards again, which adds the new results, and merge them into a new store.

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
    sources = [Path(part) for part in parts]
    if not sources:
        raise ValueError("The 'parts' parameter must name at least one store. Got none instead.")
    with writer_lock(place), ExitStack() as stack:
        if place.exists():
            sources.append(place)
        description, runs = _read_heads(sources)
        target = place.resolve()  # a link stays one
        unfinished = target.with_name(f"{target.name}-merging")
        unfinished.unlink(missing_ok=True)  # of a merge that was killed
        stack.callback(unfinished.unlink, missing_ok=True)
        with naming_store(place):
            _write(unfinished, sources, description, sorted(runs))
            unfinished.replace(target)
    with Store.open(place) as store:
        return store.status()


def _read_heads(sources: Sequence[Path]) -> tuple[str, set[tuple[float, str]]]:
    """Return the description of the study, and all runs; unfinished changes of a killed run are undone."""
    descriptions, runs = [], set()
    for path in sources:
        with Store.open(path) as store:
            descriptions.append(store.description)
            runs.update(store._select("SELECT begun, environment FROM runs"))
    first = descriptions[0]
    for path, other in zip(sources, descriptions, strict=True):
        if changes := differences(first, other) or differences(other, first):
            raise store_error(
                path,
                f"it has results of another study than {str(sources[0])!r} ({shown(changes)}); leave one of the two "
                "out, or run both with the same design",
            )
    return json.dumps(first), runs


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
    """Add new replicates; raise if a replicate has different results in another part."""
    for table in RESULTS:
        here, there = (
            f"SELECT {table.compared} FROM {this}.{table.name} WHERE ({_KEY}) IN (SELECT {_KEY} FROM {that}.replicates)"
            for this, that in (("part", "main"), ("main", "part"))
        )
        for query in (f"{here} EXCEPT {there}", f"{there} EXCEPT {here}"):
            row = connection.execute(f"{query} LIMIT 1").fetchone()
            if row is not None:
                scenario, n, replicate = row[:3]
                raise store_error(
                    path,
                    f"its replicate {replicate} of scenario {scenario!r} at n = {n} differs from that in another part; "
                    "run the replicate again, with replay, to see which is correct, and leave the other store out",
                )
    for table in (*RESULTS, TIMINGS):
        connection.execute(f"INSERT OR IGNORE INTO main.{table.name} SELECT * FROM part.{table.name}")
