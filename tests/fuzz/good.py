"""Small good files, from which damaged ones are made; each is drawn anew from a generator."""

from __future__ import annotations

import io
import json
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

import surefoot as sf

Rng = np.random.Generator
NAMES = {"text": ["a", "b", "c"], "numbers": [0, 1, 2], "odd": ["<b>", 'q"u', "a,b"]}


def table(rng: Rng) -> dict[str, list[Any]]:
    """Columns that are read without further options."""
    rows, kind = int(rng.integers(1, 50)), str(rng.choice(list(NAMES)))
    labels = NAMES[kind]
    truth = [labels[i] for i in rng.integers(0, len(labels), rows)]
    columns: dict[str, list[Any]] = {}
    shape = int(rng.integers(4))
    if shape == 0:
        columns = {"truth": truth, "predicted": [labels[i] for i in rng.integers(0, len(labels), rows)]}
        columns["confidence"] = rng.uniform(0.3, 1, rows).round(int(rng.integers(1, 18))).tolist()
    elif shape == 1:
        confidence = rng.uniform(0.3, 1, rows)
        columns = {"correct": (rng.random(rows) < confidence).tolist(), "confidence": confidence.tolist()}
    elif shape == 2:
        p = rng.uniform(0, 1, rows)
        columns = {"y": (rng.random(rows) < p).astype(int).tolist(), "prob": p.round(4).tolist()}
    else:
        p = rng.dirichlet(np.ones(len(labels)), rows)
        columns = {"truth": truth, **{f"p_{label}": p[:, k].tolist() for k, label in enumerate(labels)}}
    if rng.random() < 0.3:
        columns["region"] = rng.choice(["north", "süd", ""], rows).tolist()
    if rng.random() < 0.2:
        columns["id"] = list(range(rows))
    return columns


def delimited(rng: Rng, mark: str = ",") -> bytes:
    """CSV."""
    columns = table(rng)
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    end = "\r\n" if rng.random() < 0.2 else "\n"
    return (end.join(mark.join(_cell(value, mark) for value in line) for line in lines) + end).encode()


def _cell(value: Any, mark: str) -> str:
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in (mark, '"', "\n")) else text


def json_rows(rng: Rng) -> list[dict[str, Any]]:
    """Objects of JSON lines; some as logs of evaluations nest them."""
    columns = table(rng)
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if rng.random() < 0.2 and "confidence" in columns and "correct" in columns:
        rows = [
            {"id": i, "judge": {"correct": "yes" if one["correct"] else "no", "confidence": one["confidence"]}}
            for i, one in enumerate(rows)
        ]
    return rows


def harness_rows(rng: Rng) -> list[dict[str, Any]]:
    """Samples of choices by their log-likelihoods."""
    return [
        {"doc_id": i, "doc": {}, "target": 0, "acc": 1.0, "filter": "x", "filtered_resps": [[v, False] for v in logs]}
        for i, logs in enumerate(rng.normal(-3, 2, (int(rng.integers(1, 15)), 4)).tolist())
    ]  # fmt: skip


def arrow_table(rng: Rng) -> pa.Table:
    """The same columns typed, some encoded otherwise."""
    held = pa.table(table(rng))
    for i, name in enumerate(held.column_names):
        way = rng.random()
        if way < 0.15:
            held = held.set_column(i, name, held.column(name).dictionary_encode())
        elif way < 0.2 and pa.types.is_floating(held.column(name).type):
            held = held.set_column(i, name, held.column(name).cast(pa.float32()))
        elif way < 0.25 and pa.types.is_string(held.column(name).type):
            held = held.set_column(i, name, held.column(name).cast(pa.large_string()))
    return held


def parquet(rng: Rng) -> bytes:
    sink = io.BytesIO()
    packed = str(rng.choice(["none", "snappy", "zstd", "gzip"]))
    pq.write_table(arrow_table(rng), sink, compression=packed, row_group_size=int(rng.choice([7, 1000])))
    return sink.getvalue()


def arrow(rng: Rng) -> bytes:
    sink, held = io.BytesIO(), arrow_table(rng)
    packed = [None, "lz4", "zstd"][int(rng.integers(3))]
    make = pa.ipc.new_file if rng.random() < 0.7 else pa.ipc.new_stream
    with make(sink, held.schema, options=pa.ipc.IpcWriteOptions(compression=packed)) as writer:
        writer.write_table(held, max_chunksize=int(rng.choice([7, 1000])))
    return sink.getvalue()


def npz(rng: Rng) -> bytes:
    rows, sink = int(rng.integers(1, 40)), io.BytesIO()
    kind = str(rng.choice(["<f8", "<f4", ">f8", "<f2", "g"]))
    p = rng.dirichlet(np.ones(3), rows)
    arrays = {"y_true": rng.integers(0, 3, rows), "probabilities": p.astype(kind)}
    if rng.random() < 0.5:
        arrays = {"correct": rng.random(rows) < 0.8, "confidence": rng.uniform(0.3, 1, rows).astype(kind)}
    (np.savez if rng.random() < 0.5 else np.savez_compressed)(sink, **arrays)
    return sink.getvalue()


