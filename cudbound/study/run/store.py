"""The store of a study, one SQLite file with every replicate and interval: its status, and merging those of shards."""

from __future__ import annotations

import hashlib
import json
import platform
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudbound.basis.calls import public_call
from cudbound.basis.pictured import Pictured
from cudbound.report.table_style import FULL, Style
from cudbound.report.tables import Column, Report, Run
from cudbound.report.tabular import Tabular
from cudbound.study.design.scenario import Study, cells_of, describe, differences, shown
from cudbound.study.run.rows import (
    EXPECTED,
    INTERVALS,
    REPLICATES,
    RESULTS,
    TIMINGS,
    ExpectedError,
    IntervalRow,
    Key,
    ReplicateRow,
    Shard,
    StoredTable,
    read_frame,
    read_shard,
    reason,
    replicates_of,
)
from cudbound.study.run.store_file import (
    connect,
    connect_in_memory,
    create_tables,
    is_locked,
    naming_store,
    store_error,
    transaction,
    writer_lock,
)

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.plotting.nested_loop import NestedLoopDisplay


#: Packages whose versions are recorded with every run.
PACKAGES = ("cudbound", "numpy", "scipy", "scikit-learn", "joblib")
_KEY = "scenario, n, replicate"


@dataclass(frozen=True)
class CellStatus:
    """The status of one scenario at one size.

    Attributes
    ----------
    scenario : str
    n : int
    n_done, n_failed, n_total : int
        Replicates; the failed ones are among those done.
    first_failure : int or None
        The smallest number of a failed replicate, which `cudbound.replay` reruns; None without failures.
    reason : str or None
        Its error with its message, in one line.
    """

    scenario: str
    n: int
    n_done: int
    n_failed: int
    n_total: int
    first_failure: int | None = None
    reason: str | None = None


