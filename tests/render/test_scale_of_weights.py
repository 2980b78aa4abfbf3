"""Of weights only ratios matter: they may add up to 1, or to very little."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

import surefoot as sf
from surefoot.render import wording
from surefoot.render.numbers import count

#: Powers of 2 change no digit of a sum.
SCALES = (2.0**-11, 2.0**-30, 2.0**30)


@cache
def assessed(view: str, scale: float) -> sf.Assessment:
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    # nothing happens below 1/15, and all else a little less often than predicted
    y = (rng.random(2000) < np.where(p < 0.067, 0.0, 0.8 * p)).astype(int)
    weight = scale * rng.uniform(0.5, 1.5, 2000)
    if view == "classes":
        true = rng.dirichlet(np.ones(3), 2000)
        y = (rng.random((2000, 1)) > true.cumsum(axis=1)).sum(axis=1).clip(max=2)
        p = true**2 / (true**2).sum(axis=1, keepdims=True)
    else:
        p = np.clip(p, 0.02, 0.98) if view == "prediction" else p
    return sf.assess(y_true=y, probabilities=p, sample_weight=weight, of=view, labels=[0, 1, 2][: np.ndim(p) + 1])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("view", ["prediction", "event", "classes"])
def test_bins_hold_the_same_shares_whatever_weights_add_up_to(view: str, scale: float) -> None:
    one, other = assessed(view, 1.0), assessed(view, scale)
    assert [each.error for each in other.reliability] == [each.error for each in one.reliability]
    if view == "event":
        assert one.reliability[0].error == 1.0


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("view", ["prediction", "classes"])
def test_a_place_is_named_whatever_weights_add_up_to(view: str, scale: float) -> None:
    (one, *_), (other, *_) = (
        [words for words in wording.sentences(assessed(view, each)) if "(" in words and " where " in words]
        for each in (1.0, scale)
    )
    place = re.compile(r"[\d,.]+(e[+-]\d+)? where about [\d,.]+(e[+-]\d+)? ")
    assert place.sub("", one) == place.sub("", other)


@pytest.mark.parametrize("scale", SCALES)
def test_factors_are_shown_whatever_weights_add_up_to(scale: float) -> None:
    (one, other) = (re.findall(r"[x×]\d\S*", str(assessed("prediction", each))) for each in (1.0, scale))
    assert len(one) >= 2
    assert one == other


def test_small_sums_of_weights_have_digits() -> None:
    assert [count(value) for value in (0, 0.00123, 0.99, 1, 28.46, 575.3)] == [
        "0",
        "0.0012",
        "0.99",
        "1",
        "28.5",
        "575",
    ]
    assert "add up to 0.98" in " ".join(str(assessed("prediction", SCALES[0])).split())
