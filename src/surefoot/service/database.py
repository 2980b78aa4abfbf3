"""Where the service keeps its rows: SQLite in one file, or a PostgreSQL server; the same tables and statements."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from surefoot.errors import MissingPackage

#: The version of these tables.
SCHEMA = 1
TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS stream (
  id {serial}, model TEXT NOT NULL, version TEXT NOT NULL, created BIGINT NOT NULL,
  places BIGINT NOT NULL DEFAULT 0, events BIGINT NOT NULL DEFAULT 0, labelled BIGINT NOT NULL DEFAULT 0,
  tally_only BIGINT NOT NULL DEFAULT 0, early BIGINT NOT NULL DEFAULT 0, repeated BIGINT NOT NULL DEFAULT 0,
  tallied BIGINT NOT NULL DEFAULT 0, followed BIGINT NOT NULL DEFAULT 0, monitor TEXT,
  UNIQUE (model, version)
);
CREATE TABLE IF NOT EXISTS prediction (
  stream BIGINT NOT NULL, id TEXT NOT NULL, event BIGINT, place BIGINT, confidence DOUBLE PRECISION,
  doubt DOUBLE PRECISION, unit BIGINT, slice TEXT, predicted TEXT, hour BIGINT,
  label TEXT, correct SMALLINT, label_event BIGINT, complete BIGINT,
  PRIMARY KEY (stream, id)
) {without_rowid};
CREATE INDEX IF NOT EXISTS prediction_event ON prediction (stream, event);
CREATE INDEX IF NOT EXISTS prediction_label ON prediction (stream, label_event);
CREATE INDEX IF NOT EXISTS prediction_complete ON prediction (stream, complete);
CREATE TABLE IF NOT EXISTS tally (
  stream BIGINT NOT NULL, slice TEXT NOT NULL, hour BIGINT NOT NULL, hours BIGINT NOT NULL, rows BIGINT NOT NULL,
  expected DOUBLE PRECISION NOT NULL, observed BIGINT NOT NULL, document TEXT NOT NULL,
  PRIMARY KEY (stream, slice, hour)
);
CREATE TABLE IF NOT EXISTS consumed (
  consumer TEXT NOT NULL, topic TEXT NOT NULL, part BIGINT NOT NULL, next BIGINT NOT NULL, refused BIGINT NOT NULL,
  PRIMARY KEY (consumer, topic, part)
);
CREATE TABLE IF NOT EXISTS token (
  digest TEXT PRIMARY KEY, model TEXT NOT NULL, scopes TEXT NOT NULL, created BIGINT NOT NULL
);
"""


#: How SQLite is opened. Its log is folded into the file every 32 MB, not every 4: the commit that does it takes longer.
_PRAGMAS = (
    "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "cache_size=-65536", "wal_autocheckpoint=8000",
)  # fmt: skip


class Cursor(Protocol):
    """What a transaction can do."""

    def one(self, statement: str, *values: Any) -> tuple[Any, ...] | None: ...
    def all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]: ...
    def run(self, statement: str, *values: Any) -> None: ...
    def many(self, statement: str, rows: Sequence[Sequence[Any]]) -> None: ...
    def having(self, statement: str, ids: Sequence[str], *values: Any) -> list[tuple[Any, ...]]: ...


class Database(Protocol):
    """Transactions that appear whole or not at all, and are on disk when they have ended."""

    url: str

    def writing(self) -> Any: ...
    def reading(self) -> Any: ...
    def close(self) -> None: ...


def connect(url: str) -> Database:
    """The database of a URL: a path or ``sqlite:///path``, or ``postgresql://...``."""
    if url.startswith(("postgresql://", "postgres://")):
        return Postgres(url)
    if "://" in url and not url.startswith("sqlite:///"):
        raise ValueError(f"--store is {url}; give a file, sqlite:///FILE, or postgresql://...")
    return Sqlite(url.removeprefix("sqlite:///"))


