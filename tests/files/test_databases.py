"""Tables and queries of SQLite, DuckDB and PostgreSQL: the numbers of the rows, nothing written, no password shown."""

from __future__ import annotations

import random
import socket
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import surefoot as sf
from surefoot._io.masking import masked
from surefoot.cli import run
from surefoot.errors import InvalidPredictions, MissingPackage
from surefoot.files import databases
from surefoot.files.databases import Sqlite
from surefoot.files.finding import Ambiguous
from surefoot.files.opening import open_data
from surefoot.files.part import Part
from surefoot.files.reading import read
from surefoot.files.source import BadFile
from surefoot.files.statements import checked_query, quoted
from tests.postgres_server import running


def fill_sqlite(path: Path, table: pa.Table, name: str = "runs") -> str:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"create table {quoted(name)} ({', '.join(map(quoted, table.column_names))})")
        marks = ", ".join("?" * table.num_columns)
        connection.executemany(
            f"insert into {quoted(name)} values ({marks})", zip(*table.to_pydict().values(), strict=True)
        )
    connection.close()
    return f"sqlite:///{path}"


def fill_duckdb(path: Path, table: pa.Table, name: str = "runs") -> str:
    with duckdb.connect(str(path)) as connection:
        connection.register("given", table)
        connection.execute(f"create table {quoted(name)} as select * from given")
    return f"duckdb:///{path}"


FILL = {"db": fill_sqlite, "sqlite": fill_sqlite, "duckdb": fill_duckdb}


@pytest.fixture
def expected(rows: pa.Table) -> sf.Assessment:
    return sf.assess(*(rows.column(name).to_numpy() for name in ("label", "pred", "confidence")))