@dataclass(frozen=True, repr=False)
class StudyStatus(Tabular, Pictured["NestedLoopDisplay"]):
    """The status of a study; prints as a table, with the same output formats as other tables.

    Attributes
    ----------
    name : str
        Name of the study.
    n_done, n_failed, n_total : int
        Replicates; the failed ones are among those done.
    running : bool
        Whether a run is writing to the store now.
    rate : float or None
        Replicates per second in the last run; None before its first replicate.
    expected_end : datetime or None
        Expected end at this rate, in local time; None if nothing is running or left.
    cells : tuple of CellStatus
        In the order of the study.
    """

    name: str
    n_done: int
    n_failed: int
    n_total: int
    running: bool
    rate: float | None
    expected_end: datetime | None
    cells: tuple[CellStatus, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per cell: scenario, n, n_done, n_failed, n_total, first_failure (a replicate) and reason."""
        import pandas as pd

        return pd.DataFrame(list(map(vars, self.cells))).astype({"first_failure": "Int64"})

    def report(self, run: Run | None = None, style: Style = FULL) -> Report:
        """Return the cells as a table; `run` and `style` have no effect."""
        columns = (
            Column("scenario", "scenario", "text"),
            Column("n", "n", "count"),
            Column("n_done", "done", "count"),
            Column("n_total", "of", "count"),
            Column("n_failed", "failed", "count"),
        )
        done = f"{self.n_done} of {self.n_total} replicates done, {self.n_failed} failed"
        rows = tuple(map(vars, self.cells))
        return Report("cells", f"{self.name}: {done}", tuple(self._notes()), columns, rows, self.to_frame)

    def _notes(self) -> Iterator[str]:
        yield "A run is writing to the store." if self.running else "No run is writing to the store."
        if self.rate is not None:
            yield f"Rate of the last run: {self.rate:.3g} replicates per second."
        if self.expected_end is not None:
            yield f"Expected end: {self.expected_end:%Y-%m-%d %H:%M}."
        yield from self.failures

    @property
    def failures(self) -> tuple[str, ...]:
        """The first failure of each cell that has one, in words."""
        return tuple(
            f"First failure of {cell.scenario}, n = {cell.n}: replicate {cell.first_failure}, {cell.reason}"
            for cell in self.cells
            if cell.first_failure is not None
        )

    def display(self) -> NestedLoopDisplay:
        """Return the plot of planned, done and failed replicates in every cell; its `plot` draws it."""
        from cudbound.plotting.nested_loop import NestedLoopDisplay

        names = {"n_total": "planned", "n_done": "done", "n_failed": "failed"}
        cells = self.to_frame().rename(columns=names)
        shown = cells.melt(["scenario", "n"], [*names.values()], "method", "replicates")
        return NestedLoopDisplay(shown.assign(n_replicates=shown["replicates"]), "replicates")


class Store:
    """The results of a study, read with `Store.open` and written with `Store.resume`.

    Notes
    -----
    Replicates are stored in complete batches, in one transaction each: a run killed at any moment leaves all batches
    stored before, and no part of another. Numbers are stored in full precision. Except for times, the tables depend
    only on the study, not on the order of storing or interruptions.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from cudbound import LeastSquaresClassifier
    >>> from cudbound.study.design.scenario import Scenario, Study
    >>> class Coin:
    ...     name, title = "coin", "labels without features"
    >>> study = Study("quick", (Scenario("coin", Coin(), LeastSquaresClassifier),), (30,), 2, ("cud",))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "quick.sqlite"
    ...     with Store.resume(path, study) as store:
    ...         store.add([ReplicateRow(Key("coin", 30, 0), 0.5, 0.0, 0.4, 0, None, (), 0.1)])
    ...     with Store.open(path) as store:
    ...         status = store.status()
    >>> status.n_done, status.n_total
    (1, 2)
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, study: Study | None = None):
        self.path = path
        self._connection = connection
        self._study = study
        self._on_close = ExitStack()
        self._on_close.callback(connection.close)

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """Open a store for reading; a run may write to it at the same time.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        StudyError
            If the file is missing, is not a store, or is a store of another version.
        """
        place = Path(path)
        connection, _ = connect(place, "r")
        return cls(place, connection)

    @classmethod
    def resume(cls, path: str | Path, study: Study, shard: Shard | None = None) -> Store:
        """Open a store for writing results of a study; create it if missing.

        Parameters
        ----------
        path : str or path
        study : Study
            The study of the store. It may have more replicates, sizes and scenarios than before.
        shard : (int, int) or None, default=None
            The part of the study that will be run, for the record: a store accepts all replicates.

        Raises
        ------
        StudyError
            If the store belongs to another study; the message shows the differences. If another run is writing to it,
            or it cannot be written, is not a store, or is a store of another version. The store is then unchanged.
        """
        place = Path(path)
        with ExitStack() as opened:
            opened.enter_context(writer_lock(place))
            connection, new = connect(place, "w")
            opened.callback(connection.close)
            store = cls(place, connection, study)
            store._begin_run(study, shard, new)
            store._on_close = opened.pop_all()
        return store

    @classmethod
    def in_memory(cls, study: Study) -> Store:
        """Make a store of a study in memory: a file would wait for the disk at every batch."""
        store = cls(Path(":memory:"), connect_in_memory(), study)
        store._begin_run(study, None, new=True)
        return store

    def close(self) -> None:
        """Close the file; closing twice does nothing."""
        self._on_close.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def description(self) -> dict[str, Any]:
        """The study in words and numbers, from `cudbound.study.design.scenario.describe`."""
        ((text,),) = self._select("SELECT description FROM study")
        description: dict[str, Any] = json.loads(text)
        return description

    @property
    def shard(self) -> Shard | None:
        """The shard of the last run; None for the whole study."""
        ((_, environment),) = self._select("SELECT max(begun), environment FROM runs")
        text = json.loads(environment).get("shard")
        return None if text is None else read_shard(text)

    def check_study(self, study: Study, remedy: str) -> None:
        """Raise if these are not results of the study.

        Raises
        ------
        StudyError
            The message shows the differences, and ends with the remedy.
        """
        if changes := differences(self.description, describe(study)):
            raise store_error(self.path, f"it has results of another study ({shown(changes)}); {remedy}")

    def add(self, rows: Iterable[ReplicateRow]) -> None:
        """Store replicates, all of them or, if that fails, none.

        Raises
        ------
        StudyError
            If the store was opened for reading, the disk is full, or a replicate is already stored.
        """
        if (study := self._study) is None:
            raise store_error(self.path, "it was opened for reading; open it with Store.resume")
        now = time.time()
        with naming_store(self.path), transaction(self._connection):
            for row in rows:
                key = row.key
                self._insert(REPLICATES, REPLICATES.values(key, row, seed=_seed(study, key)))
                self._insert(INTERVALS, *(INTERVALS.values(key, part) for part in row.intervals))
                self._insert(EXPECTED, *(EXPECTED.values(key, part) for part in row.expected))
                self._insert(TIMINGS, TIMINGS.values(key, row, finished=now))

    def finished(self) -> set[Key]:
        """Return the stored replicates, including failed ones."""
        return {Key(*row) for row in self._select("SELECT scenario, n, replicate FROM replicates")}

    def missing(self, shard: Shard | None = None) -> dict[tuple[str, int], list[int]]:
        """Return the numbers of missing replicates, of the study or of a shard.

        Returns
        -------
        dict of (str, int) to list of int
            By scenario and n, in the order of the study; complete cells are left out.
        """
        description, done = self.description, self.finished()
        cells = {
            cell: [number for number in replicates_of(shard, n_each) if Key(*cell, number) not in done]
            for cell, n_each in cells_of(description).items()
        }
        return {cell: left for cell, left in cells.items() if left}

    def digest(self) -> str:
        """Return a checksum of the results, without times; for failures, only the last line counts."""
        checksum = hashlib.sha256()
        with naming_store(self.path):
            for table in RESULTS:
                query = f"SELECT {table.compared} FROM {table.name} ORDER BY {table.order}"
                for row in self._connection.execute(query):
                    checksum.update(f"{row!r}\n".encode())
        return checksum.hexdigest()

    def replicate(self, key: Key) -> ReplicateRow:
        """Return one replicate with its intervals in the order of the study's methods.

        Raises
        ------
        StudyError
            If it is not stored.
        """
        replicates = self._rows_of(REPLICATES, key)
        if not replicates:
            raise store_error(
                self.path,
                f"it has no replicate {key.replicate} of scenario {key.scenario!r} at n = {key.n}; continue the study, "
                "or choose a stored replicate",
            )
        (replicate,), (timing,) = replicates, self._rows_of(TIMINGS, key)
        intervals = [IntervalRow(**row) for row in self._rows_of(INTERVALS, key)]
        order = self.description["methods"]
        return ReplicateRow(
            key,
            **{name: value for name, value in replicate.items() if name != "seed"},
            seconds=timing["seconds"],
            intervals=tuple(sorted(intervals, key=lambda row: order.index(row.method))),
            expected=tuple(ExpectedError(**row) for row in self._rows_of(EXPECTED, key)),
        )

    def frame(self, table: StoredTable) -> pd.DataFrame:
        """Return one row per row of a table, in the order of its key.

        Parameters
        ----------
        table : StoredTable
            A table in `cudbound.study.run.rows`, which documents its columns.
        """
        with naming_store(self.path):
            return read_frame(self._connection, table)

    def runs(self) -> list[dict[str, str]]:
        """Return the versions, the computer and the shard, if any, of each run of the study."""
        return [json.loads(text) for (text,) in self._select("SELECT environment FROM runs ORDER BY run")]

    def versions(self) -> list[str]:
        """Return the versions of runs, one text per run, each text once."""
        texts = (
            ", ".join(f"{name} {value}" for name, value in run.items() if name not in {"machine", "shard"})
            for run in self.runs()
        )
        return list(dict.fromkeys(texts))

    def status(self) -> StudyStatus:
        """Return the status of the study."""
        description = self.description
        # SQLite takes a column by itself from the row that has the minimum
        rows = self._select(
            "SELECT scenario, n, count(*), count(failure), min(iif(failure IS NULL, NULL, replicate)), failure "
            "FROM replicates GROUP BY scenario, n"
        )
        counts = {(scenario, n): counted for scenario, n, *counted in rows}
        cells = []
        for cell, n_each in cells_of(description).items():
            done, failed, first, failure = counts.get(cell, (0, 0, None, None))
            cells.append(CellStatus(*cell, done, failed, n_each, first, failure and reason(failure)))
        ((begun,),) = self._select("SELECT max(begun) FROM runs")
        ((n_new, last),) = self._select(
            "SELECT count(*), max(finished) FROM timings WHERE finished >= ?", begun
        )
        n_done, n_total = sum(cell.n_done for cell in cells), sum(cell.n_total for cell in cells)
        rate = n_new / (last - begun) if n_new and last > begun else None
        running = is_locked(self.path)
        n_left = sum(map(len, self.missing(self.shard).values())) if running and rate is not None else 0
        end = datetime.fromtimestamp(last) + timedelta(seconds=n_left / rate) if n_left and rate else None
        n_failed = sum(cell.n_failed for cell in cells)
        return StudyStatus(description["name"], n_done, n_failed, n_total, running, rate, end, tuple(cells))

    def _select(self, query: str, *values: object) -> list[Any]:
        with naming_store(self.path):
            return self._connection.execute(query, values).fetchall()

    def _rows_of(self, table: StoredTable, key: Key) -> list[dict[str, Any]]:
        """Return the rows of a replicate, in the order of the table's key, by column name."""
        query = table.select("WHERE scenario = ? AND n = ? AND replicate = ?")
        rows = self._select(query, key.scenario, int(key.n), int(key.replicate))
        return [dict(zip(table.columns[3:], row[3:], strict=True)) for row in rows]

    def _insert(self, table: StoredTable, *rows: tuple[object, ...]) -> None:
        marks = ", ".join("?" * len(table.types))
        self._connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", rows)

    def _begin_run(self, study: Study, shard: Shard | None, new: bool) -> None:
        environment = {
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}",
            **{name: version(name) for name in PACKAGES},
        }
        if shard is not None:
            environment["shard"] = "{}/{}".format(*shard)
        if not new:
            self.check_study(study, "undo the change, or use another store for the changed study")
        with naming_store(self.path), transaction(self._connection):
            if new:
                create_tables(self._connection)
            self._connection.execute(
                "INSERT OR REPLACE INTO study VALUES (1, ?)", (json.dumps(describe(study)),)
            )
            self._connection.execute(
                "INSERT INTO runs (begun, environment) VALUES (?, ?)", (time.time(), json.dumps(environment))
            )


def _seed(study: Study, key: Key) -> str:
    """Return the seed of a replicate as a line of Python."""
    sequence: Any = study.rng(key.scenario, key.n, key.replicate).bit_generator.seed_seq
    return f"numpy.random.SeedSequence({sequence.entropy})"


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
