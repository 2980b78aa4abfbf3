"""Folders named after values, and folders of Hugging Face data sets as they lie on disk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import surefoot as sf
from surefoot.cli import run
from surefoot.files.finding import Ambiguous
from surefoot.files.opening import open_data
from surefoot.files.partitions import values_in
from surefoot.files.source import BadFile


def table_of(folder: str) -> pa.Table:
    return pa.concat_tables([source.head() for source in open_data(folder)], promote_options="permissive")


def test_partition_keys_are_columns(rows: pa.Table, tmp_path: Path) -> None:
    day = pa.array(np.arange(500) % 3)
    table = rows.append_column("day", day)
    folder = tmp_path / "all"
    ds.write_dataset(
        table, folder, format="parquet", partitioning=["region", "day"], partitioning_flavor="hive"
    )  # pyarrow's own reader is the reference
    found = table_of(str(folder))
    expected = ds.dataset(folder, partitioning="hive").to_table()
    assert found.schema.field("day").type == pa.int64()
    order = [("region", "ascending"), ("day", "ascending"), ("confidence", "ascending")]
    names = ["label", "pred", "confidence", "region"]
    assert found.sort_by(order).select(names).to_pydict() == expected.sort_by(order).select(names).to_pydict()
    got = sf.assess(str(folder), by="region", groups="day")
    want = sf.assess(table, truth="label", predicted="pred", confidence="confidence", by="region", groups="day")
    assert {one.value: one.risk.n for one in got.slices} == {one.value: one.risk.n for one in want.slices}
    assert got.metrics == pytest.approx(want.metrics, nan_ok=True)


def test_a_key_may_be_the_truth(rows: pa.Table, tmp_path: Path) -> None:
    ds.write_dataset(rows, tmp_path / "all", format="parquet", partitioning=["label"], partitioning_flavor="hive")
    found, expected = (
        sf.assess(str(tmp_path / "all")),
        sf.assess(rows, truth="label", predicted="pred", confidence="confidence"),
    )
    assert found.accuracy == expected.accuracy
    assert found.risk.n == 500


def test_patterns_start_at_their_first_wildcard(rows: pa.Table, tmp_path: Path) -> None:
    for name in ("a", "b"):
        path = tmp_path / "run=1" / f"part={name}" / "x.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(rows, path)
    found = open_data(str(tmp_path / "run=1" / "part=*" / "*.parquet"))
    assert found[1].schema.names[-1] == "part"
    assert "run" not in found[1].schema.names
    assert {*found[1].head().column("part").to_pylist()} == {"b"}


def test_values_of_folders() -> None:
    assert values_in(("a=__HIVE_DEFAULT_PARTITION__", "b=x%2Fy%20z", "c=", "plain", "d=01")) == {
        "a": None,
        "b": "x/y z",
        "c": "",
        "d": "01",
    }


def test_numbers_written_otherwise_stay_text(rows: pa.Table, tmp_path: Path) -> None:
    for value in ("01", "2"):
        path = tmp_path / f"code={value}" / "x.parquet"
        path.parent.mkdir()
        pq.write_table(rows, path)
    assert {*table_of(str(tmp_path)).column("code").to_pylist()} == {"01", "2"}


def test_empty_values_are_null(rows: pa.Table, tmp_path: Path) -> None:
    for value in ("__HIVE_DEFAULT_PARTITION__", "2"):
        path = tmp_path / f"code={value}" / "x.parquet"
        path.parent.mkdir()
        pq.write_table(rows, path)
    assert {*table_of(str(tmp_path)).column("code").to_pylist()} == {None, 2}
    with pytest.raises(BadFile, match="is empty, but rows are sliced by it"):
        sf.assess(str(tmp_path), by="code")


def test_a_column_of_the_file_must_agree_with_its_folder(rows: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "region=north" / "x.parquet"
    path.parent.mkdir()
    north = rows.filter(pa.compute.equal(rows.column("region"), "north"))
    pq.write_table(north, path)
    assert sf.assess(str(tmp_path), by="region").risk.n == north.num_rows
    pq.write_table(rows, path)
    with pytest.raises(BadFile, match=r"x.parquet, row \d+: region is 'south', but its folder says 'region=north'"):
        sf.assess(str(tmp_path), by="region")


def test_folders_of_several_depths(rows: pa.Table, tmp_path: Path) -> None:
    for place in ("a=1", "a=1/b=2"):
        (tmp_path / place).mkdir()
        pq.write_table(rows, tmp_path / place / "x.parquet")
    with pytest.raises(BadFile, match="its folders are named after"):
        sf.load(tmp_path)


# -- Hugging Face ----------------------------------------------------------------------------------------------------


def parquet_repository(folder: Path, rows: pa.Table, *splits: str) -> None:
    (folder / "data").mkdir(parents=True)
    (folder / "README.md").write_text("---\nlicense: mit\n---\n")
    (folder / "dataset_infos.json").write_text("{}")
    for split in splits:
        for i in range(2):
            pq.write_table(rows.slice(250 * i, 250), folder / "data" / f"{split}-{i:05}-of-00002.parquet")


def test_a_repository_of_parquet_files(
    rows: pa.Table, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet_repository(tmp_path / "one", rows, "test")
    assert len(sf.load(tmp_path / "one")) == 500
    parquet_repository(tmp_path / "two", rows, "train", "test")
    monkeypatch.chdir(tmp_path)
    assert run(["assess", "two"]) == 2
    assert "several splits (test, train); choose one, such as 'two/data/test-*.parquet'" in capfd.readouterr().err
    assert len(sf.load("two/data/test-*.parquet")) == 500


def save_to_disk(folder: Path, rows: pa.Table) -> None:
    """The layout of ``datasets.Dataset.save_to_disk``: Arrow streams, and JSON that says which."""
    folder.mkdir(parents=True)
    names = [f"data-{i:05}-of-00002.arrow" for i in range(2)]
    for i, name in enumerate(names):
        with pa.OSFile(str(folder / name), "wb") as sink, pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows.slice(250 * i, 250))
    (folder / "cache-0123456789abcdef.arrow").write_bytes((folder / names[0]).read_bytes())
    (folder / "dataset_info.json").write_text(json.dumps({"features": {"label": {"dtype": "int64"}}}))
    (folder / "state.json").write_text(
        json.dumps({"_data_files": [{"filename": name} for name in names], "_split": "test", "_fingerprint": "0"})
    )


def test_a_data_set_saved_to_disk(rows: pa.Table, tmp_path: Path) -> None:
    save_to_disk(tmp_path / "one", rows)
    assert len(sf.load(tmp_path / "one")) == 500
    for split in ("train", "test"):
        save_to_disk(tmp_path / "all" / split, rows)
    (tmp_path / "all" / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    with pytest.raises(Ambiguous, match=r"several splits \(train, test\); choose one, such as '.*all/test'"):
        sf.load(tmp_path / "all")
    assert len(sf.load(tmp_path / "all" / "test")) == 500


def test_metadata_alone_is_data(tmp_path: Path) -> None:
    (tmp_path / "metadata.json").write_text('{"correct": 1, "confidence": 0.5}\n')
    assert len(sf.load(tmp_path)) == 1
