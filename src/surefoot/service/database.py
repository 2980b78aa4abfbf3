"""Where the service keeps its rows: SQLite in one file, or a PostgreSQL server; the same tables and statements."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from surefoot._io.printable import printable
from surefoot.errors import MissingPackage
from surefoot.service.refused import Refused

#: Connections that are kept open while nobody uses them.
_MOST_IDLE = 8
#: Seconds, and milliseconds, after which a PostgreSQL server that does not answer counts as gone.
_PATIENCE: dict[str, Any] = {
    "connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}  # fmt: skip
#: The version of these tables.
SCHEMA = 4
#: Indexes leave out what they would not find, so that ids are found by the key alone, whatever a planner supposes.
TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS stream (
  id {serial}, model {text} NOT NULL, version {text} NOT NULL, created BIGINT NOT NULL,
  places BIGINT NOT NULL DEFAULT 0, events BIGINT NOT NULL DEFAULT 0, labelled BIGINT NOT NULL DEFAULT 0,
  tally_only BIGINT NOT NULL DEFAULT 0, early BIGINT NOT NULL DEFAULT 0, repeated BIGINT NOT NULL DEFAULT 0,
  lost BIGINT NOT NULL DEFAULT 0,
  tallied BIGINT NOT NULL DEFAULT 0, tallies BIGINT NOT NULL DEFAULT 0, followed BIGINT NOT NULL DEFAULT 0,
  monitor TEXT,
  UNIQUE (model, version)
);
CREATE TABLE IF NOT EXISTS part (
  stream BIGINT NOT NULL, name {text} NOT NULL, number BIGINT NOT NULL, places BIGINT NOT NULL DEFAULT 0,
  peak DOUBLE PRECISION, monitor TEXT,
  PRIMARY KEY (stream, name)
);
CREATE TABLE IF NOT EXISTS prediction (
  stream BIGINT NOT NULL, id {text} NOT NULL, event BIGINT, place BIGINT, confidence DOUBLE PRECISION,
  doubt DOUBLE PRECISION, unit BIGINT, slice TEXT, slice_place BIGINT, predicted TEXT, hour BIGINT,
  label TEXT, correct SMALLINT, label_event BIGINT, complete BIGINT,
  PRIMARY KEY (stream, id)
) {without_rowid};
CREATE INDEX IF NOT EXISTS prediction_event ON prediction (stream, event) WHERE event IS NOT NULL;
CREATE INDEX IF NOT EXISTS prediction_early ON prediction (stream, label_event) WHERE event IS NULL;
CREATE INDEX IF NOT EXISTS prediction_label ON prediction (stream, label_event)
  WHERE label_event IS NOT NULL AND place IS NOT NULL;
CREATE INDEX IF NOT EXISTS prediction_complete ON prediction (stream, complete) WHERE complete IS NOT NULL;
CREATE INDEX IF NOT EXISTS prediction_slice ON prediction (stream, slice, slice_place) WHERE slice_place IS NOT NULL;
CREATE TABLE IF NOT EXISTS tally (
  stream BIGINT NOT NULL, slice {text} NOT NULL, hour BIGINT NOT NULL, hours BIGINT NOT NULL, rows BIGINT NOT NULL,
  expected DOUBLE PRECISION NOT NULL, observed BIGINT NOT NULL, document TEXT NOT NULL,
  PRIMARY KEY (stream, slice, hour)
);
CREATE TABLE IF NOT EXISTS reference (
  stream BIGINT PRIMARY KEY, added BIGINT NOT NULL, rows BIGINT NOT NULL, document TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS notice (
  id {serial}, stream BIGINT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, until BIGINT NOT NULL,
  created BIGINT NOT NULL, body TEXT NOT NULL, leased BIGINT, sent BIGINT
);
CREATE INDEX IF NOT EXISTS notice_stream ON notice (stream, kind, name);
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


#: Columns of a table, and what each holds.
Kinds = Mapping[str, type[int] | type[float] | type[str]]


class Cursor(Protocol):
    """What a transaction can do."""

    def one(self, statement: str, *values: Any) -> tuple[Any, ...] | None: ...
    def all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]: ...
    def run(self, statement: str, *values: Any) -> None: ...
    def many(self, statement: str, rows: Sequence[Sequence[Any]]) -> None: ...
    def put(self, table: str, kinds: Kinds, key: int, rows: Sequence[Sequence[Any]]) -> None: ...
    def named(
        self, table: str, columns: Sequence[str], key: str, stream: int, names: Sequence[str]
    ) -> list[tuple[Any, ...]]: ...


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


class _Pool:
    """Connections that are open and not in use; each is used by one thread at a time."""

    def __init__(self) -> None:
        self._idle: list[Any] = []
        self._lock, self._is_closed = threading.Lock(), False

    def take(self) -> Any:
        """One of them; None if there is none."""
        with self._lock:
            return self._idle.pop() if self._idle else None

    def give(self, connection: Any) -> None:
        """Keep it for the next; close it if there are enough, or if nobody will come."""
        with self._lock:
            if not self._is_closed and len(self._idle) < _MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def drop_idle(self) -> None:
        """Close those that nobody uses: the server that they led to is gone."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
        self.drop_idle()


def _unavailable(error: Exception) -> Refused:
    """A full disk, a file that is gone, a server that does not answer: nothing of the transaction was stored."""
    reason = printable(" ".join(str(error).split()), 200) or type(error).__name__
    return Refused(503, f"the store does not answer, and nothing was changed: {reason}; try again")