def inspect_log(rng: Rng) -> bytes:
    """A log of Inspect AI."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"status": "success", "eval": {"task": "t", "model": "m"}}))
        for i in range(int(rng.integers(1, 8))):
            score = {"value": str(rng.choice(["C", "I"])), "metadata": {"confidence": float(rng.random())}}
            archive.writestr(f"samples/{i}_epoch_1.json", json.dumps({"id": i, "epoch": 1, "scores": {"s": score}}))
    return sink.getvalue()


def evaluation(rng: Rng) -> tuple[str, bytes]:
    """What other tools leave of answers that state their confidence: the name of such a file, and what it holds."""
    rows = []
    for i in range(int(rng.integers(2, 9))):
        right, stated = "yes" if rng.random() < 0.6 else "no", int(rng.integers(0, 101))
        rows.append({"id": f"q{i}", "correct": right, "confidence": stated, "response": f"4.\nConfidence: {stated}%"})
    way = int(rng.integers(7))
    if way == 0:
        judged = {row["id"]: {"response": row["response"], "judge_response": row} for row in rows}
        return "x.json", json.dumps(judged, indent=2 if rng.random() < 0.5 else None).encode()
    if way == 1:
        return "x.json", json.dumps({"model": "m", "results": rows}).encode()
    if way == 2:
        generated = [
            {
                "doc_id": i,
                "doc": {"question": "?"},
                "resps": [[row["response"]]],
                "filtered_resps": ["4"],
                "filter": str(rng.choice(["none", "strict"])),
                "metrics": ["exact_match"],
                "exact_match": float(row["correct"] == "yes"),
            }
            for i, row in enumerate(rows)
        ]
        return "samples_x.jsonl", _lines(generated)
    if way == 3:
        replies = [
            {"custom_id": row["id"], "response": {"body": {"choices": [{"message": {"content": json.dumps(row)}}]}}}
            for row in rows
        ]
        return "x.jsonl", _lines(replies)
    if way == 4:
        tokens = [{"correct": row["correct"], "logprobs": (-rng.random(3)).tolist()} for row in rows]
        return "x.jsonl", _lines(tokens)
    if way == 5:
        return "x.jsonl", _lines([{"correct": row["correct"], "response": row["response"]} for row in rows])
    logs = sorted((Path(__file__).parents[1] / "data" / "logs").glob("*.eval"))
    return "x.eval", logs[int(rng.integers(len(logs)))].read_bytes()


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def workbook(rng: Rng) -> bytes:
    """An Excel workbook, of which some numbers are text."""
    columns, sink = table(rng), io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(list(columns))
    for values in zip(*columns.values(), strict=True):
        book.active.append(
            [f"{value:%}" if isinstance(value, float) and rng.random() < 0.1 else value for value in values]
        )
    book.save(sink)
    return sink.getvalue()


@cache
def database(kind: str, seed: int) -> bytes:
    """A table of a database."""
    columns = table(np.random.default_rng(seed))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "x"))
        if kind == "sqlite":
            with closing(sqlite3.connect(path)) as connection:
                names = ", ".join(f'"{name}"' for name in columns)
                connection.execute(f"create table results ({names})")
                marks = ", ".join("?" for _ in columns)
                connection.executemany(f"insert into results values ({marks})", zip(*columns.values(), strict=True))
                connection.commit()
        else:
            held = pa.table(columns)
            with closing(duckdb.connect(path)) as connection:
                connection.register("held", held)
                connection.execute("create table results as select * from held")
        return Path(path).read_bytes()


def bomb(rng: Rng) -> tuple[str, bytes]:
    """A small file that unpacks to a gigabyte or more, or says that it does."""
    block, sink, way = b" " * (1 << 20), io.BytesIO(), int(rng.integers(4))
    if way < 2:
        name, entry = (("x.eval", "header.json"), ("x.xlsx", "xl/worksheets/sheet1.xml"))[way]
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/workbook.xml" if way else "samples/1_epoch_1.json", "{}")
            with archive.open(entry, "w", force_zip64=True) as out:
                for _ in range(64):
                    out.write(block)
        # the directory may say less than what comes out
        size = (64 << 20).to_bytes(4, "little")
        return name, sink.getvalue().replace(
            size, (5000).to_bytes(4, "little")
        ) if rng.random() < 0.7 else sink.getvalue()
    packer = zstandard.ZstdCompressor().compressobj() if way == 2 else zlib.compressobj(9, zlib.DEFLATED, 31)
    begun = packer.compress(b'[{"correct": "yes", "confidence": ')
    packed = begun + b"".join(packer.compress(block) for _ in range(1 << 10)) + packer.flush()
    return f"x.{rng.choice(['json', 'jsonl', 'csv', 'eval'])}.{'zst' if way == 2 else 'gz'}", packed


@cache
def saved(kind: str) -> list[bytes]:
    """Saved tallies, monitors, calibrators and policies."""
    rng, found = np.random.default_rng(1), []
    p = rng.dirichlet([2, 1, 1], 60)
    y = rng.integers(0, 3, 60)
    rows = sf.Predictions.from_probabilities(y, p)
    event = sf.Predictions.from_probabilities(y == 1, p[:, 1])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "saved")

        def keep(save: Callable[[Path], Any]) -> None:
            save(path)
            found.append(path.read_bytes())

        if kind == "tally":
            for held, by in ((rows, None), (event, None), (rows, "predicted"), (rows, np.array(["x", "y"] * 30))):
                keep(sf.tally(held, by=by).save)
        elif kind == "monitor":
            for side in ("both", "overconfident"):
                monitor = sf.Monitor(alternative=side)
                monitor.update(rng.random(400) < 0.5, np.full(400, 0.95), ids=[str(i) for i in range(400)])
                monitor.expect(["x", "y"], [0.5, 0.75])
                keep(monitor.save)
        elif kind == "policy":
            keep(sf.Policy(sf.Thresholds(0.9, 0.4), error=0.02, level=0.05, rows=100).save)
            slices = {"a": sf.Thresholds(0.9), "b": sf.Thresholds(None)}
            keep(sf.Policy(sf.Thresholds(None), error=0.02, level=0.05, rows=9, by="region", slices=slices).save)
        else:
            for method in sf.calibrators.METHODS.values():
                keep(method().fit(p[:, 1], y == 1).save)
    return found