@pytest.mark.parametrize("kind", list(FILL))
def test_the_same_numbers_as_from_arrays(
    kind: str, rows: pa.Table, expected: sf.Assessment, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"a.{kind}"
    address = FILL[kind](path, rows)
    before = path.read_bytes()
    for place in (address, str(path), path):
        found = sf.assess(place, by="region")
        assert found.metrics == pytest.approx(expected.metrics, nan_ok=True)
        assert len(found.slices) == 2
        assert len(sf.load(place)) == 500
    assert run(["assess", address, "--query", "select * from runs where region = 'north';"]) == 0
    north = rows.column("region").to_pylist().count("north")
    assert f"{north} rows" in capfd.readouterr().out
    assert len(sf.load(address, query='with x as (select * from "runs") select * from x limit 7 -- few')) == 7
    assert path.read_bytes() == before
    assert {one.name for one in tmp_path.iterdir()} == {path.name}


def test_a_database_is_known_by_its_first_bytes(rows: pa.Table, tmp_path: Path) -> None:
    for fill, name in ((fill_sqlite, "one"), (fill_duckdb, "two"), (fill_duckdb, "three.db")):
        fill(tmp_path / name, rows)
        assert len(sf.load(tmp_path / name)) == 500


@pytest.mark.parametrize("kind", ["db", "duckdb"])
def test_several_tables(kind: str, rows: pa.Table, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"a.{kind}"
    FILL[kind](path, rows)
    FILL[kind](path, rows.slice(0, 30), 'odd "name" ; --')
    assert run(["assess", str(path)]) == 2
    assert "2 tables: 'odd \"name\" ; --', 'runs'; choose one with --table NAME" in capfd.readouterr().err
    assert run(["assess", str(path), "--table", "runs"]) == 0
    assert read(str(path), {}, part=Part(table="runs")).options[-2:] == ("--table", "runs")
    assert len(sf.load(path, table='odd "name" ; --')) == 30
    with pytest.raises(Ambiguous, match="no table 'Runs'; the tables are"):
        sf.load(path, table="Runs")
    with pytest.raises(Ambiguous, match="give one of them"):
        sf.load(path, table="runs", query="select 1")
    (tmp_path / "a.csv").write_text("correct,confidence\n1,0.9\n")
    with pytest.raises(Ambiguous, match="--table chooses rows of a database"):
        sf.load(tmp_path / "a.csv", table="x")


def test_only_the_columns_that_are_used_are_asked_for(
    rows: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    reading = Sqlite._read

    def watch(self: Sqlite, statement: str, names: list[str] | None) -> Iterator[object]:
        asked.append(statement)
        return reading(self, statement, names)

    monkeypatch.setattr(Sqlite, "_read", watch)
    sf.assess(fill_sqlite(tmp_path / "a.db", rows))
    assert asked == ['select * from "runs" limit 10000', 'select "label", "pred", "confidence" from "runs"']


def test_every_value_of_a_column_decides_its_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "_ROWS", 4)
    table = pa.table({"n": range(10), "correct": [i % 2 for i in range(10)], "confidence": [0.5] * 10})
    fill_sqlite(tmp_path / "a.db", table)
    connection = sqlite3.connect(tmp_path / "a.db")
    with connection:
        connection.execute("update runs set n = 'nine', confidence = 1 where rowid = 10")
        connection.execute("update runs set n = 2.0 where rowid = 3")
        connection.execute("update runs set n = null where rowid = 4")
    connection.close()
    (source,) = open_data(str(tmp_path / "a.db"))
    found = pa.concat_tables([batch.table for batch in source.batches(["n", "confidence"], ["confidence"])])
    assert found.column("n").to_pylist() == ["0", "1", "2", None, "4", "5", "6", "7", "8", "nine"]
    assert found.column("confidence").to_pylist() == [0.5] * 9 + [1.0]
    assert [batch.share for batch in source.batches(["n"], [])] == [0.4, 0.8, 1.0]


def test_a_table_larger_than_memory_should_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0, 1, 3000)
    table = pa.table({"label": np.where(rng.random(3000) < p, "yes", "no"), "p_no": 1 - p, "p_yes": p})
    for module, name, value in (("reader", "MOST_ROWS", 100), ("databases", "_ROWS", 500)):
        monkeypatch.setattr(f"surefoot.files.{module}.{name}", value)
    expected = sf.assess(table, truth="label", probabilities="p_")
    for fill, name in ((fill_sqlite, "a.db"), (fill_duckdb, "a.duckdb")):
        found = sf.assess(fill(tmp_path / name, table))
        assert found.predictions is None
        assert found.accuracy == pytest.approx(expected.accuracy)
        assert found.metrics["brier"] == pytest.approx(expected.metrics["brier"])


def test_order_is_that_of_the_query(rows: pa.Table, tmp_path: Path) -> None:
    expected = sorted(rows.column("confidence").to_pylist(), reverse=True)
    for fill, name in ((fill_sqlite, "a.db"), (fill_duckdb, "a.duckdb")):
        (source,) = open_data(
            fill(tmp_path / name, rows), None, Part(query="select * from runs order by confidence desc")
        )
        assert source.head().column("confidence").to_pylist() == expected
        (batch,) = source.batches(["confidence"], [])
        assert batch.table.column(0).to_pylist() == expected


def test_decimals_are_numbers(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("create table a (correct boolean, confidence decimal(4, 3))")
        connection.execute("insert into a values (true, 0.875), (false, 0.5)")
    assert sf.load(tmp_path / "a.duckdb").confidence.tolist() == [0.875, 0.5]


WRITES = [
    "delete from runs",
    "drop table runs",
    "select 1; drop table runs",
    "select * from runs) as a; drop table runs; select * from (select 1",
    "select * from runs) union select * from (select * from runs",
    "pragma writable_schema = 1",
    "attach 'other.db' as other",
    "insert into runs select * from runs",
    "copy runs to 'out.csv'",
    "",
    "select 'open",
    "select 1 /* open",
]


@pytest.mark.parametrize("query", WRITES)
@pytest.mark.parametrize("kind", ["db", "duckdb"])
def test_nothing_but_a_select_is_run(kind: str, query: str, rows: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / f"a.{kind}"
    address = FILL[kind](path, rows)
    with pytest.raises(Ambiguous, match="--query cannot be run"):
        sf.load(address, query=query)
    assert {one.name for one in tmp_path.iterdir()} == {path.name}
    assert len(sf.load(path)) == 500


def test_drivers_refuse_to_write_too(rows: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were a query not looked at first."""
    monkeypatch.setattr(databases, "checked_query", lambda query: query)
    for fill, name in ((fill_sqlite, "a.db"), (fill_duckdb, "a.duckdb")):
        address = fill(tmp_path / name, rows)
        with pytest.raises(InvalidPredictions):
            sf.load(address, query="select * from runs) as a; drop table runs; select * from (select 1")
        assert len(sf.load(address)) == 500
    with pytest.raises(BadFile, match="cannot be read"):
        sf.load(f"duckdb:///{tmp_path / 'a.duckdb'}", query=f"select * from read_text('{tmp_path / 'a.db'}')")


def test_queries_in_words() -> None:
    for query in ("SELECT ';' AS x", 'with a as (select ";" from b) select * from a', "(select 1) union (select 2)"):
        assert checked_query(query) == query
    assert checked_query("-- first\nselect $$;$$ ; -- last") == "-- first\nselect $$;$$ "


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("mysql://ann:secret@host/db", "addresses that are read are sqlite:///FILE"),
        ("https://ann:secret@host/a.csv", "download it"),
        ("sqlite://a.db", "three slashes"),
        ("sqlite:///missing.db", "no such file"),
        ("duckdb:///missing.duckdb", "no such file"),
    ],
)
def test_other_addresses(address: str, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", address]) == 3
    error = capfd.readouterr().err
    assert said in error
    assert "secret" not in error


def test_passwords_are_masked(capfd: pytest.CaptureFixture[str]) -> None:
    for address in (
        "postgresql://ann:se:cr/et@host:5432/db",
        "postgresql://:secret@host/db",
        "postgresql://host/db?user=ann&password=secret&sslmode=require",
        "postgres://ann:s%40cret@host/db",
    ):
        shown = masked(address)
        assert "cret" not in shown
        assert "cr/et" not in shown
        assert "***" in shown
        assert run([address]) == 2  # no command before it
        assert "cret" not in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["db", "duckdb"])
def test_damaged_databases(kind: str, rows: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / f"a.{kind}"
    FILL[kind](path, rows)
    whole = path.read_bytes()
    rng = random.Random(0)
    broken = [whole[: rng.randrange(len(whole))] for _ in range(30)]
    used = len(whole.rstrip(b"\x00"))
    for _ in range(200):
        changed = bytearray(whole)
        changed[rng.randrange(used)] ^= 1 << rng.randrange(8)
        broken.append(bytes(changed))
    for i, content in enumerate(broken):
        place = tmp_path / f"{i}.{kind}"
        place.write_bytes(content)
        try:
            sf.load(place)
        except InvalidPredictions as error:
            assert place.name in str(error)
        place.unlink()


def test_without_the_packages(rows: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = fill_duckdb(tmp_path / "a.duckdb", rows)
    for package in ("duckdb", "adbc_driver_postgresql"):
        monkeypatch.setitem(sys.modules, package, None)
    for place in (address, "postgresql://ann:secret@host/db"):
        with pytest.raises(MissingPackage, match=r"pip install 'surefoot\[databases\]'") as caught:
            sf.load(place)
        assert "secret" not in str(caught.value)


def test_a_server_that_does_not_answer(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert run(["assess", f"postgresql://ann:secret@127.0.0.1:{port}/db"]) == 3
    error = capfd.readouterr().err
    assert "postgresql://ann:***@127.0.0.1" in error
    assert "secret" not in error
    assert len(error.splitlines()) == 1


# -- PostgreSQL ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server that lives as long as these tests, its password left out."""
    with running() as server:
        yield server.address


def execute(address: str, *statements: str) -> None:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.fixture
def filled(server: str, rows: pa.Table) -> str:
    from adbc_driver_postgresql import dbapi

    execute(
        server, "drop schema if exists public cascade", "drop schema if exists other cascade", "create schema public"
    )
    with dbapi.connect(server) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("runs", rows, mode="create")
        connection.commit()
    return server


@pytest.mark.heavy
def test_postgres(filled: str, expected: sf.Assessment, rows: pa.Table, capfd: pytest.CaptureFixture[str]) -> None:
    found = sf.assess(filled, by="region")
    assert found.metrics == pytest.approx(expected.metrics, nan_ok=True)
    assert len(found.slices) == 2
    assert len(sf.load(filled, query="select * from runs where region = 'north'")) == sum(
        one == "north" for one in rows.column("region").to_pylist()
    )
    assert run(["assess", filled, "--table", "runs", "--format", "json"]) == 0
    shown = capfd.readouterr()
    assert "pa55" not in shown.out + shown.err
    assert "postgresql://ann:***@127.0.0.1" in shown.out
    assert run(["assess", filled, "--table", "runs"]) == 0
    shown = capfd.readouterr()
    assert "pa55" not in shown.out + shown.err


@pytest.mark.heavy
def test_reports_of_postgres_hold_no_password(filled: str, tmp_path: Path) -> None:
    outputs = [tmp_path / f"a.{kind}" for kind in ("html", "json", "md", "tally")]
    assert run(["assess", filled, *(word for one in outputs for word in ("-o", str(one)))]) == 0
    for one in outputs:
        assert "pa55" not in one.read_text()


@pytest.mark.heavy
def test_types_of_postgres(server: str) -> None:
    execute(
        server,
        "drop table if exists kinds",
        "create table kinds (ok boolean, confidence numeric(5, 4), whole bigint, single real, word varchar(9), "
        "day date, odd uuid default '00000000-0000-0000-0000-000000000001')",
        "insert into kinds values (true, 0.8750, 3, 0.5, 'x', '2024-01-02'), (false, 0.5, null, 0.25, null, null)",
    )
    (source,) = open_data(server, None, Part(table="kinds"))
    assert str(source.schema.field("confidence").type) == "double"
    head = source.head().to_pydict()
    assert head["confidence"] == [0.875, 0.5]
    assert head["whole"] == [3, None]
    assert sf.load(server, table="kinds", correct="ok", confidence="confidence").confidence.tolist() == [0.875, 0.5]
    execute(server, "drop table kinds")


@pytest.mark.heavy
def test_several_tables_of_postgres(filled: str) -> None:
    execute(filled, "create schema other", 'create table other."A b" (correct int, confidence real)')
    execute(filled, """insert into other."A b" values (1, 0.5)""")
    with pytest.raises(Ambiguous, match=r"2 tables: 'other.A b', 'runs'; choose one") as caught:
        sf.load(filled)
    assert "pa55" not in str(caught.value)
    assert len(sf.load(filled, table="other.A b")) == 1
    with pytest.raises(Ambiguous, match="no table 'nope'"):
        sf.load(filled, table="nope")


@pytest.mark.heavy
def test_postgres_is_only_read(filled: str) -> None:
    execute(
        filled,
        "create function public.clear() returns int language sql as 'delete from public.runs; select 1'",
    )
    for query in ("select clear() as a", "with a as (delete from runs returning *) select * from a"):
        with pytest.raises(InvalidPredictions) as caught:
            sf.load(filled, query=query)
        assert "pa55" not in str(caught.value)
    assert len(sf.load(filled, table="runs")) == 500


@pytest.mark.heavy
@pytest.mark.parametrize("change", [("ann:", "bob:"), ("pa55", "pa56"), ("/postgres", "/nope")])
def test_postgres_that_refuses(server: str, change: tuple[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", server.replace(*change)]) == 3
    error = capfd.readouterr().err
    assert "pa5" not in error
    assert ":***@127.0.0.1" in error
    assert len(error.splitlines()) == 1


@pytest.mark.heavy
def test_postgres_while_memory_is_small(filled: str, rows: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefoot.files.reader.MOST_ROWS", 100)
    many = "select r.* from runs r, generate_series(1, 200)"
    (source,) = open_data(filled, None, Part(query=many))
    assert sum(batch.table.num_rows for batch in source.batches(["label"], [])) == 100_000
    assert source.head().num_rows == 10_000
