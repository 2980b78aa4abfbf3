"""Every format holds the same rows, and gives the same predictions."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zstandard

import surefoot as sf
from surefoot.files import reader, reading
from surefoot.files.rounding import decimals_of

WRITERS: dict[str, Callable[[pa.Table, str, Path], object]] = {
    "a.csv": lambda t, s, p: p.write_text(s),
    "crlf.csv": lambda t, s, p: p.write_bytes(s.replace("\n", "\r\n").encode()),
    "bom.csv": lambda t, s, p: p.write_bytes(b"\xef\xbb\xbf" + s.encode()),
    "last line open.csv": lambda t, s, p: p.write_text(s.rstrip("\n")),
    "a.tsv": lambda t, s, p: p.write_text(s.replace(",", "\t")),
    "a.csv.gz": lambda t, s, p: p.write_bytes(gzip.compress(s.encode())),
    "two members.csv.gz": lambda t, s, p: p.write_bytes(
        gzip.compress(s[:99].encode()) + gzip.compress(s[99:].encode())
    ),
    "a.csv.zst": lambda t, s, p: p.write_bytes(zstandard.compress(s.encode())),
    "two frames.csv.zst": lambda t, s, p: p.write_bytes(
        zstandard.compress(s[:99].encode()) + zstandard.compress(s[99:].encode())
    ),
    "a.parquet": lambda t, s, p: pq.write_table(t, p),
    "small groups.parquet": lambda t, s, p: pq.write_table(t, p, row_group_size=37),
    "a.feather": lambda t, s, p: pa.feather.write_feather(t, str(p)),
    "a.arrow": lambda t, s, p: pa.feather.write_feather(t, str(p), compression="uncompressed"),
    "a.jsonl": lambda t, s, p: p.write_text("".join(json.dumps(row) + "\n" for row in t.to_pylist())),
    "a.npz": lambda t, s, p: np.savez(p, **{name: np.array(t.column(name).to_pylist()) for name in t.column_names}),
}


def as_they_are(rows: pa.Table) -> sf.Predictions:
    columns = [np.array(rows.column(name).to_pylist()) for name in ("label", "pred", "confidence")]
    return sf.Predictions.from_labels(*columns)


def same(one: sf.Predictions, other: sf.Predictions) -> None:
    for name in ("truth", "predicted", "confidence", "correct", "doubt", "weight"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("name", list(WRITERS))
def test_every_format_gives_the_same_predictions(name: str, rows: pa.Table, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](rows, text, path)
    same(sf.load(path), as_they_are(rows))


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl", "a.csv.gz", "a.csv.zst", "a.feather", "a.npz"])
def test_standard_input_is_known_by_its_first_bytes(
    name: str, rows: pa.Table, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    WRITERS[name](rows, text, tmp_path / name)
    content = (tmp_path / name).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
    same(sf.load("-"), as_they_are(rows))


def test_folders_and_globs_are_one_data_set_in_the_order_of_names(rows: pa.Table, tmp_path: Path) -> None:
    (tmp_path / "all" / "deeper").mkdir(parents=True)
    pq.write_table(rows.slice(0, 100), tmp_path / "all" / "1.parquet")
    pq.write_table(rows.slice(100, 150), tmp_path / "all" / "2.parquet")
    pq.write_table(rows.slice(250), tmp_path / "all" / "deeper" / "3.parquet")
    (tmp_path / "all" / "_SUCCESS").write_text("")
    same(sf.load(tmp_path / "all"), as_they_are(rows))
    same(sf.load(str(tmp_path / "all" / "*.parquet")), as_they_are(rows.slice(0, 250)))


def test_a_quoted_line_break_ends_no_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('note,truth,predicted,confidence\n"two\nlines, ""quoted""",1,1,0.9\nplain,0,1,0.6\n')
    assert sf.load(path).correct.tolist() == [True, False]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl", "a.csv.zst"])
