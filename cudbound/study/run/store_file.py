"""The SQLite file of a study: opened, created, locked, and refused in plain words."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from cudbound.exceptions import StudyError
from cudbound.study.run.rows import last_line
from cudbound.study.run.store_check import (
    WrongContentsError,
    check_description,
    check_keys,
    check_rows,
    check_run,
    check_tables,
    read_json,
)
from cudbound.study.run.store_columns import METHOD_TIMINGS, RESULTS, TIMINGS

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
    except WrongContentsError as error:
        raise store_error(
            path, f"{error}; it is damaged, or another program wrote it: name another file"
        ) from error
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
        if path.exists() and not path.is_file():  # SQLite would wait for ever for who writes to a pipe
            raise store_error(path, f"{_REMEDIES[sqlite3.SQLITE_CANTOPEN]} (it is no file)")
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
        _check_contents(connection)
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
        if not new:
            _check_contents(connection)
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


@contextmanager
def writer_lock(path: Path) -> Iterator[None]:
    """Hold what only the one run has that writes a store; the operating system frees it if that run is killed.

    It is the lock of an empty file beside the store, because one on the store itself would keep readers out. The file
    is removed while the lock is held: whoever waits for it then finds that the lock it gets is one of no file, and
    begins anew.

    Raises
    ------
    StudyError
        If another run holds it, or the file beside the store cannot be written.
    """
    place = _lock_file(path)
    if not place.parent.is_dir():
        raise store_error(path, f"{_REMEDIES[sqlite3.SQLITE_CANTOPEN]} (it has none)")
    if place.exists() and not _is_lock(place):
        raise store_error(
            path, f"a run locks it by a file {place.name!r}, and that holds something else; move that file"
        )
    lock = FileLock(place, timeout=LOCK_SECONDS, thread_local=False)
    try:
        lock.acquire(poll_interval=LOCK_SECONDS / 20.0)
    except Timeout as error:
        raise store_error(path, "another run is writing it; wait for that run to end, or stop it") from error
    except OSError as error:
        code = sqlite3.SQLITE_PERM if isinstance(error, PermissionError) else sqlite3.SQLITE_IOERR
        raise store_error(path, f"{_REMEDIES[code]} ({error.strerror})") from error
    try:
        yield
    finally:
        _release(lock)


def is_locked(path: Path) -> bool:
    """Whether a run is writing the store."""
    place = _lock_file(path)
    if not _is_lock(place):
        return False
    lock = FileLock(place, timeout=0.0, thread_local=False)
    try:
        lock.acquire()
    except (Timeout, PermissionError):  # a file that another user has left there, too
        return True
    except OSError:
        return False
    _release(lock)
    return False


def _release(lock: FileLock) -> None:
    if _is_lock(Path(lock.lock_file)):
        with suppress(OSError):  # some systems keep a file that is open; an empty one then stays behind
            Path(lock.lock_file).unlink()
    lock.release()


def _is_lock(place: Path) -> bool:
    """Whether a file is there that a run may have made: one without contents."""
    return place.is_file() and place.stat().st_size == 0


def _lock_file(path: Path) -> Path:
    return path.with_name(f"{path.name}-lock")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=BUSY_SECONDS, isolation_level=None
    )
    connection.execute("PRAGMA trusted_schema = OFF")  # what a file defines by itself may not call functions
    # one object for texts that are equal: a frame is then a tenth of the size
    connection.text_factory = lambda text: sys.intern(text.decode())
    connection.create_function("last_line", 1, last_line, deterministic=True)
    return connection


def _check_contents(connection: sqlite3.Connection) -> None:
    """Refuse what no study has written, so that nothing else need ask."""
    check_tables(connection, TABLES)
    for table in (*RESULTS, METHOD_TIMINGS, TIMINGS):
        check_rows(connection, table)
    descriptions = connection.execute("SELECT description FROM study").fetchall()
    runs = connection.execute("SELECT begun, environment FROM runs").fetchall()
    if len(descriptions) != 1 or not runs:
        raise WrongContentsError("it describes no study")
    ((text,),) = descriptions
    described = read_json(text)
    check_description(described)
    for table in (*RESULTS, METHOD_TIMINGS, TIMINGS):
        check_keys(connection, table, described)
    for begun, environment in runs:
        check_run(begun, read_json(environment))


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