class Sqlite:
    """One file in WAL mode: readers never wait for the writer; an ended transaction is synced to disk."""

    def __init__(self, path: str) -> None:
        self.url, self._path, self._pool = path, path, _Pool()
        self._lock = threading.RLock()
        with self.writing() as cursor:
            script = TABLES.format(serial="INTEGER PRIMARY KEY", text="TEXT", without_rowid="WITHOUT ROWID")
            for statement in script.split(";"):
                cursor.run(statement)
            check_schema(cursor)

    def _connect(self) -> sqlite3.Connection:
        made = sqlite3.connect(self._path, timeout=10, isolation_level=None, check_same_thread=False)
        for pragma in _PRAGMAS:
            made.execute(f"PRAGMA {pragma}")
        return made

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
        connection = None
        try:
            connection = self._pool.take() or self._connect()
            connection.execute(begin)
            try:
                yield _SqliteCursor(connection)
                # a commit that fails leaves its transaction open
                connection.commit()
            except BaseException:
                connection.rollback()
                raise
        except sqlite3.OperationalError as error:
            raise _unavailable(error) from error
        finally:
            if connection is not None:
                self._pool.give(connection)

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()


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

    def put(self, table: str, kinds: Kinds, key: int, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows, or put them in the place of those with the same key: the first so many columns."""
        source = f"VALUES ({', '.join('?' * len(kinds))})"
        self.many(_upsert(table, kinds, key, source), rows)

    def named(
        self, table: str, columns: Sequence[str], key: str, stream: int, names: Sequence[str]
    ) -> list[tuple[Any, ...]]:
        """Rows of a stream by their names; each is looked up."""
        import json

        where = f"stream = ? AND {key} IN (SELECT value FROM json_each(?))"
        return self.all(f"SELECT {', '.join(columns)} FROM {table} WHERE {where}", stream, json.dumps(names))


_SERIAL = "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"


class Postgres:
    """A PostgreSQL server: several servers of ours may share it."""

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise MissingPackage("a PostgreSQL store needs psycopg: pip install 'surefoot[serve]'.") from error
        self.url, self._psycopg, self._pool = url, psycopg, _Pool()
        with self.writing() as cursor:
            # of servers that start together, one makes the tables
            cursor.run("SELECT pg_advisory_xact_lock(7370726566)")
            script = TABLES.format(serial=_SERIAL, text='TEXT COLLATE "C"', without_rowid="")
            for statement in script.split(";"):
                if statement.strip():
                    cursor.run(statement)
            check_schema(cursor)

    @contextmanager
    def writing(self) -> Iterator[Cursor]:
        """A transaction; those that change one stream wait for each other, by the lock on its row."""
        yield from self._transaction(self._psycopg.IsolationLevel.READ_COMMITTED, is_read_only=False)

    @contextmanager
    def reading(self) -> Iterator[Cursor]:
        """A transaction that reads one state of the data."""
        yield from self._transaction(self._psycopg.IsolationLevel.REPEATABLE_READ, is_read_only=True)

    def _transaction(self, level: Any, *, is_read_only: bool) -> Iterator[Cursor]:
        connection = None
        try:
            while (connection := self._pool.take()) is not None and connection.closed:
                pass
            if connection is None:
                # a prepared statement keeps the plan that was best when its table was small
                connection = self._psycopg.connect(self.url, prepare_threshold=None, **_PATIENCE)
            connection.isolation_level, connection.read_only = level, is_read_only
            with connection.transaction():
                yield _PostgresCursor(connection.cursor())
        except (self._psycopg.OperationalError, self._psycopg.InterfaceError) as error:
            if connection is None or connection.closed:
                self._pool.drop_idle()
            raise _unavailable(error) from error
        finally:
            if connection is not None and not connection.closed:
                self._pool.give(connection)

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()


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

    def put(self, table: str, kinds: Kinds, key: int, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows, or put them in the place of those with the same key, all in one statement."""
        source = f"SELECT * FROM unnest({', '.join(f'?::{_TYPES[kind]}[]' for kind in kinds.values())})"
        self.run(_upsert(table, kinds, key, source), *(list(column) for column in zip(*rows, strict=True)))

    def named(
        self, table: str, columns: Sequence[str], key: str, stream: int, names: Sequence[str]
    ) -> list[tuple[Any, ...]]:
        """Rows of a stream by their names; each is looked up.

        With ``= ANY`` a planner that knows nothing of a new stream reads the whole of it instead.
        """
        one = f"SELECT {', '.join(columns)} FROM {table} WHERE stream = ? AND {key} = wanted.name OFFSET 0"
        statement = f"SELECT found.* FROM unnest(?::TEXT[]) AS wanted (name) CROSS JOIN LATERAL ({one}) AS found"
        return self.all(statement, list(names), stream)


_TYPES = {int: "BIGINT", float: "DOUBLE PRECISION", str: "TEXT"}


def _upsert(table: str, kinds: Kinds, key: int, source: str) -> str:
    names = list(kinds)
    assignments = ", ".join(f"{name} = excluded.{name}" for name in names[key:])
    return (
        f"INSERT INTO {table} ({', '.join(names)}) {source} "
        f"ON CONFLICT ({', '.join(names[:key])}) DO UPDATE SET {assignments}"
    )


def check_schema(cursor: Cursor) -> None:
    """Refuse a store that a newer version wrote."""
    found = cursor.one("SELECT value FROM facts WHERE name = 'schema'")
    if found is None:
        cursor.run("INSERT INTO facts (name, value) VALUES ('schema', ?)", str(SCHEMA))
    elif int(found[0]) > SCHEMA:
        raise ValueError(f"the store was written by a newer surefoot (schema {found[0]}); upgrade to open it")
    elif int(found[0]) < SCHEMA:
        raise ValueError(
            f"the store was written by a version before the first release (schema {found[0]}); start with a new one"
        )
