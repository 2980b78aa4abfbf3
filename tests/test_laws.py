"""Laws that hold for every metric in ALL, over samples of every kind."""

import math
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.metrics import ALL
from surefoot.metrics.tallying import tally

pytestmark = [
    pytest.mark.filterwarnings("ignore::surefoot.errors.UndefinedMetricWarning"),
    pytest.mark.filterwarnings("ignore::surefoot.errors.RoundedConfidenceWarning"),
    pytest.mark.filterwarnings("ignore::surefoot.errors.AmbiguousViewWarning"),
]

ROWS = 240
Columns = dict[str, Any]


def _table(rng: np.random.Generator, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of some classes, and what happened."""
    table = rng.dirichlet(1.5 / np.arange(1, classes + 1), ROWS)
    return (rng.random(ROWS)[:, None] > np.cumsum(table, axis=1)).sum(axis=1).clip(max=classes - 1), table


def _binary(rng: np.random.Generator) -> Columns:
    p = rng.beta(0.8, 0.8, ROWS)
    return {"y_true": (rng.random(ROWS) < p**1.3).astype(int), "probabilities": p}


def _ties(rng: np.random.Generator) -> Columns:
    truth, table = _table(rng, 4)
    table = np.floor(table * 20) / 20
    table[:, 0] += 1 - table.sum(axis=1)
    return {"y_true": truth, "probabilities": table.clip(0, 1)}


def _many_classes(rng: np.random.Generator) -> Columns:
    truth, table = _table(rng, 9)
    return {"y_true": truth, "probabilities": table}


def _strings(rng: np.random.Generator) -> Columns:
    truth, table = _table(rng, 3)
    return {"y_true": np.array(["cat", "dog", "owl"])[truth], "probabilities": table}


def _weights(rng: np.random.Generator) -> Columns:
    truth, table = _table(rng, 3)
    return {"y_true": truth, "probabilities": table, "sample_weight": rng.integers(1, 9, ROWS) / 4}


def _certain_rows(rng: np.random.Generator) -> Columns:
    truth, predicted = rng.integers(0, 3, (2, ROWS))
    confidence = np.where((truth == predicted) & (rng.random(ROWS) < 0.3), 1.0, rng.beta(4, 2, ROWS))
    return {"y_true": truth, "y_pred": predicted, "confidence": confidence}


def _certain_mistakes(rng: np.random.Generator) -> Columns:
    confidence = np.round(rng.beta(5, 1, ROWS), 1)
    confidence[:3] = 1.0
    return {"correct": (rng.random(ROWS) < confidence) & (np.arange(ROWS) != 1), "confidence": confidence}


def _float32(rng: np.random.Generator) -> Columns:
    truth, table = _table(rng, 3)
    table = table.astype(np.float32)
    table[:5] = np.eye(3, dtype=np.float32)[truth[:5]]
    return {"y_true": truth, "probabilities": table}


def _risks(rng: np.random.Generator) -> Columns:
    """Small probabilities of an event that occurs still less often."""
    p = rng.beta(1, 4, ROWS)
    return {"y_true": (rng.random(ROWS) < p**1.3).astype(int), "probabilities": p}


def _tied_risks(rng: np.random.Generator) -> Columns:
    """Twenty-one probabilities; those of 0 and 1 came out as they said."""
    p = np.round(rng.beta(0.7, 0.9, ROWS) * 20) / 20
    return {"y_true": (rng.random(ROWS) < p).astype(int), "probabilities": p}


def _weighted_risks(rng: np.random.Generator) -> Columns:
    return {**_risks(rng), "sample_weight": rng.integers(1, 9, ROWS) / 4}


SAMPLES: dict[str, Callable[[np.random.Generator], Columns]] = {
    "binary": _binary,
    "ties": _ties,
    "nine classes": _many_classes,
    "strings": _strings,
    "weights": _weights,
    "certain rows": _certain_rows,
    "certain mistakes": _certain_mistakes,
    "float32": _float32,
    "event": _risks,
    "event, ties": _tied_risks,
    "event, weights": _weighted_risks,
    "event of strings": _strings,
    "event of nine classes": _many_classes,
    "each class": _strings,
}
#: What is asked of them; of predictions, if nothing else.
VIEWS: dict[str, Columns] = {
    "event": {"of": "event"},
    "event, ties": {"of": "event"},
    "event, weights": {"of": "event"},
    "event of strings": {"of": "event", "pos_label": "owl"},
    "event of nine classes": {"of": "event", "pos_label": 2},
    "each class": {"of": "classes"},
}


@cache
def columns_of(kind: str) -> Columns:
    return SAMPLES[kind](np.random.default_rng(list(SAMPLES).index(kind)))


def labels_of(kind: str) -> list[Any]:
    columns = columns_of(kind)
    if np.ndim(columns.get("probabilities", 0)) == 2 and columns["y_true"].dtype.kind != "U":
        return list(range(columns["probabilities"].shape[1]))
    return np.unique(columns["y_true"]).tolist() if "y_true" in columns else []


def predictions(columns: Columns, labels: list[Any] | None, view: Columns) -> sf.Predictions:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.RoundedConfidenceWarning)
        if "correct" in columns:
            return sf.Predictions.from_correct(**columns, **view)
        if "confidence" in columns:
            return sf.Predictions.from_labels(**columns, **view)
        return sf.Predictions.from_probabilities(**columns, labels=labels, **view)


def chosen(kind: str, rows: np.ndarray, weight: np.ndarray | None = None) -> sf.Predictions:
    """Some rows of a sample; ``weight`` multiplies what they weigh."""
    columns = {name: values[rows] for name, values in columns_of(kind).items()}
    if weight is not None:
        columns["sample_weight"] = columns.get("sample_weight", np.ones(len(rows))) * weight
    return predictions(columns, labels_of(kind), VIEWS.get(kind, {}))


@cache
def whole(kind: str) -> sf.Predictions:
    return chosen(kind, np.arange(ROWS))


@cache
def tallied(kind: str) -> sf.Tally:
    return tally(whole(kind))


@cache
def blocks(kind: str) -> list[sf.Tally]:
    """The sums of several ways to cut a sample, in several orders."""
    sums = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        part = rng.integers(0, seed + 2, ROWS)
        parts = [tally(chosen(kind, np.flatnonzero(part == i))) for i in rng.permutation(seed + 2) if (part == i).any()]
        sums.append(sum(parts[1:], parts[0]))
    return sums


@cache
def shuffled(kind: str) -> sf.Predictions:
    return chosen(kind, np.random.default_rng(3).permutation(ROWS))


@cache
def weighted_and_copied(kind: str) -> tuple[sf.Predictions, sf.Predictions]:
    copies = np.random.default_rng(4).integers(0, 4, ROWS)
    rows = np.arange(ROWS)
    return chosen(kind, rows, copies.astype(float)), chosen(kind, np.repeat(rows, copies))


@cache
def scaled(kind: str) -> tuple[sf.Predictions, sf.Predictions]:
    weight = np.random.default_rng(5).uniform(0.1, 2, ROWS)
    rows = np.arange(ROWS)
    return chosen(kind, rows, weight), chosen(kind, rows, weight * 1024)


@cache
def relabelled(kind: str) -> sf.Predictions:
    """The same classes, in the same order, under other names."""
    old = labels_of(kind)
    new = list(range(len(old))) if isinstance(old[0], str) else [f"class {i}" for i in range(len(old))]
    columns = dict(columns_of(kind))
    for name in ("y_true", "y_pred"):
        if name in columns:
            columns[name] = np.array(new)[np.searchsorted(old, columns[name])]
    view = dict(VIEWS.get(kind, {}))
    if view.get("of") == "event":
        view["pos_label"] = new[old.index(view.get("pos_label", 1))]
    return predictions(columns, new, view)


@cache
def in_another_layout(kind: str) -> sf.Predictions:
    """Read-only, strided, and of the other byte order."""
    columns = {}
    for name, values in columns_of(kind).items():
        wide = np.zeros((2 * ROWS, *values.shape[1:]), dtype=values.dtype.newbyteorder(">"))
        wide[::2] = values
        wide.flags.writeable = False
        columns[name] = wide[::2]
    return predictions(columns, labels_of(kind), VIEWS.get(kind, {}))


@cache
def loaded(kind: str, folder: Any) -> sf.Tally:
    tallied(kind).save(folder / f"{kind}.tally")
    return sf.Tally.load(folder / f"{kind}.tally")


def close(one: float, other: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other or math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-15)


def each(select: Callable[[sf.Metric], bool] = lambda _: True, *, weights: bool = False, labels: bool = False) -> Any:
    """Every metric of some kind with every sample that can give it.

    With ``weights`` those that give it though rows weigh unequally; with ``labels`` samples that have some.
    """
    pairs = [
        pytest.param(name, kind, id=f"{name}-{kind}")
        for name, metric in sorted(ALL.items())
        for kind in SAMPLES
        if select(metric) and not metric.missing(whole(kind))
        if (metric.takes_weights or not weights) and (labels_of(kind) or not labels)
    ]
    return pytest.mark.parametrize(("name", "kind"), pairs)


def is_additive(metric: sf.Metric) -> bool:
    return metric.additive


@each(is_additive)
def test_any_cut_into_blocks_adds_up(name: str, kind: str) -> None:
    expected = ALL[name].of(tallied(kind))
    assert [total for total in map(ALL[name].of, blocks(kind)) if not close(total, expected)] == []


@each(is_additive)
def test_the_value_on_rows_is_that_of_the_tally_within_its_bound(name: str, kind: str) -> None:
    metric, t = ALL[name], tallied(kind)
    value, bound = metric(whole(kind)), metric.bound(t)
    assert close(value, metric.of(t)) or abs(value - metric.of(t)) <= bound + 1e-12 * abs(value)
    assert (bound > 0) == metric.is_ranking


# these take rows of equal confidence in the order given, as their references do, and say so
@each(lambda metric: metric.name not in ("tce", "rms_ce"))
def test_order_of_rows_does_not_matter(name: str, kind: str) -> None:
    assert close(ALL[name](shuffled(kind)), ALL[name](whole(kind)))


@each(lambda metric: not metric.inferential, weights=True)
def test_integer_weights_equal_copies(name: str, kind: str) -> None:
    weighted, copied = weighted_and_copied(kind)
    assert close(ALL[name](weighted), ALL[name](copied))


@each(weights=True)
def test_the_scale_of_weights_does_not_matter(name: str, kind: str) -> None:
    light, heavy = scaled(kind)
    assert close(ALL[name](light), ALL[name](heavy))


@each(labels=True)
def test_relabelling_changes_nothing(name: str, kind: str) -> None:
    assert close(ALL[name](relabelled(kind)), ALL[name](whole(kind)))


@each(is_additive)
def test_save_and_load_is_identity(name: str, kind: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    again, value = ALL[name].of(loaded(kind, tmp_path_factory.getbasetemp())), ALL[name].of(tallied(kind))
    assert again == value or (math.isnan(again) and math.isnan(value))


@each()
def test_the_function_of_that_name_gives_the_metrics_value(name: str, kind: str) -> None:
    value, expected = getattr(sf, name)(whole(kind)), ALL[name](whole(kind))
    assert type(value) is float
    assert value == expected or (math.isnan(value) and math.isnan(expected))


@each()
def test_the_value_lies_in_its_range(name: str, kind: str) -> None:
    value, (least, most) = ALL[name](whole(kind)), ALL[name].range
    assert math.isnan(value) or least <= value <= most


@each()
def test_read_only_strided_and_foreign_arrays_give_the_same(name: str, kind: str) -> None:
    assert close(ALL[name](in_another_layout(kind)), ALL[name](whole(kind)))


@pytest.mark.parametrize("name", sorted(ALL))
def test_most_samples_give_a_number(name: str) -> None:
    """The laws above would hold of nothing but nan."""
    values = [ALL[name](whole(kind)) for kind in SAMPLES if not ALL[name].missing(whole(kind))]
    assert len(values) >= 5
    assert sum(math.isnan(value) for value in values) <= 1


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_metric_says_what_it_is(name: str) -> None:
    metric = ALL[name]
    assert metric.title
    assert metric.reference
    assert metric.direction in ("higher", "lower", "nearest", "none")
    # the best value may depend on the data, as that of net benefit on the share of events
    assert (metric.ideal is not None) or metric.direction != "nearest"
    assert (metric.ideal is None) or metric.direction != "none"
    doc = getattr(sf, name).__doc__
    assert doc
    assert "math::" in doc