class Sqlite:
    """One file in WAL mode: readers never wait for the writer; an ended transaction is synced to disk."""

    def __init__(self, path: str) -> None:
        self.url, self._local, self._path = path, threading.local(), path
        self._lock = threading.RLock()
        self._open: list[sqlite3.Connection] = []
        with self.writing() as cursor:
            script = TABLES.format(serial="INTEGER PRIMARY KEY", without_rowid="WITHOUT ROWID")
            for statement in script.split(";"):
                cursor.run(statement)
            check_schema(cursor)

    def _connection(self) -> sqlite3.Connection:
        held: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if held is None:
            held = sqlite3.connect(self._path, timeout=10, isolation_level=None, check_same_thread=False)
            for pragma in _PRAGMAS:
                held.execute(f"PRAGMA {pragma}")
            self._local.connection = held
            self._open.append(held)
        return held

    @contextmanager
    def writing(self) -> Iterator[Cursor]:
        """A transaction that writes; there is one at a time."""
        with self._lock:
            yield from self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def reading(self) -> Iterator[Cursor]:
        """A transaction that reads one state of the data."""
        yield from self._transaction("BEGIN")

    def _transaction(self, begin: str) -> Iterator[Cursor]:
        connection = self._connection()
        connection.execute(begin)
        try:
            yield _SqliteCursor(connection)
        except BaseException:
            connection.rollback()
            raise
        connection.commit()

    def close(self) -> None:
        """Close every connection."""
        for connection in self._open:
            connection.close()


class _SqliteCursor:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def one(self, statement: str, *values: Any) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self._connection.execute(statement, values).fetchone()
        return found

    def all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, values).fetchall()

    def run(self, statement: str, *values: Any) -> None:
        self._connection.execute(statement, values)

    def many(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        self._connection.executemany(statement, rows)

    def having(self, statement: str, ids: Sequence[str], *values: Any) -> list[tuple[Any, ...]]:
        """Rows of a statement whose last condition is ``id IN {ids}``."""
        import json

        text = statement.format(ids="(SELECT value FROM json_each(?))")
        return self.all(text, *values, json.dumps(ids))


class Postgres:
    """A PostgreSQL server: several servers of ours may share it."""

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise MissingPackage("a PostgreSQL store needs psycopg: pip install 'surefoot[serve]'.") from error
        self.url, self._psycopg, self._local = url, psycopg, threading.local()
        self._open: list[Any] = []
        with self.writing() as cursor:
            # of servers that start together, one makes the tables
            cursor.run("SELECT pg_advisory_xact_lock(7370726566)")
            script = TABLES.format(serial="BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", without_rowid="")
            for statement in script.split(";"):
                if statement.strip():
                    cursor.run(statement)
            check_schema(cursor)

    def _connection(self) -> Any:
        held = getattr(self._local, "connection", None)
        if held is None or held.closed:
            held = self._psycopg.connect(self.url, connect_timeout=5)
            self._local.connection = held
            self._open.append(held)
        return held

    @contextmanager
    def writing(self) -> Iterator[Cursor]:
        """A transaction; those that change one stream wait for each other, by the lock on its row."""
        connection = self._connection()
        with connection.transaction():
            yield _PostgresCursor(connection.cursor())

    @contextmanager
    def reading(self) -> Iterator[Cursor]:
        """A transaction that reads one state of the data."""
        connection = self._connection()
        with connection.transaction():
            cursor = _PostgresCursor(connection.cursor())
            cursor.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield cursor

    def close(self) -> None:
        """Close every connection."""
        for connection in self._open:
            connection.close()


class _PostgresCursor:
    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def one(self, statement: str, *values: Any) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self._cursor.execute(statement.replace("?", "%s"), values).fetchone()
        return found

    def all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._cursor.execute(statement.replace("?", "%s"), values).fetchall()
        return found

    def run(self, statement: str, *values: Any) -> None:
        self._cursor.execute(statement.replace("?", "%s"), values)

    def many(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        self._cursor.executemany(statement.replace("?", "%s"), rows)

    def having(self, statement: str, ids: Sequence[str], *values: Any) -> list[tuple[Any, ...]]:
        """Rows of a statement whose last condition is ``id IN {ids}``."""
        return self.all(statement.replace("IN {ids}", "= ANY(?)"), *values, list(ids))


def check_schema(cursor: Cursor) -> None:
    """Refuse a store that a newer version wrote."""
    found = cursor.one("SELECT value FROM facts WHERE name = 'schema'")
    if found is None:
        cursor.run("INSERT INTO facts (name, value) VALUES ('schema', ?)", str(SCHEMA))
    elif int(found[0]) > SCHEMA:
        raise ValueError(f"the store was written by a newer surefoot (schema {found[0]}); upgrade to open it")
