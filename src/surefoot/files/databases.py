"""Tables and queries of databases: SQLite and DuckDB files, and PostgreSQL by its address; nothing is ever written."""

from __future__ import annotations

import re
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from surefoot._io.masking import masked
from surefoot._io.printable import printable
from surefoot.errors import MissingPackage
from surefoot.files.cells import is_beyond_floats
from surefoot.files.excel import as_numbers
from surefoot.files.finding import Ambiguous
from surefoot.files.one_kind import OneKind
from surefoot.files.part import Part, listed
from surefoot.files.source import BadFile, Batch
from surefoot.files.statements import checked_query, quoted

if TYPE_CHECKING:
    import pyarrow as pa

_HEAD, _ROWS = 10_000, 1 << 17
_ADDRESS = re.compile(r"([a-z][a-z0-9+.\-]+)://", re.I)
_SCHEMES = "sqlite:///FILE, duckdb:///FILE and postgresql://USER@HOST/DATABASE"


def is_address(path: str) -> bool:
    """Whether this is the address of a database, or of something else, rather than the name of a file."""
    return _ADDRESS.match(path) is not None


def open_address(address: str, part: Part) -> Database:
    """The rows of a database, by its address."""
    name, scheme = masked(address), address.partition(":")[0].lower()
    part.check(name, "database")
    if scheme in ("postgresql", "postgres"):
        return Postgres(name, address, part)
    if scheme not in ("sqlite", "duckdb"):
        hint = "download it and give the file" if scheme in ("http", "https", "s3", "gs", "az", "ftp") else "export CSV"
        raise BadFile(f"addresses that are read are {_SCHEMES}; {hint}", file=name)
    path = _file_named(address)
    if path is None:
        raise BadFile(f"it should be {scheme}:///FILE, with three slashes before the path", file=name)
    if not Path(path).is_file():
        raise BadFile("no such file", file=name)
    return (Sqlite if scheme == "sqlite" else DuckDB)(name, path, part)


def file_of_address(address: str) -> Path | None:
    """The file of a database that is one; None for a server."""
    path = None if address.lower().startswith("postgres") else _file_named(address)
    return None if path is None else Path(path)


def _file_named(address: str) -> str | None:
    """The file of an address: three slashes, then a path as SQLAlchemy has it; a fourth one begins an absolute path."""
    text = address.partition("://")[2]
    if not text.startswith("/") or text in ("/", "/:memory:"):
        return None
    written = text[1:]
    paths = (written, written.partition("?")[0], unquote(written))
    return next((path for path in paths if Path(path).is_file()), written)


class Database(ABC):
    """One table or query of a database."""

    is_text = False

    def __init__(self, name: str, place: str, part: Part) -> None:
        self.name, self._place = name, place
        if part.query is not None:
            try:
                self._relation = f"({checked_query(part.query)}\n) as rows_of_query"
            except ValueError as error:
                raise Ambiguous(f"--query cannot be run: {error}", file=name) from error
        else:
            self._relation = self._chosen(part.table)
        tables = [batch.table for batch in self._read(f"select * from {self._relation} limit {_HEAD}", None)]
        import pyarrow as pa

        self._head = pa.concat_tables(tables, promote_options="permissive")
        self.schema = self._head.schema
        twice = next((c for i, c in enumerate(self.schema.names) if c in self.schema.names[:i]), None)
        if twice is not None:
            raise BadFile(f"two columns are called '{printable(twice)}'; rename one with AS", file=name)

    def head(self) -> pa.Table:
        return self._head

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        names = [name for name in self.schema.names if name in columns]
        what = ", ".join(map(quoted, names)) or "1"
        for batch in self._read(f"select {what} from {self._relation}", names):
            yield Batch(as_numbers(batch.table, numbers), batch.share)

    def _chosen(self, table: str | None) -> str:
        """The table that was named, or the only one there is, as SQL writes it."""
        tables = self._tables()
        if table is not None:
            if table not in tables:
                raise Ambiguous(
                    f"there is no table '{printable(table)}'; the tables are {listed([*tables]) or 'none'}",
                    file=self.name,
                )
            return tables[table]
        if not tables:
            raise BadFile("the database has no tables", file=self.name)
        if len(tables) > 1:
            raise Ambiguous(
                f"the database has {len(tables):,} tables: {listed([*tables])}; choose one with --table NAME, or rows "
                "with --query SQL (table= and query= in Python)",
                file=self.name,
            )
        return next(iter(tables.values()))

    @abstractmethod
    def _tables(self) -> dict[str, str]:
        """The tables and views, as people write them and as SQL does."""

    @abstractmethod
    def _read(self, statement: str, names: list[str] | None) -> Iterator[Batch]:
        """The rows of a statement, whose columns are ``names`` where that is known; at least one batch."""

    def _bad(self, error: Exception, done: int | None = None) -> BadFile:
        """An error of a driver, without the password that it may repeat."""
        text = str(error).strip()
        password = urlsplit(self._place).password if is_address(self._place) else None
        for secret in {password, unquote(password)} if password else ():
            text = text.replace(secret, "***")
        brief = printable(masked(" ".join(text.split())) or type(error).__name__, 240)
        return BadFile(f"cannot be read{f' after row {done:,}' if done else ''} ({brief})", file=self.name)


