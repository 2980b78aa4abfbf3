"""The evidence of a stream over time: that of all rows, and that of a change."""

from __future__ import annotations

import math
from collections.abc import Sequence

from surefoot.figures.figure import Axis, Curve, Figure, Kind, Layer, Mark, Point, Text, Tick
from surefoot.figures.labels import decade
from surefoot.risk.stream.episodes import Episode
from surefoot.risk.stream.monitor import Monitor

#: Powers of ten beyond which no evidence is drawn.
_MOST = 300
_KINDS: dict[str, Kind] = {"overconfident": "over", "underconfident": "under"}


def wealth_figure(monitor: Monitor) -> Figure:
    """The e-value of all rows so far, and the line at which it is an alarm."""
    history = monitor.history
    values = [min(max(log_e / math.log(10), -_MOST), _MOST) for _, log_e, _ in history]
    title = "e-value of all rows, log scale"
    limit = -math.log10(monitor.level)
    return _figure("Evidence of all rows", title, history, values, limit, f"alarm at {1 / monitor.level:,.0f}", ())


def change_figure(monitor: Monitor) -> Figure:
    """The evidence of a change since the detector last started, and the line at which drift is detected."""
    history = monitor.history
    values = [math.log10(min(max(evidence, 1.0), 10.0**_MOST)) for _, _, evidence in history]
    threshold = monitor.mean_time_between_false_alarms
    words = f"drift at {threshold:,.0f}"
    title = "evidence of a change, log scale"
    return _figure("Evidence of a change", title, history, values, math.log10(threshold), words, monitor.episodes)


def _figure(
    title: str,
    y_title: str,
    history: Sequence[tuple[int, float, float]],
    values: Sequence[float],
    limit: float,
    words: str,
    episodes: Sequence[Episode],
) -> Figure:
    rows = [float(row) for row, _, _ in history]
    last = max(rows[-1], 1.0)
    low, high = min(0.0, math.floor(min(values))), math.ceil(max(*values, limit) + 0.2)
    step = max(1, math.ceil((high - low) / 5))
    powers = [power for power in range(math.floor(low), high + 1) if power % step == 0]
    y = Axis(y_title, low, high, tuple(Tick(float(power), decade(power)) for power in powers))
    ticks = tuple(Tick(float(row), f"{row:,}") for row in sorted({round(last * i / 4) for i in range(5)}))
    points = tuple(
        Point(
            i,
            float(min(episode.onset, last)),
            float(min(episode.last_alarm, last)),
            (Mark(_KINDS[episode.side], float(min(episode.first_alarm, last)), limit),),
            _KINDS[episode.side],
        )
        for i, episode in enumerate(episodes)
    )
    return Figure(
        title=title,
        x=Axis("rows", 0.0, last, ticks),
        y=y,
        layers={"all": Layer(points)},
        ideal=((0.0, limit), (last, limit)),
        curves=(Curve(tuple(rows), tuple(values)),),
        texts=(Text(words, 0.0, limit, "start", (6, -10)),),
    )