@pytest.mark.parametrize("by", [None, "region", "predicted", "truth"])
def test_what_is_too_large_for_memory_is_tallied_to_the_same_totals(
    name: str, by: str | None, rows: pa.Table, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    WRITERS[name](rows, text, path)
    whole = reading.read(str(path), {}, by=by)
    monkeypatch.setattr(reader, "MOST_ROWS", 100)
    monkeypatch.setattr("surefoot.files.source._TOGETHER", 130)
    if name == "a.parquet":
        pq.write_table(rows, path, row_group_size=60)
    streamed = reading.read(str(path), {}, by=by)
    assert isinstance(whole.held, sf.Predictions)
    assert isinstance(streamed.held, sf.Tally)
    one, other = sf.assess(whole.held, by=whole.by), sf.assess(streamed.held)
    for metric, value in other.metrics.items():
        assert one[metric] == pytest.approx(value, rel=1e-12), metric
    assert one.risk.pvalue == pytest.approx(other.risk.pvalue, rel=1e-9)
    assert [part.value for part in one.slices] == [part.value for part in other.slices]
    for part, twin in zip(one.slices, other.slices, strict=True):
        assert part.risk.csr == pytest.approx(twin.risk.csr, rel=1e-12)
    assert other.by == by


def test_a_large_file_of_probabilities_knows_labels_that_no_batch_holds_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), 300)
    truth = np.sort(np.array(["ape", "bee", "cat"])[[rng.choice(3, p=row) for row in p]])
    table = pa.table({"label": truth, "probs": pa.FixedSizeListArray.from_arrays(pa.array(p.ravel()), 3)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=50)
    monkeypatch.setattr(reader, "MOST_ROWS", 60)
    monkeypatch.setattr("surefoot.files.source._TOGETHER", 60)
    held = reading.read(str(tmp_path / "a.parquet"), {}).held
    expected = sf.assess(sf.Predictions.from_probabilities(truth, p))
    assert isinstance(held, sf.Tally)
    found = sf.assess(held)
    assert found["cw_f1"] == pytest.approx(expected["cw_f1"], rel=1e-12)
    assert found["auc"] == pytest.approx(expected["auc"], abs=found.bounds.get("auc", 0) + 1e-12)


# -- numbers that are words or rounded -------------------------------------------------------------------------------


def test_confidences_as_a_model_says_them(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    said = ["85%", 0.85, "0.85", "100 %", 1]
    path.write_text("".join(json.dumps({"correct": True, "confidence": c, "doc": {"x": 1}}) + "\n" for c in said))
    p = sf.load(path)
    assert p.confidence.tolist() == [0.85, 0.85, 0.85, 1.0, 1.0]
    assert p.rounded == 2


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("high", "have no agreed meaning"),
        (None, "missing"),
        ([0.5], "confidence"),
        (True, "number"),
    ],
)
def test_what_is_no_number_is_refused_with_the_reason(said: object, why: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"correct": True, "confidence": "90%"}, {"correct": True, "confidence": said}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(sf.InvalidPredictions, match=r"a\.jsonl") as caught:
        sf.load(path)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("others", "expected"), [("0.875", 8e-3), ("0.8751", 8e-4), ("0.87", 5e-3), ("0.8", 5e-2), ("0.123456789", 8e-9)]
)
def test_a_one_among_rounded_numbers_was_rounded_too(others: str, expected: float, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"correct,confidence\n1,{others}\n0,1.0\n1,1\n")
    p = sf.load(path)
    assert (p.rounded, p.certain) == (2, 0)
    assert p.doubt.tolist()[1:] == pytest.approx([expected, expected])


def test_a_one_among_full_numbers_is_a_claim(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"correct,confidence\n1,{2 / 3!r}\n1,1.0\n")
    p = sf.load(path)
    assert (p.rounded, p.certain) == (0, 1)


def test_a_large_file_whose_later_rows_are_not_rounded_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    rows = ["1,1.0", "1,0.75"] * 100 + [f"1,{2 / 3!r}"] * 100
    path.write_text("correct,confidence\n" + "\n".join(rows) + "\n")
    monkeypatch.setattr("surefoot.files.streams._FIRST", 300)
    monkeypatch.setattr("surefoot.files.streams._PIECE", 300)
    monkeypatch.setattr(reader, "MOST_ROWS", 50)
    monkeypatch.setattr("surefoot.files.source._TOGETHER", 50)
    tally = reading.read(str(path), {}).held
    assert isinstance(tally, sf.Tally)
    assert sf.assess(tally).risk.certain == 100


