"""What is sent is read as the library reads it: the service's numbers are those of ``assess`` on the same rows."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefoot as sf
from surefoot.files.source import BadFile
from surefoot.service import batches
from surefoot.service.batches import ARROW, JSON, Label, Prediction
from surefoot.service.database import connect
from surefoot.service.pushing import rows_of
from surefoot.service.refused import Refused
from surefoot.service.store import Store
from surefoot.service.totals import total


@pytest.fixture
def store(tmp_path: Path):
    made = Store(connect(str(tmp_path / "store.db")))
    yield made
    made.database.close()


def pushed(store: Store, path: Path) -> sf.Tally:
    """The totals after a file of labelled predictions was sent."""
    import json

    for rows in rows_of(str(path), {})[2]:
        made = batches.predictions(json.dumps(rows).encode(), JSON)
        (receipt,) = store.add("m", "1", [made])
        assert not isinstance(receipt, Refused)
    return total(store.database, store.find("m", "1"))


def is_same(tally: sf.Tally, path: Path) -> bool:
    one, other = sf.assess(tally), sf.assess(str(path))
    assert one.risk.expected_errors == pytest.approx(other.risk.expected_errors, rel=1e-12)
    # a rounded 1 is told as 1 less its doubt, so what confidences weigh differs by at most that
    least = 1e-12 + max((row for row in other.predictions.doubt[other.predictions.confidence == 1]), default=0.0)
    assert one.metrics["mean_confidence"] == pytest.approx(other.metrics["mean_confidence"], abs=least)
    return all(one.metrics[name] == pytest.approx(other.metrics[name], rel=1e-12) for name in ("csr", "accuracy"))


def written(path: Path, rows: int = 600) -> Path:
    """Confidences of three decimals, of which some are rounded to 1, and one of those is wrong."""
    rng = np.random.default_rng(2)
    confidence = np.round(rng.beta(8, 1, rows), 3)
    confidence[:20] = 1.0
    correct = rng.random(rows) < confidence
    correct[3] = False
    lines = [f"{i},{c},{int(right)}" for i, (c, right) in enumerate(zip(confidence, correct, strict=True))]
    path.write_text("id,confidence,correct\n" + "\n".join(lines) + "\n")
    return path


def test_a_rounded_one_in_a_file_is_no_certainty(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv")
    tally = pushed(store, path)
    assert is_same(tally, path)
    assert np.isfinite(sf.assess(tally).metrics["csr"])


@pytest.mark.parametrize("width", [pa.float32(), pa.float16()])
def test_nor_in_a_column_of_a_type_that_rounds(store: Store, tmp_path: Path, width: pa.DataType) -> None:
    held = sf.load(written(tmp_path / "t.csv"))
    confidence = pa.array(np.asarray(held.confidence).astype(width.to_pandas_dtype()), width)
    table = pa.table({"id": np.arange(len(held)), "confidence": confidence, "correct": np.asarray(held.correct)})
    pq.write_table(table, tmp_path / "t.parquet")
    tally = pushed(store, tmp_path / "t.parquet")
    with pytest.warns(sf.errors.RoundedConfidenceWarning):
        assert is_same(tally, tmp_path / "t.parquet")
    # an Arrow stream holds the same column
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    (one,) = (row for row in batches.predictions(sink.getvalue(), ARROW) if row.id == "3")
    with pytest.warns(sf.errors.RoundedConfidenceWarning):
        read = sf.Predictions.from_correct(held.correct, np.asarray(held.confidence).astype(width.to_pandas_dtype()))
    assert one.doubt == float(np.asarray(read.doubt)[3]) > 0


def test_a_stated_certainty_stays_one(store: Store) -> None:
    (row,) = batches.predictions(b'{"id": 1, "confidence": 1.0}', JSON)
    assert row.doubt == 0


def test_the_client_knows_the_type_of_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict] = []
    client = sf.Client("http://127.0.0.1:9")
    monkeypatch.setattr(client, "_send", lambda model, version, what, rows: sent.extend(rows))
    client.predictions("m", "1", ["a", "b"], np.array([0.7, 1.0], dtype=np.float32))
    assert sent[0].get("doubt") is None
    assert sent[1]["doubt"] == 16 * 2.0**-25
    client.predictions("m", "1", ["c"], [1.0], doubt=[0.0])
    assert sent[2]["doubt"] == 0.0


def test_a_column_called_score_is_not_taken_for_a_confidence(tmp_path: Path) -> None:
    """``assess`` takes it for the probability of class 1: 105 errors were expected, and the service expected 211."""
    (tmp_path / "s.csv").write_text("id,score,predicted,truth\na,0.1,0,0\nb,0.9,1,1\n")
    with pytest.raises(BadFile, match="name it with --confidence") as raised:
        rows_of(str(tmp_path / "s.csv"), {})
    assert "score" in str(raised.value)


def test_rows_that_were_not_attempted_are_left_out(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,confidence,correct,attempted\na,0.9,1,1\nb,0.8,0,0\nc,0.7,0,1\nd,0.6,0,no\n")
    assert sf.load(path).not_attempted == 2
    assert is_same(pushed(store, path), path)


@pytest.mark.parametrize("missing", ["NA", "nan", "NULL"])
def test_a_missing_label_is_no_class(tmp_path: Path, missing: str) -> None:
    path = tmp_path / "l.csv"
    path.write_text(f"id,label\na,cat\nb,{missing}\n")
    with pytest.raises(BadFile, match=r"label is .* in row 2, which is how programs write that there is none"):
        list(rows_of(str(path), {})[2])


def test_classes_of_kinds_that_are_never_equal_are_refused(store: Store, tmp_path: Path) -> None:
    store.add("m", "1", [[Prediction("a", 0.9, 0.1, predicted="true"), Prediction("b", 0.9, 0.1, predicted="cat")]])
    (refused,) = store.add("m", "1", [[Label("a", label="1")]])
    assert isinstance(refused, Refused)
    assert refused.status == 409
    assert "one is true or false and the other a number" in refused.message
    # text beside text is compared
    (receipt,) = store.add("m", "1", [[Label("b", label="true"), Label("a", label="not given")]])
    assert not isinstance(receipt, Refused)
    (tmp_path / "k.csv").write_text("id,confidence,predicted,label\na,0.9,True,1\n")
    with pytest.raises(BadFile, match="row 1 was predicted as 'true', and its label is '1'"):
        list(rows_of(str(tmp_path / "k.csv"), {})[2])


def test_another_true_class_is_refused_where_both_are_wrong(store: Store) -> None:
    store.add("m", "1", [[Prediction("b", 0.9, 0.1, predicted="dog")]])
    store.add("m", "1", [[Label("b", label="cat")]])
    (again,) = store.add("m", "1", [[Label("b", label="cat")]])
    assert again.repeated == 1
    (refused,) = store.add("m", "1", [[Label("b", label="bird")]])
    assert isinstance(refused, Refused)
    assert "labelled 'cat' before, and now 'bird'" in refused.message
    # whether it was right agrees with either
    (right,) = store.add("m", "1", [[Label("b", correct=False)]])
    assert right.repeated == 1


def test_a_name_that_stands_twice_among_many_is_found_at_once() -> None:
    """It took 17 seconds for 40,000 names, and the square of that for more."""
    body = "{" + ",".join(f'"{i}":1' for i in range(300_000)) + ',"299999":1}'
    with pytest.raises(Refused, match="'299999' stands twice in one object"):
        batches.predictions(body.encode(), JSON)
