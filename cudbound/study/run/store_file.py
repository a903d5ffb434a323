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
from cudbound.study.run.replicate_rows import last_line
from cudbound.study.run.store_tables import METHOD_TIMINGS, RESULTS, TIMINGS

#: Of the tables below; another number means other tables.
SCHEMA_VERSION = 4
#: Marks the file as ours in its header: "cudb".
APPLICATION_ID = 0x63756462
#: Seconds to wait for another program that reads or writes the file.
BUSY_SECONDS = 30.0
#: Seconds to wait for the lock of the run that writes; longer than `is_locked` holds it, and a person does not wait.
LOCK_SECONDS = 1.0
#: Kilobytes of the file that are kept in memory, so that rows of all cells find their page.
CACHE_KILOBYTES = 64 * 1024

#: The statements that create the tables.
TABLES = (
    "CREATE TABLE study (id INTEGER PRIMARY KEY CHECK (id = 1), description TEXT NOT NULL)",
    "CREATE TABLE runs (run INTEGER PRIMARY KEY, begun REAL NOT NULL, environment TEXT NOT NULL)",
    *(table.definition for table in (*RESULTS, METHOD_TIMINGS, TIMINGS)),
)


def store_error(path: Path, text: str) -> StudyError:
    """Return an error that names the store; the text says what is wrong with it, and how to continue."""
    return StudyError(f"store {str(path)!r}: {text}")


@contextmanager
def naming_store(path: Path) -> Iterator[None]:
    """Turn what SQLite and the operating system say into an error that names the store.

    Raises
    ------
    StudyError
        In place of any `sqlite3.Error` or `OSError`, and where what is stored cannot be read.
    """
    try:
        yield
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
        raise store_error(
            path,
            f"it cannot be read or written ({error}); see whether it is a store, its folder can be written and the "
            "disk has room, then run the same command again: what was stored before is kept",
        ) from error


def connect(path: Path, mode: str) -> tuple[sqlite3.Connection, bool]:
    """Open a store, and say whether it is a new file that has no tables yet.

    Parameters
    ----------
    path : Path
    mode : {"r", "w"}
        To read, also while a run writes it, or to write, which makes a file where there is none.

    Raises
    ------
    StudyError
        If the file is missing, is no store or one of another version, or cannot be opened.
    """
    if mode == "r" and not path.is_file():
        raise store_error(path, "there is no such file; name the store that a study was run into")
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
    """Open an empty store that no file keeps."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _prepare(connection)
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.create_function("last_line", 1, last_line, deterministic=True)
    # one object for texts that are equal: a frame is then a tenth of the size
    connection.text_factory = lambda text: sys.intern(text.decode())


def _is_new(connection: sqlite3.Connection, path: Path, *, may_be_empty: bool) -> bool:
    """Refuse a file that is no store of this version; return whether it is empty, as a new one is."""
    n_pages, kind, found = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "application_id", "user_version")
    )
    if may_be_empty and not n_pages:
        return True
    if kind != APPLICATION_ID:
        raise store_error(path, "it is no store of a study; name another file")
    if found != SCHEMA_VERSION:
        raise store_error(
            path,
            f"it is of version {found}, and this cudbound reads version {SCHEMA_VERSION}; run the study again into a "
            "new store",
        )
    return False


def create_tables(connection: sqlite3.Connection) -> None:
    """Lay out an empty store, inside the transaction that is open."""
    for statement in TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Write all that is inserted inside, or after any exception, Ctrl-C among them, nothing."""
    with connection:  # commits, or rolls back what SQLite has not undone by itself
        connection.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def writer_lock(path: Path, seconds: float | None = None) -> Iterator[None]:
    """Hold what only the one run has that writes a store; the operating system frees it if that run is killed.

    It is the lock of an empty file beside the store, because one on the store itself would keep readers out. The file
    is removed while the lock is held: whoever waits for it then finds that the lock it gets is one of no file, and
    begins anew.

    Parameters
    ----------
    path : Path
    seconds : float or None, default=None
        How long to wait for it; None waits as long as another process takes to look whether the store is locked.

    Raises
    ------
    StudyError
        If another run holds it, or the file beside the store cannot be written.
    """
    place = _lock_file(path)
    if not place.parent.is_dir():  # the lock would make one
        raise store_error(path, "its folder is not there; make it, or name another")
    lock = FileLock(place, timeout=LOCK_SECONDS if seconds is None else seconds, thread_local=False)
    with naming_store(path):
        try:
            lock.acquire()
        except Timeout as error:
            raise store_error(
                path, "another run is writing it; wait for that run to end, or stop it"
            ) from error
    try:
        yield
    finally:
        with suppress(OSError):  # some systems keep a file that is open; an empty one then stays behind
            place.unlink()
        lock.release()


def is_locked(path: Path) -> bool:
    """Whether a run is writing the store."""
    if not _lock_file(path).exists():
        return False
    try:
        with writer_lock(path, 0.0):
            return False
    except StudyError:
        return True


def _lock_file(path: Path) -> Path:
    return path.with_name(f"{path.name}-lock")