def test_decimals() -> None:
    assert decimals_of(np.array([0.5, 1.0])) == 1
    assert decimals_of(np.array([1.0, 0.0])) == 0
    assert decimals_of(np.random.default_rng(0).random(100)) is None


# -- evaluation logs -------------------------------------------------------------------------------------------------


def sample(target: object, logs: list[float], **more: object) -> str:
    texts = [[str(x), "False"] for x in logs]
    return json.dumps({"doc_id": 0, "target": target, "filtered_resps": texts, "doc": {}, **more}) + "\n"


def test_the_logs_of_the_harness(tmp_path: Path) -> None:
    path = tmp_path / "samples_arc_easy_2024-10-11T12-00-00.000000.jsonl"
    lines = [
        sample("1", [-3.0, -1.0, -2.0]),  # 1 is the largest, and right
        sample(0, [-3.0, -1.0]),  # two choices, wrong
        sample(" B", [-1.0, -2.0], doc={"choices": {"text": ["A thing", "B"], "label": ["A", "B"]}}),
        sample("A", [-1.0, -60.0]),
        sample("free text", [-1.0, -2.0], acc=1.0),
    ]
    path.write_text("".join(lines))
    p = sf.load(path)
    assert p.correct.tolist() == [True, False, False, True, True]
    weights = np.exp([-3.0, -1.0, -2.0])
    assert p.confidence[0] == pytest.approx(weights[1] / weights.sum(), rel=1e-12)
    assert p.doubt[3] == pytest.approx(np.exp(-59.0), rel=1e-12)
    assert reading.read(str(path), {}, by="task").by.tolist() == ["arc_easy"] * 5


def test_a_document_counts_once_though_two_filters_scored_it(tmp_path: Path) -> None:
    path = tmp_path / "samples_x.jsonl"
    path.write_text(sample(0, [-1.0, -2.0], filter="strict") + sample(0, [-1.0, -2.0], filter="flexible"))
    assert len(sf.load(path)) == 1


def test_a_log_may_be_called_by_bytes_that_are_no_text(tmp_path: Path) -> None:
    for name in (b"samples_\xff.jsonl", b"samples_\xfe.jsonl"):
        (tmp_path / os.fsdecode(name)).write_text(sample(0, [-1.0, -2.0]))
    a = sf.assess(str(tmp_path / "samples_*.jsonl"), by="task")
    assert [part.value for part in a.slices] == ["\\udcfe", "\\udcff"]


def test_generated_answers_say_no_confidence(tmp_path: Path) -> None:
    path = tmp_path / "samples_gsm8k.jsonl"
    line = {"doc_id": 0, "target": "4", "filtered_resps": ["four"], "doc": {}}
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(sf.InvalidPredictions, match=r"its answers state none; .*--confidence-pattern"):
        sf.load(path)


# -- logits ----------------------------------------------------------------------------------------------------------


