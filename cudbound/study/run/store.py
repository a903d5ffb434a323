"""The store of a study: one SQLite file with every replicate and every interval."""

from __future__ import annotations

import json
import platform
import sqlite3
import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudbound.exceptions import StudyError
from cudbound.study.design.identity import describe, differences, shown
from cudbound.study.design.scenario import Study
from cudbound.study.run.rows import ExpectedError, IntervalRow, Key, ReplicateRow
from cudbound.study.run.status import CellStatus, StudyStatus
from cudbound.study.run.store_columns import (
    EXPECTED,
    INTERVALS,
    METHOD_TIMINGS,
    REPLICATES,
    TIMINGS,
    read_frame,
)
from cudbound.study.run.store_file import (
    WriterLock,
    clear_errors,
    connect_for_reading,
    connect_for_writing,
    create_tables,
    is_locked,
    transaction,
)

if TYPE_CHECKING:
    import pandas as pd

#: Packages whose versions are noted with every run.
PACKAGES = ("cudbound", "numpy", "scipy", "scikit-learn", "joblib")


class Store:
    """The results of a study, read with `Store.open` and written with `Store.resume`.

    Guarantee
    ---------
    Replicates are stored in whole batches, in one transaction each: a run that is killed at any moment leaves all
    batches that were stored before, and no part of another. Numbers are stored in full precision. What `dump` yields
    depends on the study alone, not on the order of storing, interruptions or time.

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

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        study: Study | None = None,
        lock: WriterLock | None = None,
    ):
        self.path = path
        self._connection = connection
        self._study = study
        self._lock = lock

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """Open a store to read it; a run may write it at the same time.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        StudyError
            If the file is missing, is no store, or is a store of another version.
        """
        place = Path(path)
        return cls(place, connect_for_reading(place))

    @classmethod
    def resume(cls, path: str | Path, study: Study) -> Store:
        """Open a store to write results of a study; make one where there is none.

        Parameters
        ----------
        path : str or path
        study : Study
            The study that the store was made for. It may have more replicates, sizes and scenarios than before.

        Raises
        ------
        StudyError
            If the store holds another study: the differences are shown. If another run writes it, or it cannot be
            written, is no store, or is a store of another version. The store stays as it was.
        """
        place = Path(path)
        lock = WriterLock(place)
        try:
            connection, new = connect_for_writing(place)
            store = cls(place, connection, study, lock)
            try:
                store._begin_run(new)
            except BaseException:
                connection.close()
                raise
        except BaseException:
            lock.release()
            raise
        return store

    def close(self) -> None:
        """Close the file; closing twice does nothing."""
        self._connection.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def description(self) -> dict[str, Any]:
        """The study in words and numbers, as `cudbound.study.design.identity.describe` gives it."""
        with clear_errors(self.path):
            text = self._connection.execute("SELECT description FROM study").fetchone()[0]
        described: dict[str, Any] = json.loads(text)
        return described

    def add(self, rows: Iterable[ReplicateRow]) -> None:
        """Store replicates, all of them or, if that fails, none.

        Raises
        ------
        StudyError
            If the store was opened to be read, the disk is full, or a replicate is there already.
        """
        if self._study is None:
            raise StudyError(f"store {str(self.path)!r}: it was opened to be read; open it with Store.resume")
        batch = list(rows)
        now = time.time()
        stored = (
            (REPLICATES, [REPLICATES.values(row.key, row, seed=self._seed(row.key)) for row in batch]),
            (INTERVALS, [INTERVALS.values(row.key, one) for row in batch for one in row.intervals]),
            (EXPECTED, [EXPECTED.values(row.key, one) for row in batch for one in row.expected]),
            (
                METHOD_TIMINGS,
                [
                    METHOD_TIMINGS.values(row.key, method=method, seconds=seconds)
                    for row in batch
                    for method, seconds in row.method_seconds.items()
                ],
            ),
            (TIMINGS, [TIMINGS.values(row.key, seconds=row.seconds, finished=now) for row in batch]),
        )
        with clear_errors(self.path), transaction(self._connection):
            for table, values in stored:
                marks = ", ".join("?" * len(table.types))
                self._connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", values)

    def finished(self) -> set[Key]:
        """Return the replicates that are stored, failed ones among them."""
        with clear_errors(self.path):
            return {
                Key(*row) for row in self._connection.execute("SELECT scenario, n, replicate FROM replicates")
            }

    def replicate(self, key: Key) -> ReplicateRow:
        """Return one replicate with its intervals in the order of the study's methods.

        Raises
        ------
        StudyError
            If it is not stored.
        """
        where = "WHERE scenario = ? AND n = ? AND replicate = ?"
        with clear_errors(self.path):
            found = self._connection.execute(
                "SELECT truth, truth_se, training_error, n_redrawn, failure, seconds "
                f"FROM replicates JOIN timings USING (scenario, n, replicate) {where}",
                _key_values(key),
            ).fetchone()
            columns = ", ".join(INTERVALS.columns[3:])
            intervals = [
                IntervalRow(*values)
                for values in self._connection.execute(
                    f"SELECT {columns} FROM intervals {where}", _key_values(key)
                )
            ]
            expected = [
                ExpectedError(*values)
                for values in self._connection.execute(
                    f"SELECT n_train, truth, truth_se FROM expected_errors {where} ORDER BY n_train",
                    _key_values(key),
                )
            ]
        if found is None:
            raise StudyError(
                f"store {str(self.path)!r}: it has no replicate {key.replicate} of scenario {key.scenario!r} "
                f"at n = {key.n}; run the study on, or name one that is stored"
            )
        order = {method: place for place, method in enumerate(self.description["methods"])}
        intervals.sort(key=lambda row: order[row.method])
        truth, truth_se, training_error, n_redrawn, failure, seconds = found
        return ReplicateRow(
            key,
            truth,
            truth_se,
            training_error,
            n_redrawn,
            failure,
            tuple(intervals),
            seconds,
            tuple(expected),
        )

    def replicates_frame(self) -> pd.DataFrame:
        """Return one row per replicate in the order of scenario, n and replicate.

        Returns
        -------
        DataFrame
            Columns ``scenario``, ``n``, ``replicate``, ``truth``, ``truth_se``, ``training_error``, ``n_redrawn``,
            ``failure`` (a traceback, or missing) and ``seed``.
        """
        with clear_errors(self.path):
            return read_frame(self._connection, REPLICATES)

    def rows_frame(self) -> pd.DataFrame:
        """Return one row per interval in the order of scenario, n, replicate and method.

        Returns
        -------
        DataFrame
            Columns ``scenario``, ``n``, ``replicate``, and the attributes of `cudbound.study.run.rows.IntervalRow`.
        """
        with clear_errors(self.path):
            return read_frame(self._connection, INTERVALS)

    def expected_frame(self) -> pd.DataFrame:
        """Return one row per further sample in the order of its key.

        Returns
        -------
        DataFrame
            Columns ``scenario``, ``n``, ``replicate``, and the attributes of `cudbound.study.run.rows.ExpectedError`.
        """
        with clear_errors(self.path):
            return read_frame(self._connection, EXPECTED)

    def method_timings_frame(self) -> pd.DataFrame:
        """Return the ``seconds`` that methods took by themselves, one row per timed replicate and method."""
        with clear_errors(self.path):
            return read_frame(self._connection, METHOD_TIMINGS)

    def timings_frame(self) -> pd.DataFrame:
        """Return one row per replicate: how many ``seconds`` it took, and when it was ``finished`` in Unix seconds."""
        with clear_errors(self.path):
            return read_frame(self._connection, TIMINGS)

    def runs_frame(self) -> pd.DataFrame:
        """Return one row per run of the study: when it began, and the versions and computer it began with."""
        import pandas as pd

        with clear_errors(self.path):
            found = self._connection.execute("SELECT begun, environment FROM runs ORDER BY run").fetchall()
        return pd.DataFrame([{"begun": begun, **json.loads(environment)} for begun, environment in found])

    def dump(self) -> Iterator[tuple[object, ...]]:
        """Yield all results in the order of their keys, without times, to compare two stores.

        A failure is its last line, the error with its message: paths in a traceback differ between computers.
        """
        with clear_errors(self.path):
            for row in self._connection.execute(REPLICATES.query):
                failure = row[7] if row[7] is None else row[7].rstrip().splitlines()[-1]
                yield ("replicate", *row[:7], failure, row[8])
            for row in self._connection.execute(INTERVALS.query):
                yield ("interval", *row)
            for row in self._connection.execute(EXPECTED.query):
                yield ("expected", *row)

    def status(self) -> StudyStatus:
        """Return how far the study is."""
        described = self.description
        with clear_errors(self.path):
            counts = {
                (scenario, n): (done, failed)
                for scenario, n, done, failed in self._connection.execute(
                    "SELECT scenario, n, count(*), count(failure) FROM replicates GROUP BY scenario, n"
                )
            }
            begun = self._connection.execute("SELECT max(begun) FROM runs").fetchone()[0]
            n_new, last = self._connection.execute(
                "SELECT count(*), max(finished) FROM timings WHERE finished >= ?", (begun,)
            ).fetchone()
        n_each = described["n_replicates"]
        cells = tuple(
            CellStatus(scenario, n, *counts.get((scenario, n), (0, 0)), n_each)
            for scenario in described["scenarios"]
            for n in described["n_samples"]
        )
        n_done, n_total = sum(cell.n_done for cell in cells), sum(cell.n_total for cell in cells)
        rate = n_new / (last - begun) if n_new and last > begun else None
        running = is_locked(self.path)
        end = None
        if running and rate is not None and n_done < n_total:
            end = datetime.fromtimestamp(last) + timedelta(seconds=(n_total - n_done) / rate)
        n_failed = sum(cell.n_failed for cell in cells)
        return StudyStatus(described["name"], n_done, n_failed, n_total, running, rate, end, cells)

    def _begin_run(self, new: bool) -> None:
        assert self._study is not None
        now = describe(self._study)
        environment = {
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}",
        }
        environment.update((name, version(name)) for name in PACKAGES)
        if not new and (found := differences(self.description, now)):
            raise StudyError(
                f"store {str(self.path)!r}: it holds results of another study ({shown(found)}); undo the change, "
                "or name another store for the changed study"
            )
        with clear_errors(self.path), transaction(self._connection):
            if new:
                create_tables(self._connection)
            self._connection.execute("INSERT OR REPLACE INTO study VALUES (1, ?)", (json.dumps(now),))
            self._connection.execute(
                "INSERT INTO runs (begun, environment) VALUES (?, ?)", (time.time(), json.dumps(environment))
            )

    def _seed(self, key: Key) -> str:
        """Return the seed of a replicate as a line of Python."""
        assert self._study is not None
        sequence: Any = self._study.rng(key.scenario, key.n, key.replicate).bit_generator.seed_seq
        return f"numpy.random.SeedSequence({sequence.entropy})"


def _key_values(key: Key) -> tuple[str, int, int]:
    return key.scenario, int(key.n), int(key.replicate)
