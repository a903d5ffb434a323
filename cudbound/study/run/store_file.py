"""The SQLite file of a study: opened, created, locked, and refused in plain words."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from cudbound.exceptions import StudyError
from cudbound.study.run.rows import last_line
from cudbound.study.run.store_columns import METHOD_TIMINGS, RESULTS, TIMINGS

#: Of the tables below; another number means other tables.
SCHEMA_VERSION = 3
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

_REMEDIES = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and run the study again, what was stored before is kept",
    sqlite3.SQLITE_BUSY: "another program is using it; close that program and try again",
    sqlite3.SQLITE_READONLY: "it cannot be written; change its permissions, or those of its folder, or name another",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; name a file in a folder that you can write to",
    sqlite3.SQLITE_PERM: "it cannot be opened; change its permissions, or those of its folder, or name another",
    sqlite3.SQLITE_NOTADB: "it is no store of a study; name another file",
    sqlite3.SQLITE_CORRUPT: "it is damaged; continue from a copy or start a new store",
    # a quota or a limit on the size of files gives this one, too
    sqlite3.SQLITE_IOERR: "the disk could not be read or written; check it, its space and your quota, and run the "
    "study again, what was stored before is kept",
    sqlite3.SQLITE_CONSTRAINT: "another run has stored the same replicates; let one run write at a time",
}


def store_error(path: Path, text: str) -> StudyError:
    """Return an error that names the store; the text says what is wrong with it, and how to continue."""
    return StudyError(f"store {str(path)!r}: {text}")


@contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite says into an error that names the file and says how to continue.

    Raises
    ------
    StudyError
        In place of any `sqlite3.Error`, where a text is damaged, and where a folder is closed.
    """
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        primary = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the higher bits are details
        remedy = _REMEDIES.get(primary, "it cannot be used; name another")
        raise store_error(path, f"{remedy} ({error})") from error
    except PermissionError as error:  # of a folder above it
        raise store_error(path, _REMEDIES[sqlite3.SQLITE_PERM]) from error


@contextmanager
def _opening(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """Connect to a store or an empty file, and close it again if that or what is done with it fails."""
    with clear_errors(path), ExitStack() as on_error:
        connection = _connect(path, mode)
        on_error.callback(connection.close)
        _check_kind(connection, path)
        yield connection
        on_error.pop_all()


def connect_for_reading(path: Path) -> sqlite3.Connection:
    """Open a store to read it, also while a run writes it.

    Raises
    ------
    StudyError
        If it is missing, no store, or a store of another version.
    """
    with clear_errors(path):
        if not path.is_file():
            raise store_error(path, "there is no such file; name the store that a study was run into")
    # a run that was killed may have left a transaction to undo, which takes the right to write
    with _opening(path, "rw" if os.access(path, os.W_OK) else "ro") as connection:
        if _is_empty(connection):
            raise store_error(path, "it holds no study; name another file")
        connection.execute("PRAGMA query_only = ON")
    return connection


def connect_for_writing(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Open a store to write it, and make one where there is none; say whether it is new and has no tables yet.

    Raises
    ------
    StudyError
        If it cannot be written, is no store, or is a store of another version.
    """
    with _opening(path, "rwc") as connection:
        connection.execute(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")
        new = _is_empty(connection)
        # takes the lock of a writer and gives it back, so that a file that cannot be written is refused now
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("ROLLBACK")
    return connection, new


def create_tables(connection: sqlite3.Connection) -> None:
    """Lay out an empty store, inside the transaction that is open."""
    for statement in TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Write all that is inserted inside, or after any exception, Ctrl-C among them, nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # SQLite has undone it by itself, on a full disk for instance
            connection.execute("ROLLBACK")
        raise


class WriterLock:
    """Held by the one run that writes a store; the operating system frees it if that run is killed.

    The lock is that of an empty SQLite file beside the store, because one on the store itself would keep readers out.

    Raises
    ------
    StudyError
        If another run holds it, or the file beside the store cannot be written.
    """

    def __init__(self, path: Path):
        self._file = _lock_file(path)
        with clear_errors(path):
            self._connection = _connect(self._file, "rwc", LOCK_SECONDS)
            try:
                self._connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    self.release()
                    raise
                self._connection.close()
                raise store_error(
                    path, "another run is writing it; wait for that run to end, or stop it"
                ) from error

    def release(self) -> None:
        """Let other runs write."""
        with suppress(OSError):  # some systems keep a file that is open; an empty one then stays behind
            self._file.unlink()
        self._connection.close()


def is_locked(path: Path) -> bool:
    """Whether a run is writing the store."""
    try:
        with closing(_connect(_lock_file(path), "ro", 0.0)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema")
    except sqlite3.OperationalError as error:  # also where there is no such file
        return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
    return False


def _lock_file(path: Path) -> Path:
    return path.with_name(f"{path.name}-lock")


def _connect(path: Path, mode: str, timeout: float | None = None) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS if timeout is None else timeout,
        isolation_level=None,
    )
    # one object for texts that are equal: a frame is then a tenth of the size
    connection.text_factory = lambda text: sys.intern(text.decode())
    connection.create_function("last_line", 1, last_line, deterministic=True)
    return connection


def _is_empty(connection: sqlite3.Connection) -> bool:
    return not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def _check_kind(connection: sqlite3.Connection, path: Path) -> None:
    kind = connection.execute("PRAGMA application_id").fetchone()[0]
    if kind != APPLICATION_ID and not _is_empty(connection):
        raise store_error(path, "it is an SQLite file of another program; name another file")
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if kind == APPLICATION_ID and found != SCHEMA_VERSION:
        raise store_error(
            path,
            f"it is of version {found}, and this cudbound reads version {SCHEMA_VERSION}; use the cudbound that "
            "wrote it, or start a new store",
        )
