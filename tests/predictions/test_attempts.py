"""Rows that were not attempted: neither right nor wrong. They leave every number, and are counted."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import surefoot as sf
from surefoot import InvalidPredictions, Predictions, Tally
from surefoot.metrics import ALL

#: Six rows by hand: three of four attempted answers are right, and (0.1² + 0.6² + 0.3² + 0.2²) / 4 = 0.125.
CORRECT = [True, None, False, True, True, None]
CONFIDENCE = [0.9, None, 0.6, 0.7, 0.8, float("nan")]
ATTEMPTED = [True, False, True, True, True, False]
GRADES = ["CORRECT", "NOT_ATTEMPTED", "Incorrect", "correct", "C", "refused"]
TOPIC = ["a", "a", "a", "b", "b", "c"]

ROWS = 600
_rng = np.random.default_rng(5)
KEPT = _rng.random(ROWS) < 0.8
TABLE = _rng.dirichlet([1.0, 1.0, 1.0], ROWS)
TRUTH = np.array([_rng.choice(3, p=row) for row in TABLE])
PARTS, GROUPS, WEIGHT = _rng.integers(0, 4, ROWS), _rng.integers(0, 40, ROWS), _rng.uniform(0.5, 2, ROWS)
#: The same with nothing known where there was no answer.
GAPS = np.where(KEPT[:, None], TABLE, np.nan)


def close(one: sf.Assessment, other: sf.Assessment) -> None:
    assert (one.verdict, one.degree, one.risk.n) == (other.verdict, other.degree, other.risk.n)
    assert list(one.metrics) == list(other.metrics)
    for name, value in other.metrics.items():
        assert one.metrics[name] == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True), name
    assert one.risk.pvalue_omnibus == pytest.approx(other.risk.pvalue_omnibus, rel=1e-6)
    for mine, theirs in zip(one.slices, other.slices, strict=True):
        assert (mine.value, mine.risk.n, mine.verdict) == (theirs.value, theirs.risk.n, theirs.verdict)


@pytest.mark.parametrize(
    "p",
    [
        Predictions.from_correct(CORRECT, CONFIDENCE, attempted=ATTEMPTED),
        Predictions.from_correct(CORRECT, CONFIDENCE, attempted=[1, 0, 1, 1, 1, 0]),
        Predictions.from_correct(CORRECT, CONFIDENCE, attempted=["yes", "No", "yes", "TRUE", "true", "0"]),
        Predictions.from_correct(GRADES, CONFIDENCE),
        Predictions.from_correct(np.array(GRADES), CONFIDENCE),
        Predictions.from_correct(pd.Series(GRADES), pd.Series(CONFIDENCE)),
        Predictions.from_correct(pd.Series(GRADES, dtype="category"), CONFIDENCE),
        Predictions.from_correct(pl.Series(GRADES), pl.Series([0.9, None, 0.6, 0.7, 0.8, None])),
        Predictions.from_correct(pa.array(GRADES), pa.array([0.9, None, 0.6, 0.7, 0.8, None])),
        Predictions.from_correct(pa.array(GRADES).dictionary_encode(), CONFIDENCE),
        # one of the two refusals by either
        Predictions.from_correct([*GRADES[:5], None], CONFIDENCE, attempted=[1, 1, 1, 1, 1, 0]),
    ],
)
def test_they_are_counted_and_nothing_else(p: Predictions) -> None:
    assert (len(p), p.not_attempted) == (4, 2)
    assert (sf.accuracy(p), sf.brier(p)) == (0.75, pytest.approx(0.125))
    assert repr(p) == "Predictions(4 rows, accuracy 75.0%, 2 more not attempted)"


def test_every_constructor_takes_it() -> None:
    labels = ["x", None, "y", "x", "x", None]
    guesses = ["x", None, "x", "x", "x", ""]
    assert Predictions.from_labels(labels, guesses, CONFIDENCE, attempted=ATTEMPTED).not_attempted == 2
    table = [[0.9, 0.1], [None, None], [0.6, 0.4], [0.7, 0.3], [0.8, 0.2], [np.nan, np.nan]]
    p = Predictions.from_probabilities(labels, table, attempted=ATTEMPTED)
    assert (p.not_attempted, p.labels, sf.accuracy(p)) == (2, ("x", "y"), 0.75)
    assert Predictions.from_logits(labels, table, attempted=ATTEMPTED).not_attempted == 2
    frame = pd.DataFrame({"x": [row[0] for row in table], "y": [row[1] for row in table]}, index=[7] * 6)
    assert Predictions.from_probabilities(labels, frame, attempted=ATTEMPTED).not_attempted == 2


@pytest.mark.parametrize("of", ["prediction", "event", "classes"])
@pytest.mark.parametrize("options", [{}, {"sample_weight": WEIGHT}, {"groups": GROUPS}])
def test_the_same_rows_without_them_give_the_same_numbers(of: str, options: dict) -> None:
    event = {"pos_label": 1} if of == "event" else {}
    sliced = {} if of == "classes" else {"by": PARTS}
    found = sf.assess(TRUTH, GAPS, attempted=KEPT, of=of, **event, **sliced, **options)
    cut = {name: values[KEPT] for name, values in {**sliced, **options}.items()}
    close(found, sf.assess(TRUTH[KEPT], TABLE[KEPT], of=of, **event, **cut))
    assert found.not_attempted == ROWS - KEPT.sum()
    assert found.share_not_attempted == pytest.approx(1 - KEPT.mean())
    if sliced:
        assert [part.not_attempted for part in found.slices] == np.bincount(PARTS[~KEPT]).tolist()


@pytest.mark.parametrize("name", sorted(name for name in ALL if "prediction" in ALL[name].views))
def test_every_metric_leaves_them_out(name: str) -> None:
    metric = getattr(sf, name)
    one, other = metric(TRUTH, GAPS, attempted=KEPT), metric(TRUTH[KEPT], TABLE[KEPT])
    assert one == pytest.approx(other, rel=1e-12, nan_ok=True)


def test_what_is_given_beside_may_be_of_all_rows_or_of_the_attempted_ones() -> None:
    p = Predictions.from_probabilities(TRUTH, GAPS, attempted=KEPT)
    for groups in (GROUPS, GROUPS[KEPT]):
        assert sf.risk_test(p, groups=groups) == sf.risk_test(TRUTH[KEPT], TABLE[KEPT], groups=GROUPS[KEPT])
        assert sf.intervals(p, groups=groups) == sf.intervals(TRUTH[KEPT], TABLE[KEPT], groups=GROUPS[KEPT])
    assert [s.not_attempted for s in sf.tally(p, by=PARTS).slices.values()] == np.bincount(PARTS[~KEPT]).tolist()
    with pytest.raises(InvalidPredictions, match="by has 599 rows"):
        sf.assess(p, by=PARTS[1:])


# -- frames ------------------------------------------------------------------------------------------------------------


def frame_of(kind: str):
    eager = pl.DataFrame(
        {
            "correct": CORRECT,
            "confidence": [0.9, None, 0.6, 0.7, 0.8, None],
            "attempted": ATTEMPTED,
            "said": ["yes", "no", "Yes", "yes", "yes", "no"],
            "flag": [1, 0, 1, 1, 1, 0],
            "grade": GRADES,
            "topic": TOPIC,
        }
    )
    kinds = {
        "polars": lambda: eager,
        "pandas": eager.to_pandas,
        "arrow": eager.to_arrow,
        "lazy polars": eager.lazy,
        "duckdb": lambda: duckdb.from_arrow(eager.to_arrow()),
    }
    return kinds[kind]()


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow", "lazy polars", "duckdb"])
@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"correct": "correct", "confidence": "confidence", "attempted": "attempted"},
        {"correct": "correct", "confidence": "confidence", "attempted": "said"},
        {"correct": "correct", "confidence": "confidence", "attempted": "flag"},
        {"correct": "grade", "confidence": "confidence"},
        {"correct": "grade", "confidence": "confidence", "attempted": "flag"},
    ],
)
def test_columns_of_a_frame(kind: str, columns: dict) -> None:
    frame = frame_of(kind)
    p = Predictions.from_frame(frame, **columns)
    assert p.not_attempted == 2
    assert (sf.accuracy(p), sf.brier(p)) == (0.75, pytest.approx(0.125))
    found = sf.assess(frame, by="topic", **columns)
    assert (found.risk.n, found.not_attempted) == (4, 2)
    assert {part.value: part.not_attempted for part in found.slices} == {"a": 1, "b": 0}
    assert found.slices_not_attempted == {"c": 1}


def test_a_lazy_frame_of_probabilities() -> None:
    frame = pl.DataFrame(
        {
            "truth": TRUTH,
            "attempted": KEPT,
            "slice": PARTS,
            **{f"p{k}": [p if keep else None for p, keep in zip(TABLE[:, k], KEPT, strict=True)] for k in range(3)},
        }
    )
    columns = {"y_true": "truth", "probabilities": "p", "by": "slice"}
    for of in ("prediction", "event"):
        event = {"pos_label": 1} if of == "event" else {}
        for one in (frame, frame.lazy()):
            found = sf.assess(one, attempted="attempted", of=of, **columns, **event)
            rest = frame.filter(pl.col("attempted"))
            close(found, sf.assess(rest if one is frame else rest.lazy(), of=of, **columns, **event))
            assert [part.not_attempted for part in found.slices] == np.bincount(PARTS[~KEPT]).tolist()


@pytest.mark.parametrize("lazily", [False, True])
@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"attempted": [2, 3, 1, 0]}, "attempted.*2|3"),
        ({"attempted": [1, 1, None, 0]}, "attempted.*null|None|nan"),
        ({"attempted": ["yes", "no", "perhaps", "no"]}, "perhaps"),
        ({"attempted": [0, 0, 0, 0]}, "none of the 4 rows was attempted"),
        ({"correct": ["C", "I", "N", "A"]}, "'A'"),
        ({"correct": ["N", "refused", "Abstained", "not-attempted"]}, "none of the 4 rows was attempted"),
        ({"confidence": [0.5, None, 0.5, 0.5], "attempted": [1, 1, 0, 1]}, "confidence.*null|None|nan"),
        ({"correct": ["C", None, "N", "I"]}, "correct.*null|None"),
    ],
)
def test_what_is_refused(columns: dict, why: str, lazily: bool) -> None:
    frame = pl.DataFrame({"correct": [1, 0, 1, 0], "confidence": [0.5] * 4, **columns})
    with pytest.raises(InvalidPredictions, match=why):
        sf.assess(frame.lazy() if lazily else frame)


def test_errors_name_the_row_among_all() -> None:
    with pytest.raises(InvalidPredictions, match=r"confidence\[3\] is 97\.5") as caught:
        Predictions.from_correct([1, None, 1, 1], [0.9, None, 0.8, 97.5], attempted=[1, 0, 1, 1])
    assert caught.value.row == 3
    with pytest.raises(InvalidPredictions, match=r"correct\[2\] is 'maybe'.*NOT_ATTEMPTED"):
        Predictions.from_correct(["C", "N", "maybe"], [0.9, 0.8, 0.7])
    with pytest.raises(InvalidPredictions, match=r"probabilities\[2, 1\]"):
        sf.ece([0, 1, 1], [[0.5, 0.5], [np.nan, np.nan], [0.5, 1.5]], attempted=[1, 0, 1])
    with pytest.raises(InvalidPredictions, match="confidence has 3 rows, but attempted holds 2"):
        sf.assess(correct=[1, 0], confidence=[0.5, 0.6, 0.7], attempted=[1, 0])


def test_a_surprise_keeps_its_number_among_all_rows() -> None:
    a = sf.assess(correct=[None, True, None, False] * 5, confidence=[0.9] * 20, attempted=[0, 1, 0, 1] * 5)
    assert [one.row for one in a.surprises] == [3, 7, 11, 15, 19]


# -- tallies -----------------------------------------------------------------------------------------------------------


def test_tallies_add_their_counts_and_keep_them(tmp_path) -> None:
    one = sf.tally(Predictions.from_correct(GRADES, CONFIDENCE), by=TOPIC)
    other = sf.tally(Predictions.from_correct(["C", "N", "I", "I"], [0.5] * 4), by=["c", "c", "d", "a"])
    assert (one.not_attempted, dict(one.slices_not_attempted)) == (2, {"c": 1})
    for total in (one + other, other + one, sum([one, other])):
        assert total.not_attempted == 3
        # slice c has an answer in the other only
        assert {value: part.not_attempted for value, part in total.slices.items()} == {"a": 1, "b": 0, "c": 2, "d": 0}
        assert not total.slices_not_attempted
    one.save(tmp_path / "one.tally")
    loaded = Tally.load(tmp_path / "one.tally")
    assert (loaded.not_attempted, dict(loaded.slices_not_attempted)) == (2, {"c": 1})
    assert loaded.slices["a"].not_attempted == 1
    a = sf.assess(loaded + other)
    assert (a.not_attempted, a.risk.n) == (3, 7)
    assert {part.value: part.not_attempted for part in a.slices} == {"a": 1, "b": 0, "c": 2, "d": 0}


def test_the_count_of_a_saved_tally_is_checked(tmp_path) -> None:
    path = tmp_path / "one.tally"
    sf.tally(Predictions.from_correct(GRADES, CONFIDENCE)).save(path)
    text = path.read_text()
    assert '"not_attempted": 2' in text or '"not_attempted":2' in text
    path.write_text(
        text.replace('"not_attempted": 2', '"not_attempted": -2').replace('"not_attempted":2', '"not_attempted":-2')
    )
    with pytest.raises(sf.InvalidTally):
        Tally.load(path)


def test_batches_without_an_answer_are_counted() -> None:
    frame = frame_of("arrow").select(["correct", "confidence", "attempted"])
    found = sf.tally_batches([frame.slice(i, 1) for i in range(6)])
    assert (found.not_attempted, ALL["accuracy"].of(found)) == (2, 0.75)
    with pytest.raises(InvalidPredictions, match="none of the 2 rows was attempted"):
        sf.tally_batches([frame.slice(1, 1), frame.slice(5, 1)])


def test_models_that_attempted_other_rows_are_not_paired() -> None:
    one = Predictions.from_correct([1, 0, 1, None] * 25, [0.8] * 100, attempted=[1, 1, 1, 0] * 25)
    other = Predictions.from_correct([1, 0, None, 1] * 25, [0.7] * 100, attempted=[1, 1, 0, 1] * 25)
    assert sf.compare({"one": one, "same": one}).is_paired
    found = sf.compare({"one": one, "other": other})
    assert not found.is_paired
    assert "not the same ones were attempted" in found.pairing


def test_a_part_of_the_rows_has_none() -> None:
    p = Predictions.from_correct(GRADES, CONFIDENCE)
    assert p[:2].not_attempted == 0
    assert p.rows().not_attempted == 2


def test_a_monitor_refuses_them() -> None:
    with pytest.raises(InvalidPredictions, match="not attempted"):
        sf.Monitor().update(["C", "N"], [0.9, 0.8])
    monitor = sf.Monitor()
    monitor.update(["C", "I"], [0.9, 0.8])
    assert (monitor.rows, monitor.errors) == (2, 1)


# -- tensors -----------------------------------------------------------------------------------------------------------


@pytest.mark.heavy
@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_tensors(monkeypatch, where: str) -> None:
    torch = pytest.importorskip("torch")
    if where == "cuda" and not torch.cuda.is_available():
        pytest.skip("no accelerator")
    from surefoot.predictions.tensors import TensorBorder, TensorPredictions

    if where == "cpu":
        # the engine of tensors, run on the host
        monkeypatch.setattr(
            TensorBorder, "takes", lambda self, columns: any(isinstance(c, torch.Tensor) for c in columns)
        )
    truth, table, kept, parts = (torch.tensor(x, device=where) for x in (TRUTH, GAPS, KEPT, PARTS))
    p = Predictions.from_probabilities(truth, table, attempted=kept)
    assert isinstance(p, TensorPredictions)
    assert p.not_attempted == ROWS - KEPT.sum() == p.rows().not_attempted
    close(sf.assess(p, by=parts), sf.assess(Predictions.from_probabilities(truth[kept], table[kept]), by=parts[kept]))
    found = sf.assess(truth, table, attempted=kept, by=parts)
    assert [part.not_attempted for part in found.slices] == np.bincount(PARTS[~KEPT]).tolist()
    with pytest.raises(InvalidPredictions, match="attempted is a list, but"):
        Predictions.from_probabilities(truth, table, attempted=KEPT.tolist())
    bad, row = table.clone(), int(np.flatnonzero(KEPT)[1])
    bad[row, 0] = 2.0
    with pytest.raises(InvalidPredictions, match=rf"probabilities\[{row}, 0\]"):
        Predictions.from_probabilities(truth, bad, attempted=kept)
