"""The store of a study: one SQLite file with every replicate and every interval."""

from __future__ import annotations

import hashlib
import json
import platform
import sqlite3
import time
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudbound.study.design.identity import cells_of, describe, differences, shown
from cudbound.study.design.scenario import Study
from cudbound.study.run.replicate_rows import (
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
from cudbound.study.run.status import CellStatus, StudyStatus
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


#: Packages whose versions are recorded with every run.
PACKAGES = ("cudbound", "numpy", "scipy", "scikit-learn", "joblib")


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
        """The study in words and numbers, from `cudbound.study.design.identity.describe`."""
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
            A table in `cudbound.study.run.replicate_rows`, which documents its columns.
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