class Sqlite(Database):
    """A SQLite file, by the standard library: SQLite has no types of columns, only of values, so all of them decide."""

    #: Columns of labels, which hold values of one kind.
    labels: frozenset[str] = frozenset()

    def _connect(self) -> sqlite3.Connection:
        place = f"file:{quote(str(Path(self._place).absolute()))}?mode=ro"
        # read in the thread that reads ahead, never in two at once
        connection = sqlite3.connect(place, uri=True, check_same_thread=False)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        allowed = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}

        def judge(action: int, one: str | None, two: str | None, *rest: object) -> int:
            is_function = action == sqlite3.SQLITE_FUNCTION and two != "load_extension"
            return sqlite3.SQLITE_OK if action in allowed or is_function else sqlite3.SQLITE_DENY

        connection.set_authorizer(judge)
        return connection

    def _tables(self) -> dict[str, str]:
        sql = (
            "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'"
        )
        try:
            with closing(self._connect()) as connection:
                return {str(name): quoted(str(name)) for (name,) in connection.execute(f"{sql} order by name")}
        except (sqlite3.Error, ValueError) as error:
            raise self._bad(error) from error

    def _read(self, statement: str, names: list[str] | None) -> Iterator[Batch]:
        import pyarrow as pa

        done, one_kind = 0, OneKind(self.name)
        try:
            with closing(self._connect()) as connection:
                found = connection.execute(statement)
                titles = [column[0] for column in found.description] if names is None else names
                rows = found.fetchmany(_ROWS)
                # a look at all rows for the types, unless these are all of them
                types, total = (None, len(rows)) if len(rows) < _ROWS else self._types_of(connection, titles)
                while True:
                    columns = list(zip(*rows, strict=True)) if rows and titles else [() for _ in titles]
                    for title, values in zip(titles, columns, strict=True):
                        if title in self.labels and names is not None:
                            one_kind.check(title, values, done)
                    kinds = types or [_type_of(set(map(_kind, values))) for values in columns]
                    arrays = [_sqlite_array(values, kind) for values, kind in zip(columns, kinds, strict=True)]
                    done += len(rows)
                    yield Batch(pa.Table.from_arrays(arrays, titles), min(1.0, done / max(1, total)))
                    rows = found.fetchmany(_ROWS)
                    if not rows:
                        return
        except (sqlite3.Error, OverflowError, ValueError) as error:
            if isinstance(error, BadFile):
                raise
            raise self._bad(error, done) from error

    def _types_of(self, connection: sqlite3.Connection, names: list[str]) -> tuple[list[pa.DataType], int]:
        stored = ("integer", "real", "text", "blob")
        large = "typeof({0}) = 'integer' and {0} not between -(1 << 53) and 1 << 53"
        kinds, tests = (*stored, "beyond floats"), [*(f"typeof({{0}}) = '{kind}'" for kind in stored), large]
        counts = [f"max({test.format(quoted(name))})" for name in names for test in tests]
        (row,) = connection.execute(f"select count(*), {', '.join(counts)} from {self._relation}")
        flags = [row[1 + i : 1 + i + len(kinds)] for i in range(0, len(kinds) * len(names), len(kinds))]
        return [_type_of({kind for kind, held in zip(kinds, one, strict=True) if held}) for one in flags], row[0]


#: What SQLite calls the types of values.
_KIND = {int: "integer", float: "real", str: "text", bytes: "blob", type(None): "null"}


def _kind(value: Any) -> str:
    return "beyond floats" if is_beyond_floats(value) else _KIND.get(type(value), "text")


def _type_of(kinds: set[str]) -> pa.DataType:
    """The type of a column with values of these kinds; beside floats, whole numbers that these would round are text."""
    import pyarrow as pa

    kinds = kinds - {"null"}
    if "beyond floats" in kinds:
        return pa.int64() if kinds <= {"integer", "beyond floats"} else pa.string()
    if not kinds:
        return pa.null()
    if kinds == {"integer"}:
        return pa.int64()
    return pa.float64() if kinds <= {"integer", "real"} else pa.binary() if kinds == {"blob"} else pa.string()


