"""Calibrated streams with late labels seldom alarm, and what a monitor finds, the service finds at the same look.

`benchmarks/SERVICE.md` has the same of 2,000 streams.
"""

from __future__ import annotations

from pathlib import Path

from surefoot.service.database import connect
from tests.service.serving import database_of
from tests.service.simulation import draw, run


def test_the_service_finds_what_a_monitor_finds_and_no_later(tmp_path: Path) -> None:
    calm = [draw(400, seed, errors_first=seed % 2 == 0) for seed in range(24)]
    changed = [draw(600, seed, change=200) for seed in range(100, 106)]
    for streams, folder in ((calm, "calm"), (changed, "changed")):
        (tmp_path / folder).mkdir()
        database = connect(database_of(tmp_path / folder))
        run(database, streams)
        database.close()
        for one in streams:
            assert one.differences == 0
            assert one.follower is not None
            assert one.follower.monitor.pending == 0
            assert (one.follower.monitor.errors, one.follower.monitor.rows) == ((~one.correct).sum(), len(one.correct))
    # 24 streams at 5%: five or more alarms have probability 0.6%
    assert sum(one.alarmed["service"] is not None for one in calm) < 5
    assert all(one.drifted["service"] is not None for one in changed)
    assert [one.drifted["service"] for one in changed] == [one.drifted["offline"] for one in changed]
