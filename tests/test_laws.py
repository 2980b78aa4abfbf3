"""Laws that hold for every metric in ALL."""

import math

import numpy as np
import pytest

import surefoot as sf
from surefoot.metrics import ALL
from surefoot.metrics.tallying import tally

pytestmark = pytest.mark.filterwarnings("ignore::surefoot.errors.UndefinedMetricWarning")

ROWS, CLASSES = 500, 4
NAMES = sorted(ALL)
ADDITIVE = sorted(name for name, metric in ALL.items() if metric.additive)
WEIGHTED = sorted(name for name, metric in ALL.items() if metric.takes_weights)
#: TCE takes rows of equal confidence in the order given, as its reference does, and says so.
FREE_OF_ORDER = sorted(set(NAMES) - {"tce"})
WHERE_WEIGHTS_ARE_COPIES = sorted(name for name, metric in ALL.items() if not metric.inferential)


def made(
    rows: np.ndarray | slice = slice(None), labels: object = None, weight: np.ndarray | None = None
) -> sf.Predictions:
    rng = np.random.default_rng(11)
    p = rng.dirichlet([1.5, 1, 0.7, 0.4], ROWS).round(3)
    p[:, 0] += 1 - p.sum(axis=1)
    p = np.clip(p, 0, 1)
    truth = np.array([rng.choice(CLASSES, p=q / q.sum()) for q in p])
    if labels is not None:
        truth = np.array(labels)[truth]
    return sf.Predictions.from_probabilities(
        truth[rows], p[rows], labels=labels if labels is not None else range(CLASSES), sample_weight=weight
    )


def close(one: float, other: float) -> bool:
    return one == other or math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-15)


@pytest.mark.parametrize("name", ADDITIVE)
def test_any_cut_into_blocks_adds_up(name: str) -> None:
    metric = ALL[name]
    whole = tally(made())
    for seed in range(5):
        rng = np.random.default_rng(seed)
        part = rng.integers(0, seed + 2, ROWS)
        parts = [tally(made(part == i)) for i in rng.permutation(seed + 2) if (part == i).any()]
        assert close(metric.of(sum(parts)), metric.of(whole))


@pytest.mark.parametrize("name", ADDITIVE)
def test_the_value_on_rows_is_that_of_the_tally_within_its_bound(name: str) -> None:
    metric, p = ALL[name], made()
    t = tally(p)
    assert abs(metric(p) - metric.of(t)) <= metric.bound(t) + 1e-12 * abs(metric(p))
    assert (metric.bound(t) > 0) == metric.is_ranking


@pytest.mark.parametrize("name", FREE_OF_ORDER)
def test_order_of_rows_does_not_matter(name: str) -> None:
    shuffled = np.random.default_rng(3).permutation(ROWS)
    assert close(ALL[name](made(shuffled)), ALL[name](made()))


@pytest.mark.parametrize("name", WHERE_WEIGHTS_ARE_COPIES)
def test_integer_weights_equal_copies(name: str) -> None:
    copies = np.random.default_rng(4).integers(0, 4, ROWS)
    repeated = np.repeat(np.arange(ROWS), copies)
    assert close(ALL[name](made(weight=copies)), ALL[name](made(repeated)))


@pytest.mark.parametrize("name", WEIGHTED)
def test_the_scale_of_weights_does_not_matter(name: str) -> None:
    weight = np.random.default_rng(5).uniform(0.1, 2, ROWS)
    assert close(ALL[name](made(weight=weight)), ALL[name](made(weight=weight * 1024)))


@pytest.mark.parametrize("name", NAMES)
def test_relabelling_changes_nothing(name: str) -> None:
    assert close(ALL[name](made(labels=["ant", "bee", "cat", "dog"])), ALL[name](made()))


@pytest.mark.parametrize("name", ADDITIVE)
def test_save_and_load_is_identity(name: str, tmp_path) -> None:
    weight = np.random.default_rng(5).uniform(0.1, 2, ROWS)
    t = tally(made(weight=weight))
    t.save(tmp_path / "t.tally")
    assert ALL[name].of(sf.Tally.load(tmp_path / "t.tally")) == ALL[name].of(t)


@pytest.mark.parametrize("name", NAMES)
def test_the_function_of_that_name_gives_the_metrics_value(name: str) -> None:
    p = made()
    value = getattr(sf, name)(p)
    assert type(value) is float
    assert value == ALL[name](p)


@pytest.mark.parametrize("name", NAMES)
def test_the_value_lies_in_its_range(name: str) -> None:
    least, most = ALL[name].range
    assert least <= ALL[name](made()) <= most


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_says_what_it_is(name: str) -> None:
    metric = ALL[name]
    assert metric.title
    assert metric.reference
    assert metric.direction in ("higher", "lower", "nearest", "none")
    assert (metric.ideal is None) == (metric.direction == "none")
    doc = getattr(sf, name).__doc__
    assert doc
    assert "math::" in doc


@pytest.mark.parametrize("name", NAMES)
def test_read_only_strided_and_narrow_input_gives_the_same(name: str) -> None:
    p = made()
    wide = np.zeros((ROWS, CLASSES * 2), dtype=">f8")
    wide[:, ::2] = p.probabilities
    wide.flags.writeable = False
    again = sf.Predictions.from_probabilities(np.asarray(p.truth)[::-1][::-1], wide[:, ::2], labels=range(CLASSES))
    assert close(ALL[name](again), ALL[name](p))