def _sqlite_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if pa.types.is_floating(kind):
        values = [None if value is None else float(value) for value in values]
    elif pa.types.is_string(kind):
        values = [value if value is None or isinstance(value, str) else _text(value) for value in values]
    return pa.array(values, kind)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


class DuckDB(Database):
    """A DuckDB file."""

    def _connect(self) -> Any:
        try:
            import duckdb
        except ImportError as error:
            raise MissingPackage("DuckDB files need duckdb: pip install 'surefoot[databases]'.") from error
        # other files and addresses, which views and queries may name, stay closed
        return duckdb.connect(self._place, read_only=True, config={"enable_external_access": "false"})

    def _tables(self) -> dict[str, str]:
        sql = (
            "select table_schema, table_name from information_schema.tables where table_catalog = current_database() "
            "and table_schema not in ('information_schema', 'pg_catalog') order by all"
        )
        try:
            with closing(self._connect()) as connection:
                rows = connection.execute(sql).fetchall()
        except MissingPackage:
            raise
        except Exception as error:  # of DuckDB, which raises others besides its own on damaged files
            raise self._bad(error) from error
        return {name if schema == "main" else f"{schema}.{name}": quoted(schema, name) for schema, name in rows}

    def _read(self, statement: str, names: list[str] | None) -> Iterator[Batch]:
        import pyarrow as pa

        done = 0
        try:
            with closing(self._connect()) as connection:
                if len(connection.extract_statements(statement)) != 1:
                    raise Ambiguous("--query holds more than one statement; give one", file=self.name)
                total = 0
                if names is not None:
                    total = connection.execute(f"select count(*) from {self._relation}").fetchall()[0][0]
                relation = connection.sql(statement)
                reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
                for table in _tables_of(reader(_ROWS)):
                    done += table.num_rows
                    yield Batch(table, min(1.0, done / max(1, total)))
        except (BadFile, Ambiguous, MissingPackage):
            raise
        except (pa.ArrowException, Exception) as error:
            raise self._bad(error, done) from error


class Postgres(Database):
    """A PostgreSQL database, by ADBC: rows come in Arrow's batches, in a transaction that may only read."""

    def _connect(self) -> Any:
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError as error:
            raise MissingPackage(
                "PostgreSQL needs adbc-driver-postgresql: pip install 'surefoot[databases]'."
            ) from error
        return dbapi.connect(self._place)

    def _run(self, statement: str) -> Iterator[Any]:
        done = 0
        try:
            with closing(self._connect()) as connection, closing(connection.cursor()) as cursor:
                cursor.execute("set transaction read only")
                cursor.execute(statement)
                for table in _tables_of(cursor.fetch_record_batch()):
                    done += table.num_rows
                    yield table
        except (BadFile, MissingPackage):
            raise
        except Exception as error:  # of the driver, of Arrow, and of addresses
            raise self._bad(error, done) from error

    def _tables(self) -> dict[str, str]:
        sql = (
            "select nspname::text, relname::text from pg_class join pg_namespace on pg_namespace.oid = relnamespace "
            "where relkind in ('r', 'p', 'v', 'm', 'f') and not relispartition and nspname !~ '^pg_' "
            "and nspname <> 'information_schema' and has_table_privilege(pg_class.oid, 'select') order by 1, 2"
        )
        rows = [row for table in self._run(sql) for row in zip(*(c.to_pylist() for c in table.columns), strict=True)]
        return {name if schema == "public" else f"{schema}.{name}": quoted(schema, name) for schema, name in rows}

    def _read(self, statement: str, names: list[str] | None) -> Iterator[Batch]:
        # how many rows a query has is not known before they have come
        for table in self._run(statement):
            yield Batch(table, 0.0)


def _tables_of(reader: Any) -> Iterator[pa.Table]:
    """Batches as tables, an empty one if there is none; decimals as floating numbers."""
    import pyarrow as pa

    empty = True
    for batch in reader:
        if batch.num_rows:
            empty = False
            yield _plain(pa.Table.from_batches([batch]))
    if empty:
        yield _plain(reader.schema.empty_table())


def _plain(table: pa.Table) -> pa.Table:
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        kind, column = field.type, table.column(i)
        called = (field.metadata or {}).get(b"ADBC:postgresql:typname", b"").decode()
        is_opaque = getattr(kind, "extension_name", "") == "arrow.opaque"
        if is_opaque:
            kind, called = kind.storage_type, kind.type_name
            column = column.cast(kind)
        if called == "numeric" or pa.types.is_decimal(kind):
            table = table.set_column(i, field.name, column.cast(pa.float64()))
        elif is_opaque:
            table = table.set_column(i, field.name, column)
    return table