def test_logits_keep_their_digits(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", logits=np.array([[40.0, 0.0], [0.0, 1.0]]), y_true=np.array([0, 0]))
    p = sf.load(tmp_path / "a.npz")
    assert p.doubt[0] == pytest.approx(np.exp(-40.0), rel=1e-12)


def test_what_load_takes(rows: pa.Table, tmp_path: Path) -> None:
    pq.write_table(rows, tmp_path / "a.parquet")
    with pytest.raises(TypeError, match="unexpected argument 'thruth'"):
        sf.load(tmp_path / "a.parquet", thruth="label")
    assert sf.load(tmp_path / "a.parquet", floor=0.1).confidence.max() == pytest.approx(0.9)
    sf.tally(sf.load(tmp_path / "a.parquet")).save(tmp_path / "a.tally")
    with pytest.raises(sf.InvalidPredictions, match=r"Tally\.load"):
        sf.load(tmp_path / "a.tally")


def test_one_of_three_columns_of_probabilities_is_not_the_only_one(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("truth,p_0,p_1,p_2,price\n0,0.6,0.01,0.39,9.5\n1,0.3,0.6,0.1,3.5\n0,0.2,0.1,0.7,1.5\n")
    assert sf.load(path).predicted.tolist() == [0, 1, 2]


def test_columns_of_one_name_and_two_types(tmp_path: Path) -> None:
    wide = pa.table({"correct": [True, False], "confidence": [0.6, 0.7]})
    pq.write_table(wide, tmp_path / "2.parquet")
    pq.write_table(wide.set_column(1, "confidence", pa.array([1.0, 0.5], pa.float32())), tmp_path / "1.parquet")
    with pytest.raises(
        sf.InvalidPredictions, match=r"2\.parquet: confidence is of type double, in the first file float"
    ):
        sf.load(tmp_path)


def test_ones_that_come_first_in_a_large_file_are_judged_by_those_that_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("correct,confidence\n" + "1,1.0\n" * 300 + "1,0.5\n0,0.75\n" * 50)
    whole = sf.load(path)
    monkeypatch.setattr("surefoot.files.streams._FIRST", 300)
    monkeypatch.setattr("surefoot.files.streams._PIECE", 300)
    monkeypatch.setattr(reader, "MOST_ROWS", 50)
    monkeypatch.setattr("surefoot.files.source._TOGETHER", 50)
    tally = reading.read(str(path), {}).held
    assert isinstance(tally, sf.Tally)
    found = sf.assess(tally)
    assert (whole.rounded, whole.certain) == (found.risk.rounded, found.risk.certain) == (300, 0)
    assert found["csr"] == pytest.approx(sf.csr(whole), rel=1e-12)


def test_a_choice_that_is_a_number_is_no_index(tmp_path: Path) -> None:
    path = tmp_path / "samples_x.jsonl"
    path.write_text(
        sample("7", [-3.0, -1.0], doc={"choices": ["5", "7"]}, acc=1.0)
        + sample("7", [-3.0, -1.0], doc={"choices": ["5", "7"]})
        + sample("1", [-3.0, -1.0])
    )
    assert sf.load(path).correct.tolist() == [True, True, True]


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("truth,predicted,confidence,weight", ["0,0,0.5,0"] * 60 + ["0,1,0.75,1", "1,1,0.25,2"] * 60),
        ("truth,prob_x,prob_y,prob_z", ["1,0.5,0.3,0.2"] * 60 + ["2,0.1,0.8,0.1", "3,0.3,0.3,0.4"] * 60),
        ("truth,logit_0,logit_1", ["0,1.5,0.5", "1,2.5,1.0"] * 100),
        ("truth,prob", ["no,0.25"] * 80 + ["yes,0.75"] * 80),
    ],
)
def test_what_memory_takes_a_large_file_takes_too(
    header: str, rows: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    given = {"logits": "logit_"} if "logit" in header else {}
    positive = "yes" if "yes" in rows[-1] else None
    whole = sf.assess(sf.load(path, **given, pos_label=positive))
    monkeypatch.setattr("surefoot.files.streams._FIRST", 300)
    monkeypatch.setattr("surefoot.files.streams._PIECE", 300)
    monkeypatch.setattr(reader, "MOST_ROWS", 30)
    monkeypatch.setattr("surefoot.files.source._TOGETHER", 20)
    held = reading.read(str(path), given, positive=positive).held
    assert isinstance(held, sf.Tally)
    assert sf.assess(held)["csr"] == pytest.approx(whole["csr"], rel=1e-12)
    assert sf.assess(held)["accuracy"] == whole["accuracy"]


def test_an_empty_slice_name_is_found_in_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_text("correct,confidence,g\n" + "1,0.5,a\n" * 350 + "1,0.5,\n")
    monkeypatch.setattr("surefoot.files.streams._FIRST", 300)
    monkeypatch.setattr("surefoot.files.streams._PIECE", 300)
    monkeypatch.setattr(reader, "MOST_ROWS", 30)
    monkeypatch.setattr("surefoot.files.source._TOGETHER", 20)
    with pytest.raises(sf.InvalidPredictions, match="row 351: g is empty"):
        reading.read(str(path), {}, by="g")


def test_odd_but_legal(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"correct": pa.array([], pa.bool_()), "confidence": pa.array([], pa.float64())}),
        tmp_path / "0.parquet",
    )
    with pytest.raises(sf.InvalidPredictions, match="no rows"):
        sf.load(tmp_path / "0.parquet")
    (tmp_path / "dates.csv").write_text(
        "truth,predicted,confidence\n2024-01-01,2024-01-01,0.5\n2024-01-02,2024-01-01,0.7\n"
    )
    assert sf.load(tmp_path / "dates.csv").correct.tolist() == [True, False]
    (tmp_path / "wide.csv").write_bytes("correct,confidence\n1,0.5\n".encode("utf-16"))
    assert sf.load(tmp_path / "wide.csv").confidence.tolist() == [0.5]
    (tmp_path / "half.jsonl").write_text('{"truth":"\\ud800","predicted":"a","confidence":0.5}\n')
    with pytest.raises(sf.InvalidPredictions):
        sf.load(tmp_path / "half.jsonl")
    struct = pa.table({"a": pa.array([{"truth": 9}] * 4), "a.truth": [0, 1, 0, 1], "p": [0.25, 0.75, 0.25, 0.75]})
    pq.write_table(struct, tmp_path / "dots.parquet")
    assert sf.load(tmp_path / "dots.parquet", truth="a.truth").correct.all()


