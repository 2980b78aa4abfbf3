"""Slices are found where confidences are off, and seldom where they are not; and they say what they rest on."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import beta, binom

import surefoot as sf
from surefoot.errors import InvalidPredictions

LETTERS = np.array(list("abcdefghij"))


def columns_of(rows: int, rng: np.random.Generator) -> dict[str, Any]:
    """Ten columns that say nothing."""
    named = {f"c{i}": LETTERS[rng.integers(0, 10, rows)] for i in range(6)}
    return {**named, **{f"x{i}": rng.normal(size=rows) for i in range(4)}}


def sample(rows: int, seed: int, **planted: float) -> dict[str, Any]:
    """Confidences that are right but where a category is planted: there they are so many points too high."""
    rng = np.random.default_rng(seed)
    columns = columns_of(rows, rng)
    confidence = rng.uniform(0.6, 0.95, rows)
    chance = confidence.copy()
    for name, points in planted.items():
        columns[name] = np.where(rng.random(rows) < 0.05, "planted", columns[name])
        chance -= points * (columns[name] == "planted")
    return {"correct": rng.random(rows) < chance, "confidence": confidence, **columns}


def names(found: Any) -> list[str]:
    return [one.name for one in found]


def said(found: Any) -> str:
    """What printing it says, in one line."""
    return " ".join(str(found).split())


# -- what has to hold --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_slice_is_found_among_ten_columns_of_100_000_rows(seed: int) -> None:
    found = sf.find_slices(pl.DataFrame(sample(100_000, seed, c3=0.1)))
    assert names(found) == ["c3 = planted"]
    (one,) = found
    assert one.direction == "overconfident"
    assert one.overstatement_interval[0] < 0.1 < one.overstatement_interval[1]
    assert one.share == pytest.approx(0.05, abs=0.003)
    assert abs(one.elsewhere) < 0.01


def test_where_nothing_is_planted_hardly_anything_is_found() -> None:
    quiet = 0
    for seed in range(60):
        rows = 600 if seed % 2 else 3000
        quiet += not sf.find_slices(pl.DataFrame(sample(rows, seed)), min_rows=20)
    # 5% of 60 runs are 3, and more than 8 would happen once in 250 times
    assert quiet >= 52


def test_confidences_near_1_do_not_deceive_it() -> None:
    rng = np.random.default_rng(0)
    quiet = 0
    for _ in range(30):
        confidence = 1 - 10 ** rng.uniform(-7, -1.5, 3000)
        frame = pl.DataFrame(columns_of(3000, rng))
        correct = rng.random(3000) < confidence
        quiet += not sf.find_slices(sf.Predictions.from_correct(correct, confidence), frame, min_rows=10)
    assert quiet >= 26


def test_an_underconfident_slice_is_found() -> None:
    (one,) = sf.find_slices(pl.DataFrame(sample(60_000, 1, c0=-0.05)))
    assert (one.name, one.direction) == ("c0 = planted", "underconfident")
    assert one.overstatement < 0 < one.expected_errors - one.observed_errors


# -- numbers by hand ---------------------------------------------------------------------------------------------------


def two_halves() -> dict[str, Any]:
    """50 rows with 20 errors and 50 with 5, where 5 are expected in either."""
    correct = np.ones(100, dtype=bool)
    correct[:20] = correct[50:55] = False
    return {"correct": correct, "confidence": np.full(100, 0.9), "half": ["one"] * 50 + ["two"] * 50}


def test_the_numbers_of_a_slice_are_those_of_the_binomial_distribution() -> None:
    found = sf.find_slices(pd.DataFrame(two_halves()))
    (one,) = found
    assert (one.name, one.rows, one.share) == ("half = one", 50, 0.5)
    assert (one.expected_errors, one.observed_errors) == (pytest.approx(5), 20)
    assert (one.overstatement, one.elsewhere) == (pytest.approx(0.3), pytest.approx(0))
    # two groups were looked at, each on two sides
    p = 2 * binom.sf(19, 50, 0.1)
    assert one.pvalue == pytest.approx(p, rel=1e-6)
    assert one.pvalue_adjusted == pytest.approx(2 * p, rel=1e-6)
    low, high = beta.ppf(0.0125, 20, 31) - 0.1, beta.ppf(0.9875, 21, 30) - 0.1
    assert one.overstatement_interval == (pytest.approx(low), pytest.approx(high))
    search = found.search
    assert (search.groups_of_one, search.groups_of_two, search.pairs, search.rows) == (2, 0, 0, 100)
    assert search.overstatement == pytest.approx(0.15)


def test_half_of_the_level_is_for_pairs() -> None:
    data = two_halves() | {"other": ["x", "y"] * 50}
    found = sf.find_slices(pd.DataFrame(data), min_rows=10)
    (one,) = found
    assert (found.search.groups_of_one, found.search.groups_of_two) == (4, 4)
    assert one.pvalue_adjusted == pytest.approx(8 * one.pvalue)


def test_detectable_overstatements_are_found_in_four_of_five_cases() -> None:
    search = sf.find_slices(pl.DataFrame(sample(20_000, 0))).search
    five = next(one for one in search.detectable if one.share == 0.05)
    assert five.of_one_column is not None
    assert five.rows == 1000
    hits = sum(
        "c0 = planted" in names(sf.find_slices(pl.DataFrame(sample(20_000, seed, c0=five.of_one_column))))
        for seed in range(40)
    )
    # 32 of 40 with a standard deviation of 2.5
    assert 24 <= hits <= 39


def rare_event(rng: np.random.Generator, size: int, overstatement: float) -> sf.FoundSlices:
    """A risk of 2% on average, which is too high in the first rows: the slice "z"."""
    p = rng.beta(0.5, 25, 10_000)
    group = np.where(np.arange(10_000) < size, "z", rng.choice(list("abcdefghi"), 10_000))
    true = np.where(group == "z", p * (1 - overstatement / 0.0196), p)
    frame = pl.DataFrame({"y": (rng.random(10_000) < true).astype(int), "p": p, "group": group})
    return sf.find_slices(frame, y_true="y", probabilities="p", pos_label=1, of="event")


def test_no_more_than_the_mean_risk_can_be_too_much() -> None:
    """Were the event never to occur, the risk would be too high by its mean."""
    found = rare_event(np.random.default_rng(0), 500, 0.0)
    one, five, twenty = found.search.detectable
    # of 100 rows, 2 events are expected: that none occurs has a chance of 14%
    assert one.of_one_column is None
    assert "In 1% of rows none would be found, however large." in said(found)
    assert five.of_one_column is not None
    assert twenty.of_one_column is not None
    assert 0.01 < twenty.of_one_column < five.of_one_column < 0.0205
    for size, reach in ((500, five.of_one_column), (2000, twenty.of_one_column)):
        hits = sum("group = z" in names(rare_event(np.random.default_rng(i), size, reach)) for i in range(60))
        # 48 of 60 with a standard deviation of 3.1
        assert 38 <= hits <= 58


# -- which groups are reported -----------------------------------------------------------------------------------------


def planted_where(rows: int, inside: Any, columns: dict[str, Any], rng: np.random.Generator, points: float) -> Any:
    confidence = rng.uniform(0.6, 0.95, rows)
    correct = rng.random(rows) < confidence - points * inside
    return sf.find_slices(sf.Predictions.from_correct(correct, confidence), pl.DataFrame(columns))


def test_a_pair_is_reported_and_not_its_columns() -> None:
    rng = np.random.default_rng(0)
    columns = columns_of(40_000, rng)
    inside = (columns["c0"] <= "c") & (columns["x0"] > 0)
    columns["third"] = np.where(columns["c0"] <= "c", "yes", "no")
    columns["sign"] = columns.pop("x0") > 0
    del columns["c0"]
    found = planted_where(40_000, inside, columns, rng, 0.15)
    assert names(found) == ["third = yes and sign = True"]


def test_a_column_is_reported_and_not_its_pairs() -> None:
    rng = np.random.default_rng(1)
    columns = columns_of(40_000, rng)
    found = planted_where(40_000, columns["c0"] == "a", columns, rng, 0.15)
    assert names(found) == ["c0 = a"]
    assert found.search.like_others > 10


def test_a_worse_part_is_reported_besides() -> None:
    rng = np.random.default_rng(2)
    columns = columns_of(60_000, rng)
    inside = 0.08 * (columns["c0"] == "a") + 0.4 * ((columns["c0"] == "a") & (columns["c1"] == "b"))
    found = planted_where(60_000, inside, columns, rng, 1.0)
    assert sorted(names(found)) == ["c0 = a", "c0 = a and c1 = b"]


def test_of_columns_that_say_the_same_one_is_reported() -> None:
    rng = np.random.default_rng(3)
    columns = columns_of(40_000, rng)
    columns["copy"] = columns["c0"]
    columns["nearly"] = np.where(rng.random(40_000) < 0.02, "z", columns["c0"])
    found = planted_where(40_000, columns["c0"] == "a", columns, rng, 0.15)
    assert len(found) == 1
    assert found[0].conditions[0].column in ("c0", "copy")
    assert found.search.overlapping > 0


def test_rows_that_are_all_off_alike_have_no_slice() -> None:
    rng = np.random.default_rng(4)
    confidence = rng.uniform(0.6, 0.99, 40_000)
    columns = columns_of(40_000, rng)
    # a column that goes with confidence: where it is low, more points are missing
    columns["hard"] = confidence + 0.05 * rng.normal(size=40_000) < 0.7
    odds = confidence / (1 - confidence)
    correct = rng.random(40_000) < odds**0.5 / (1 + odds**0.5)
    found = sf.find_slices(sf.Predictions.from_correct(correct, confidence), pl.DataFrame(columns))
    assert names(found) == []
    assert found.search.like_others > 100
    assert found.search.overstatement_interval[0] > 0.05
    assert "calibrator fitted to all rows" in said(found)


def test_a_column_made_of_the_outcome_is_left_out() -> None:
    data = sample(4000, 0)
    data["is_error"] = ~data["correct"]
    data["loss"] = np.where(data["correct"], 0.1, 2.3)
    found = sf.find_slices(pl.DataFrame(data))
    assert names(found) == []
    assert set(found.search.left_out) == {"is_error", "loss"}
    assert "tells the outcome" in found.search.left_out["loss"]
    assert "is_error" not in found.search.columns


def test_of_many_columns_the_strongest_are_paired() -> None:
    rng = np.random.default_rng(5)
    columns: dict[str, Any] = {f"b{i}": rng.random(6000) < 0.5 for i in range(40)}
    found = planted_where(6000, columns["b7"] & columns["b31"], columns, rng, 0.3)
    assert names(found) == ["b31 = True and b7 = True"] or names(found) == ["b7 = True and b31 = True"]
    search = found.search
    assert (search.pairs, search.all_pairs) == (496, 780)
    # the level is shared by the groups of all pairs, searched or not
    assert search.groups_of_two == 780 * 4
    assert "496 of 780 pairs of columns were searched" in said(found)


# -- where data come from ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "polars lazy", "duckdb", "dask"])
def test_it_is_the_same_wherever_rows_are(kind: str) -> None:
    data = sample(8000, 0, c1=0.2)
    data["x0"] = np.where(np.arange(8000) % 5 == 0, np.nan, data["x0"])
    wanted = [name for name in data if name[0] in "cx" and name not in ("correct", "confidence")]
    wanted = [name for name in wanted if name[0] == "c"] if kind == "dask" else wanted
    expected = sf.find_slices(pl.DataFrame(data), columns=wanted)
    frame: Any
    if kind == "pandas":
        frame = pd.DataFrame(data)
    elif kind == "pyarrow":
        frame = pa.table(data)
    elif kind == "polars lazy":
        frame = pl.DataFrame(data).lazy()
    elif kind == "duckdb":
        frame = pytest.importorskip("duckdb").from_arrow(pa.table(data))
    else:
        frame = pytest.importorskip("dask.dataframe").from_pandas(pd.DataFrame(data), npartitions=2)
    found = sf.find_slices(frame, columns=wanted)
    assert names(found) == names(expected) == ["c1 = planted"]
    one, other = found[0], expected[0]
    assert (one.rows, one.observed_errors) == (other.rows, other.observed_errors)
    assert one.overstatement_interval == pytest.approx(other.overstatement_interval, rel=1e-9)
    assert one.pvalue_adjusted == pytest.approx(other.pvalue_adjusted, rel=1e-6)
    assert (found.search.groups_of_one, found.search.groups_of_two) == (
        expected.search.groups_of_one,
        expected.search.groups_of_two,
    )


def test_a_lazy_frame_gives_the_same_where_groups_explain_each_other() -> None:
    rng = np.random.default_rng(6)
    columns = columns_of(20_000, rng)
    inside = 0.1 * (columns["c0"] == "a") + 0.5 * ((columns["c0"] == "a") & (columns["c1"] == "b"))
    columns["copy"] = columns["c0"]
    confidence = rng.uniform(0.6, 0.95, 20_000)
    frame = pl.DataFrame(columns | {"confidence": confidence, "correct": rng.random(20_000) < confidence - inside})
    eager, lazy = sf.find_slices(frame), sf.find_slices(frame.lazy())
    assert names(lazy) == names(eager)
    assert (lazy.search.overlapping, lazy.search.like_others) == (eager.search.overlapping, eager.search.like_others)


def test_predictions_of_a_lazy_frame_name_their_columns() -> None:
    frame = pl.DataFrame(sample(4000, 0, c1=0.3))
    p = sf.Predictions.from_frame(frame.lazy(), correct="correct", confidence="confidence")
    assert names(sf.find_slices(p, columns=["c0", "c1"])) == ["c1 = planted"]
    with pytest.raises(InvalidPredictions, match="name them with columns="):
        sf.find_slices(p)
    with pytest.raises(InvalidPredictions, match="collect it"):
        sf.find_slices(sf.Predictions.from_frame(frame), frame.lazy())


def test_columns_of_predictions_are_not_searched_unless_named() -> None:
    data = sample(2000, 0)
    frame = pd.DataFrame(data).rename(columns={"correct": "ok", "confidence": "sure"})
    found = sf.find_slices(frame, correct="ok", confidence="sure")
    assert found.search.columns == tuple(name for name in data if name not in ("correct", "confidence"))
    assert sf.find_slices(frame, columns="sure", correct="ok", confidence="sure").search.columns == ("sure",)
    with pytest.raises(InvalidPredictions, match="made by the outcome"):
        sf.find_slices(frame, columns=["ok"], correct="ok", confidence="sure")
    labels = pd.DataFrame({"y": [0, 1] * 500, "p_0": [0.7, 0.4] * 500, "p_1": [0.3, 0.6] * 500, "c": ["a", "b"] * 500})
    assert sf.find_slices(labels, y_true="y", probabilities="p_").search.columns == ("c",)


def test_rows_that_were_not_attempted_belong_to_no_slice() -> None:
    data = sample(6000, 0, c1=0.3)
    attempted = np.arange(6000) % 3 > 0
    whole = pd.DataFrame(data | {"attempted": attempted})
    kept = pl.DataFrame(data).filter(attempted)
    expected = sf.find_slices(kept)
    for found in (
        sf.find_slices(whole, attempted="attempted", correct="correct", confidence="confidence"),
        sf.find_slices(pl.DataFrame(whole).lazy(), attempted="attempted", correct="correct", confidence="confidence"),
    ):
        assert names(found) == names(expected)
        assert found[0].rows == expected[0].rows
        assert found.search.not_attempted == 2000
        assert "2,000 more not attempted" in str(found)


def test_an_event_is_overpredicted() -> None:
    rng = np.random.default_rng(7)
    columns = columns_of(20_000, rng)
    risk = rng.beta(0.4, 1.5, 20_000)
    happened = rng.random(20_000) < risk * np.where(columns["c0"] == "a", 0.5, 1.0)
    p = sf.Predictions.from_probabilities(happened, risk, of="event", pos_label=True)
    (one,) = sf.find_slices(p, pl.DataFrame(columns))
    inside = columns["c0"] == "a"
    assert (one.name, one.direction) == ("c0 = a", "overpredicts")
    assert one.expected_errors == pytest.approx(risk[inside].sum())
    assert one.observed_errors == happened[inside].sum()
    assert one.overstatement == pytest.approx(risk[inside].mean() - happened[inside].mean())
    text = " ".join(str(sf.find_slices(p, pl.DataFrame(columns))).split())
    assert "1 slice overpredicts".upper() in text
    assert "obs/exp: observed and expected events." in text
    assert "Difference is mean predicted probability less the share that happened" in text
    for word in ("confidence", "overstatement", "errors"):  # the words of another question
        assert word not in text.lower()
    frame = pl.DataFrame(columns | {"y": happened, "risk": risk})
    lazy = sf.find_slices(frame.lazy(), y_true="y", probabilities="risk", of="event", pos_label=True)
    assert names(lazy) == ["c0 = a"]


def test_equal_weights_do_not_count_and_rows_without_weight_are_no_rows() -> None:
    data = sample(6000, 0, c1=0.3)
    weight = np.where(np.arange(6000) % 4 == 0, 0.0, 2.5)
    expected = sf.find_slices(pl.DataFrame(data).filter(weight > 0))
    frame = pl.DataFrame(data | {"w": weight})
    roles = {"correct": "correct", "confidence": "confidence", "weight": "w"}
    for given in (frame, frame.lazy()):
        found = sf.find_slices(given, **roles)
        assert names(found) == names(expected)
        assert found.search.rows == 4500
        assert found[0].rows == expected[0].rows


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"columns": ["nowhere"]}, "is not a column of the frame, which has"),
        ({"sample_weight": "x0", "columns": ["c0"]}, "weight"),
        ({"groups": "c0"}, "takes no groups"),
        ({"columns": ["identity"]}, "there is no column to search \\(identity: 3,000 values, none of them in 50 rows"),
        ({"of": "classes"}, "classes"),
    ],
)
def test_what_cannot_be_searched_is_refused_in_a_line(arguments: dict[str, Any], words: str) -> None:
    frame = pl.DataFrame(sample(3000, 0) | {"identity": [f"r{i}" for i in range(3000)]})
    roles = {"correct": "correct", "confidence": "confidence"}
    with pytest.raises(InvalidPredictions, match=words):
        sf.find_slices(frame, **{**roles, **arguments})


def test_unequal_weights_are_refused() -> None:
    data = sample(3000, 0)
    frame = pl.DataFrame(data | {"w": np.linspace(1, 2, 3000)})
    for given in (frame, frame.lazy()):
        with pytest.raises(InvalidPredictions, match="unequal weights"):
            sf.find_slices(given, correct="correct", confidence="confidence", weight="w")


def test_a_frame_of_other_rows_is_refused() -> None:
    p = sf.Predictions.from_correct([True] * 100, [0.9] * 100)
    with pytest.raises(InvalidPredictions, match="has 99 rows, and there are 100 predictions"):
        sf.find_slices(p, pl.DataFrame({"a": range(99)}))
    with pytest.raises(InvalidPredictions, match="frame is missing"):
        sf.find_slices(p)
    with pytest.raises(ValueError, match="min_rows is 1"):
        sf.find_slices(p, pl.DataFrame({"a": range(100)}), min_rows=1)
    with pytest.raises(ValueError, match=r"level is 0\.95"):
        sf.find_slices(p, pl.DataFrame({"a": range(100)}), level=0.95)


# -- what is said ------------------------------------------------------------------------------------------------------


def test_the_result_is_a_list_that_can_be_read_saved_and_drawn(tmp_path: Any) -> None:
    found = sf.find_slices(pl.DataFrame(sample(20_000, 0, c1=0.2, c2=-0.05)))
    assert isinstance(found, list)
    text = str(found)
    for words in ("c1 = planted", "1 SLICE IS OVERCONFIDENT", "may be missed", "All rows together", "Next:"):
        assert words in text
    path = tmp_path / "slices.json"
    document = json.loads(found.to_json(path))
    assert json.loads(path.read_text()) == document
    assert document["slices"][0]["conditions"] == [{"column": "c1", "value": "planted"}]
    assert document["search"]["groups_of_one"] == found.search.groups_of_one
    assert "| c1 = planted |" in found.to_markdown()
    assert "c1 = planted" in found._repr_html_()
    assert found.to_frame("polars").shape[0] == len(found)
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    ax = found.plot()
    assert [label.get_text() for label in ax.get_yticklabels()][-1] == found[0].name
    plt.close(ax.figure)


def test_nothing_found_says_what_could_have_been_missed() -> None:
    found = sf.find_slices(pl.DataFrame(sample(5000, 3)))
    assert found == []
    text = said(found)
    assert "NO SLICE WAS FOUND" in text
    five = next(one for one in found.search.detectable if one.share == 0.05)
    assert five.of_one_column is not None
    assert f"{math.ceil(1000 * five.of_one_column) / 10:g} points in 5% of rows" in text
    few = sf.find_slices(pl.DataFrame(sample(60, 3)), min_rows=5)
    assert json.loads(few.to_json())["slices"] == []
