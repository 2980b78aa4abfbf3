"""Where a stream stands, in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import surefoot as sf
from surefoot.render.monitor_view import headline, plain, summary
from surefoot.risk.stream.episodes import Episode


def test_only_the_last_episode_can_be_open() -> None:
    """An episode of the other side ends the one before, though that was a moment ago."""
    m = sf.Monitor()
    m.update(np.ones(1000, dtype=bool), np.full(1000, 0.9))
    before = Episode(500, 700, 960, 3, "overconfident", 40.0, 90.0)
    m._episodes = (before, Episode(900, 980, 980, 1, "underconfident", 20.0, 2.0))
    assert before.includes(1000, 10_000)
    assert [one["open"] for one in plain(m)["episodes"]] == [False, True]
    assert headline(m) == "Underconfident since about row 900"


def test_detections_of_an_earlier_version_belong_to_no_episode() -> None:
    m = sf.Monitor()
    m.update(np.ones(50, dtype=bool), np.full(50, 0.9))
    one = Episode(30, 40, 40, 1, "overconfident", 1.0, 6.0)
    m._drift_rows = [*range(1, 12), 40]
    assert "Drift was detected 12 times." in summary(m)
    m._episodes = (one,)
    assert "Drift was detected 12 times, the last time in 1 episode." in summary(m)
    m._episodes = (replace(one, alarms=3),)
    assert "Drift was detected 12 times, the last 3 times in 1 episode." in summary(m)
    m._episodes = (replace(one, alarms=12),)
    assert "Drift was detected 12 times in 1 episode." in summary(m)
    m._drift_rows, m._episodes = [40], (one,)
    assert "Drift was detected once in 1 episode." in summary(m)


def test_detections_are_compared_with_all_rows_that_were_issued() -> None:
    """A quarter of the rows has labels: 40,000 rows may show drift 4 times, and 10,000 labels once."""
    m = sf.Monitor()
    m.expect(np.arange(40_000), np.full(40_000, 0.9))
    m.update(np.arange(10_000) % 10 > 0, ids=np.arange(10_000))
    m._drift_rows = [5, 6, 7]
    assert (m.rows, m.issued) == (10_000, 40_000)
    assert "at most 4.0 times on average, so this alone is no proof of drift." in summary(m)
