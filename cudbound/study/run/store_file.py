"""The SQLite file of a study: opened, created, locked, and written in transactions."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from cudbound.basis.exceptions import StudyError
from cudbound.study.run.replicate_rows import RESULTS, TIMINGS, last_line

#: Version of the tables below; another number means other tables.
SCHEMA_VERSION = 5
#: Marks the file as ours in its header: "cudb".
APPLICATION_ID = 0x63756462
#: Seconds to wait for another program that is reading or writing the file.
BUSY_SECONDS = 30.0
#: Seconds to wait for the lock of the writing run; longer than `is_locked` holds it, but not noticeable.
LOCK_SECONDS = 1.0
#: Kilobytes of the file kept in memory, enough for the pages of all cells.
CACHE_KILOBYTES = 64 * 1024

#: The statements that create the tables.
TABLES = (
    "CREATE TABLE study (id INTEGER PRIMARY KEY CHECK (id = 1), description TEXT NOT NULL)",
    "CREATE TABLE runs (run INTEGER PRIMARY KEY, begun REAL NOT NULL, environment TEXT NOT NULL)",
    *(table.definition for table in (*RESULTS, TIMINGS)),
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
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
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
    with naming_store(path):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={opened_to}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
        )
    _prepare(connection)
    try:
        with naming_store(path):
            new = _is_new(connection, path, may_be_empty=mode == "w")
            connection.execute(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")
            connection.execute(f"PRAGMA query_only = {mode == 'r'}")
    except BaseException:
        connection.close()
        raise
    return connection, new


def connect_in_memory() -> sqlite3.Connection:
    """Open an empty store in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _prepare(connection)
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.create_function("last_line", 1, last_line, deterministic=True)
    # one object for texts that are equal: a frame is then a tenth of the size
    connection.text_factory = lambda text: sys.intern(text.decode())


def _is_new(connection: sqlite3.Connection, path: Path, *, may_be_empty: bool) -> bool:
    """Raise for a file that is not a store of this version; return whether it is empty, as a new file is."""
    n_pages, kind, schema = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "application_id", "user_version")
    )
    if may_be_empty and not n_pages:
        return True
    if kind != APPLICATION_ID:
        raise store_error(path, "it is not a store of a study; choose another file")
    if schema != SCHEMA_VERSION:
        raise store_error(
            path,
            f"it has version {schema}, but this cudbound reads version {SCHEMA_VERSION}; run the study again into a "
            "new store",
        )
    return False


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables of an empty store, in the open transaction."""
    for statement in TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


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
