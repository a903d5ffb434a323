"""The store of a study, one SQLite file with every replicate and every interval; the stores of shards are merged."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from cudbound.basis.calls import public_call, versions
from cudbound.basis.exceptions import StudyError
from cudbound.report.render import Tabular
from cudbound.report.tables import FULL, Column, Report, Run, Style
from cudbound.study import replicate as replicates
from cudbound.study.replicate import Key, ReplicateRow, Shard
from cudbound.study.scenario import Study, cells_of, describe, differences, shown

if TYPE_CHECKING:
    import pandas as pd


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
        The smallest number of a failed replicate, which `cudbound.study.replay` reruns; None without failures.
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
class StudyStatus(Tabular):
    """The status of a study; prints as a table, with the same output formats as other tables.

    Attributes
    ----------
    name : str
        Name of the study.
    n_done, n_failed, n_total : int
        Replicates; the failed ones are among those done.
    running : bool
        Whether a run is writing to the store now.
    cells : tuple of CellStatus
        In the order of the study.
    """

    name: str
    n_done: int
    n_failed: int
    n_total: int
    running: bool
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
        running = "A run is writing to the store." if self.running else "No run is writing to the store."
        notes = (running, *self.failures)
        return Report("cells", f"{self.name}: {done}", notes, columns, rows, self.to_frame)

    @property
    def failures(self) -> tuple[str, ...]:
        """The first failure of each cell that has one, in words."""
        return tuple(
            f"First failure of {cell.scenario}, n = {cell.n}: replicate {cell.first_failure}, {cell.reason}"
            for cell in self.cells
            if cell.first_failure is not None
        )


class Store(AbstractContextManager["Store"]):
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
    >>> from cudbound.study.scenario import Scenario, Study
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
        store = cls(Path(":memory:"), sqlite3.connect(":memory:", isolation_level=None), study)
        store._begin_run(study, None, new=True)
        return store

    def __exit__(self, *_: object) -> None:
        self._on_close.close()

    @property
    def description(self) -> dict[str, Any]:
        """The study in words and numbers, from `cudbound.study.scenario.describe`."""
        ((text,),) = self._select("SELECT description FROM study")
        description: dict[str, Any] = json.loads(text)
        return description

    @property
    def shard(self) -> Shard | None:
        """The shard of the last run; None for the whole study."""
        ((_, environment),) = self._select("SELECT max(begun), environment FROM runs")
        text = json.loads(environment).get("shard")
        return None if text is None else replicates.read_shard(text)

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
                scenario, n, replicate = vars(row.key).values()
                results = replicates.results_of(row, _seed(study, row.key))
                values = (scenario, int(n), int(replicate), row.failure, results, row.seconds, now)
                self._connection.execute("INSERT INTO replicates VALUES (?, ?, ?, ?, ?, ?, ?)", values)

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
            cell: [
                number for number in replicates.replicates_of(shard, n_each) if Key(*cell, number) not in done
            ]
            for cell, n_each in cells_of(description).items()
        }
        return {cell: left for cell, left in cells.items() if left}

    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """Return the replicates, the intervals and the expected errors, as `frames_of` does, in the order of keys."""
        with naming_store(self.path):
            return replicates.frames_of(
                self._select(f"SELECT {KEY}, failure, results, seconds FROM replicates ORDER BY {KEY}")
            )

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
            cells.append(
                CellStatus(*cell, done, failed, n_each, first, failure and replicates.reason(failure))
            )
        n_done, n_total = sum(cell.n_done for cell in cells), sum(cell.n_total for cell in cells)
        running = is_locked(self.path)
        n_failed = sum(cell.n_failed for cell in cells)
        return StudyStatus(description["name"], n_done, n_failed, n_total, running, tuple(cells))

    def _select(self, query: str, *values: object) -> list[Any]:
        with naming_store(self.path):
            return self._connection.execute(query, values).fetchall()

    def _begin_run(self, study: Study, shard: Shard | None, new: bool) -> None:
        environment = {
            **versions(),
            "machine": f"{platform.system()} {platform.machine()}",
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


#: Version of the tables below; another number means other tables.
SCHEMA_VERSION = 6
#: Marks the file as ours in its header: "cudb".
APPLICATION_ID = 0x63756462
#: Seconds to wait for another program that is reading or writing the file.
BUSY_SECONDS = 30.0
#: Seconds to wait for the lock of the writing run; longer than `is_locked` holds it, but not noticeable.
LOCK_SECONDS = 1.0
#: Kilobytes of the file kept in memory, enough for the pages of all cells.
CACHE_KILOBYTES = 64 * 1024

KEY = "scenario, n, replicate"
#: What depends only on the study: a traceback also depends on the place of the package.
COMPARED = f"{KEY}, failure IS NULL, results"
#: The statements that create the tables and mark the file.
TABLES = (
    "CREATE TABLE study (id INTEGER PRIMARY KEY CHECK (id = 1), description TEXT NOT NULL)",
    "CREATE TABLE runs (run INTEGER PRIMARY KEY, begun REAL NOT NULL, environment TEXT NOT NULL)",
    # the failure is a traceback, or missing; the key is stored in the table itself, so reading needs no sorting
    "CREATE TABLE replicates (scenario TEXT NOT NULL, n INTEGER NOT NULL, replicate INTEGER NOT NULL, failure TEXT, "
    "results TEXT NOT NULL, seconds REAL NOT NULL, finished REAL NOT NULL, "
    f"PRIMARY KEY ({KEY})) WITHOUT ROWID",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)


def store_error(path: Path, text: str) -> StudyError:
    """Return an error that names the store; the text has the problem and the remedy."""
    return StudyError(f"store {str(path)!r}: {text}")


@contextmanager
def naming_store(path: Path) -> Iterator[None]:
    """Convert errors of SQLite and the operating system to an error that names the store.

    Raises
    ------
    StudyError
        Instead of any `sqlite3.Error` or `OSError`, and if stored values cannot be read.
    """
    try:
        yield
    except StudyError:
        raise
    except (sqlite3.Error, OSError, ValueError, TypeError) as error:
        raise store_error(
            path,
            f"it cannot be read or written ({error}); check that it is a store, that its folder is writable and that "
            "the disk has room, then run the same command again: stored results are kept",
        ) from error


def connect(path: Path, mode: str) -> tuple[sqlite3.Connection, bool]:
    """Open a store, and return whether it is a new file without tables.

    Parameters
    ----------
    path : Path
    mode : {"r", "w"}
        For reading, possible while a run is writing, or for writing, which creates a missing file.

    Raises
    ------
    StudyError
        If the file is missing, is not a store, has another version, or cannot be opened.
    """
    if mode == "r" and not path.is_file():
        raise store_error(path, "there is no such file; give the store of a study that was run")
    # a run that was killed may have left a transaction to undo, which takes the right to write
    opened_to = "rwc" if mode == "w" else "rw" if os.access(path, os.W_OK) else "ro"
    with naming_store(path), ExitStack() as on_error:
        uri = f"{path.absolute().as_uri()}?mode={opened_to}"
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        on_error.callback(connection.close)
        n_pages, kind, schema = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "application_id", "user_version")
        )
        new = mode == "w" and not n_pages
        if not new and kind != APPLICATION_ID:
            raise store_error(path, "it is not a store of a study; choose another file")
        if not new and schema != SCHEMA_VERSION:
            raise store_error(
                path,
                f"it has version {schema}, but this cudbound reads version {SCHEMA_VERSION}; run the study again into "
                "a new store",
            )
        connection.execute(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")
        connection.execute(f"PRAGMA query_only = {mode == 'r'}")
        on_error.pop_all()
    return connection, new


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables of an empty store, in the open transaction."""
    for statement in TABLES:
        connection.execute(statement)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Write everything inserted within the block, or nothing after any exception, including Ctrl-C."""
    with connection:  # commits, or rolls back what SQLite has not undone by itself
        connection.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def writer_lock(path: Path, seconds: float | None = None) -> Iterator[None]:
    """Hold the lock of the one run that writes a store; the operating system releases it if that run is killed.

    It locks an empty file next to the store, because a lock on the store itself would block readers. The file is
    removed while the lock is held: a waiting process then finds that its lock belongs to no file, and starts over.

    Parameters
    ----------
    path : Path
    seconds : float or None, default=None
        Time to wait for it; None waits as long as another process needs to check whether the store is locked.

    Raises
    ------
    StudyError
        If another run holds it, or the file next to the store cannot be written.
    """
    place = _lock_file(path)
    if not place.parent.is_dir():  # the lock would make one
        raise store_error(path, "its folder does not exist; create it, or choose another")
    lock = FileLock(place, timeout=LOCK_SECONDS if seconds is None else seconds, thread_local=False)
    with naming_store(path):
        try:
            lock.acquire()
        except Timeout as error:
            raise store_error(
                path, "another run is writing to it; wait for that run to end, or stop it"
            ) from error
    try:
        yield
    finally:
        with suppress(OSError):  # some systems keep a file that is open; an empty one then stays behind
            place.unlink()
        lock.release()


def is_locked(path: Path) -> bool:
    """Whether a run is writing to the store."""
    if not _lock_file(path).exists():
        return False
    try:
        with writer_lock(path, 0.0):
            return False
    except StudyError:
        return True


def _lock_file(path: Path) -> Path:
    return path.with_name(f"{path.name}-lock")


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
    >>> from cudbound.study.design_file import read_design, template_text
    >>> from cudbound.study.runner import run_study
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
    stored_twice = (
        f"SELECT {COMPARED} FROM part.replicates WHERE ({KEY}) IN (SELECT {KEY} FROM main.replicates)"
    )
    row = connection.execute(
        f"{stored_twice} EXCEPT SELECT {COMPARED} FROM main.replicates LIMIT 1"
    ).fetchone()
    if row is not None:
        scenario, n, replicate, *_ = row
        raise store_error(
            path,
            f"its replicate {replicate} of scenario {scenario!r} at n = {n} differs from that in another part; run the "
            "replicate again, with replay, to see which is correct, and leave the other store out",
        )
    connection.execute("INSERT OR IGNORE INTO main.replicates SELECT * FROM part.replicates")
