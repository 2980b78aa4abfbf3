"""All classes as events at once: the totals that the event view of each class gives by itself."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.engines import class_events, numba_cache
from surefoot.metrics import ALL
from surefoot.metrics.tallying import terms_for

METRICS = ("multiclass_brier", "multiclass_log_loss", "classwise_ece")


def sample(n=400, k=7):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n, k)) * 3
    p = np.exp(z)
    return rng.integers(0, k, n), z, p / p.sum(axis=1, keepdims=True)


@pytest.fixture
def at_once(monkeypatch):
    """Asked at once however few the rows are; the others are counted."""
    monkeypatch.setattr(class_events, "_COMPILE_FROM", 0)
    found = []
    ours = class_events.tally_events

    def tally_events(*arguments):
        found.append(ours(*arguments))
        return found[-1]

    monkeypatch.setattr(class_events, "tally_events", tally_events)
    return found


def kinds():
    y, z, p = sample()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    wide = np.eye(7)[y] * 0.999999999 + p * 1e-9
    yield "float64", sf.Predictions.from_probabilities(y, p)
    yield "float32", sf.Predictions.from_probabilities(y, p.astype(np.float32))
    yield "near certainty", sf.Predictions.from_probabilities(y, wide / wide.sum(axis=1, keepdims=True))
    yield "logits", sf.Predictions.from_logits(y, z)
    yield "weights", sf.Predictions.from_probabilities(y, p, sample_weight=weight)
    yield "floor", sf.Predictions.from_probabilities(y, p, floor=0.05)
    yield "words", sf.Predictions.from_probabilities(np.array(list("abcdefg"))[y], p, labels=list("abcdefg"))
    # another class is predicted than the likeliest: what remains to it is the sum of the others
    yield "decided elsewhere", sf.Predictions.from_probabilities(y, p, y_pred=(y + 1) % 7)
    yield "a class that never occurs", sf.Predictions.from_probabilities(np.minimum(y, 4), p)


@pytest.mark.parametrize(("name", "predictions"), list(kinds()), ids=lambda one: one if isinstance(one, str) else "")
def test_totals_are_those_of_each_event(at_once, name, predictions):
    terms = [term.inner for term in terms_for([ALL[name] for name in METRICS]) if hasattr(term, "inner")]
    together = predictions._add_up_events(terms, by=None)
    assert together is not None
    assert tuple(together) == tuple(predictions.labels)
    for label, one in together.items():
        alone = predictions.event(label).tally(terms)
        assert (one.labels, one.rounded) == (alone.labels, alone.rounded)
        for key, table in alone.tables.items():
            assert one.tables[key].codes.tolist() == table.codes.tolist()
            for term, sums in table.totals.items():
                assert one.tables[key].totals[term].value == pytest.approx(sums.value, rel=1e-12, abs=1e-12)


def test_metrics_are_those_of_scikit_learn(at_once):
    from sklearn.metrics import log_loss

    y, _, p = sample()
    t = sf.tally(sf.Predictions.from_probabilities(y, p), ["multiclass_log_loss", "multiclass_brier"])
    assert at_once[0] is not None
    assert ALL["multiclass_log_loss"].of(t) == pytest.approx(log_loss(y, p), rel=1e-13)
    squares = ((p - np.eye(7)[y]) ** 2).sum() / len(y)
    assert ALL["multiclass_brier"].of(t) == pytest.approx(squares, rel=1e-13)


def test_few_numbers_do_not_wait_for_a_compiler(monkeypatch):
    y, _, p = sample()
    monkeypatch.setattr(numba_cache, "is_loaded", lambda *_: False)
    assert sf.Predictions.from_probabilities(y, p)._add_up_events([ALL["brier"].terms[0]], by=None) is None


@pytest.mark.parametrize("metric", ["auc", "equal_mass_ece"])
def test_what_is_not_made_of_cells_is_asked_of_each_event(at_once, metric):
    y, _, p = sample()
    assert sf.Predictions.from_probabilities(y, p)._add_up_events(list(ALL[metric].terms), by=None) is None


def test_two_classes_are_asked_by_themselves(at_once):
    y, _, p = sample(k=2)
    assert sf.Predictions.from_probabilities(y, p)._add_up_events([ALL["brier"].terms[0]], by=None) is None