def test_tallies_packed_or_pretty(rows: pa.Table, tmp_path: Path) -> None:
    tally = sf.tally(as_they_are(rows))
    tally.save(tmp_path / "a.tally")
    text = (tmp_path / "a.tally").read_text()
    (tmp_path / "b.tally.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "c.json").write_text(json.dumps(json.loads(text), indent=2))
    for name in ("b.tally.gz", "c.json"):
        held = reading.read(str(tmp_path / name), {}).held
        assert isinstance(held, sf.Tally)
        assert sf.assess(held)["csr"] == sf.assess(tally)["csr"]


def test_sums_that_rounding_has_moved(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("truth,p_0,p_1,p_2\n0,0.334,0.334,0.333\n1,0.1,0.8,0.1\n")
    p = sf.load(tmp_path / "a.csv")
    assert p.confidence[0] == pytest.approx(0.334 / 1.001)
    (tmp_path / "b.csv").write_text("truth,p_0,p_1,p_2\n0,0.334,0.334,0.434\n1,0.1,0.8,0.1\n")
    with pytest.raises(sf.InvalidPredictions, match="row 1"):
        sf.load(tmp_path / "b.csv")


def test_columns_of_logits_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("truth,logit_0,logit_1,logit_2\n0,2.5,0.5,0.25\n2,1.5,2.5,0.5\n")
    assert sf.load(tmp_path / "a.csv").predicted.tolist() == [0, 1]


def test_a_log_without_a_time_names_its_task(tmp_path: Path) -> None:
    path = tmp_path / "samples_arc_easy.jsonl"
    path.write_text(sample(0, [-1.0, -2.0]))
    assert reading.read(str(path), {}, by="task").by.tolist() == ["arc_easy"]


def test_a_large_weighted_file_does_not_tell_of_rows_what_is_of_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "correct": rng.random(300) < 0.8,
            "confidence": rng.uniform(0.5, 0.99, 300),
            "weight": rng.uniform(0.1, 9, 300),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    whole = sf.risk_test(sf.load(tmp_path / "a.parquet"))
    monkeypatch.setattr(reader, "MOST_ROWS", 100)
    tally = reading.read(str(tmp_path / "a.parquet"), {}).held
    found = sf.assess(tally).risk
    assert found.statistic == pytest.approx(whole.statistic)
    assert found.csr == pytest.approx(whole.csr)
    assert np.isnan([found.skewness, found.heaviest_share, found.pvalue_capped]).all()
    assert found.pvalue_combined == min(1.0, 2 * found.pvalue)
