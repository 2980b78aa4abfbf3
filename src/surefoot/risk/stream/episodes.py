"""When a change began and how large it is: stretches over which drift is detected again and again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from surefoot._io.documents import numbers
from surefoot.core.table import Floats
from surefoot.risk.evalues import DETECTOR
from surefoot.risk.law.cells import Codes
from surefoot.risk.stream.eprocess import Segment

_LOG_SHARES = np.log([bet.share for bet in DETECTOR])
#: How many times the mean time to a detection of an episode may pass until it is over.
_PACE = 5
#: Points of the history that are kept at most.
_MOST_POINTS = 512


@dataclass(frozen=True)
class Episode:
    """A stretch of the stream over which the change detector found drift, once or several times.

    Attributes
    ----------
    onset : int
        The row at which the change began, as far as the errors tell: the estimate is that of a CUSUM chart.
    first_alarm, last_alarm : int
        The rows at which drift was detected first and last. A detection belongs to the same episode as the one before
        if it comes within five times the rows that the detections of this episode took on average, and within
        ``mean_time_between_false_alarms`` rows.
    alarms : int
        How often drift was detected. This is not ``Monitor.alarm``, which is about all rows.
    side : str
        ``"overconfident"`` (more errors than expected) or ``"underconfident"`` (fewer).
    expected_errors, observed_errors : float
        Errors that the confidences imply from the onset to the last detection, and errors made. A row whose label had
        not come counts as no surprise.
    """

    onset: int
    first_alarm: int
    last_alarm: int
    alarms: int
    side: str
    expected_errors: float
    observed_errors: float

    @property
    def rows(self) -> int:
        """Rows from the onset to the last detection."""
        return self.last_alarm - self.onset + 1

    def includes(self, row: int, most: float) -> bool:
        """Whether drift at a row would belong to it; ``most`` is how far detections may be apart at all."""
        return row - self.last_alarm <= min(most, _PACE * self.rows / self.alarms)

    @property
    def oe_ratio(self) -> float:
        """Observed over expected errors; infinite if none were expected."""
        return self.observed_errors / self.expected_errors if self.expected_errors else float("inf")

    @property
    def overstatement(self) -> float:
        """Mean confidence minus accuracy over the episode: 0.03 is 3 points too confident."""
        return (self.observed_errors - self.expected_errors) / self.rows


@dataclass(frozen=True)
class Errors:
    """Errors expected and observed after each unit, added up."""

    expected: Floats
    observed: Floats

    @classmethod
    def of(cls, units: Segment, side: str) -> Errors:
        """Of rows as one side sees them: to the underconfident one it is no error that is the surprise."""
        over = side == "overconfident"
        expected = units.doubt if over else units.confidence
        observed = (units.surprise if over else ~units.surprise).astype(np.float64)
        if units.sizes is not None:
            starts = (np.cumsum(units.sizes) - units.sizes).astype(np.int64)
            expected, observed = np.add.reduceat(expected, starts), np.add.reduceat(observed, starts)
        return cls(np.cumsum(expected), np.cumsum(observed))


@dataclass(frozen=True)
class Runs:
    """For each bet of the detector the run of rows that speaks most for it, as in a CUSUM chart.

    A run ends, and the next begins, where the bet has lost all that it has won since it began; each holds the last unit
    at least.
    """

    #: The logarithm of what each bet has won in its run, and the rows before it.
    gain: Floats
    start: Floats
    #: Errors expected and observed since then; and since the detector last started, in ``all_expected`` and so on.
    expected: Floats
    observed: Floats
    all_expected: float = 0.0
    all_observed: float = 0.0

    @classmethod
    def after(cls, row: int) -> Runs:
        """Runs that begin after a row."""
        nothing = np.zeros(len(DETECTOR))
        return cls(nothing, np.full(len(DETECTOR), float(row)), nothing, nothing)

    def follow(self, units: Segment, ends: Codes, side: str) -> Runs:
        """Go on through some units; ``ends`` are the rows that have passed after each."""
        if not len(units):
            return self
        errors = Errors.of(units, side)
        expected, observed = float(errors.expected[-1]), float(errors.observed[-1])
        paths = self.gain[:, None] + np.cumsum(np.log(units.gains(DETECTOR)), axis=1)
        first = int(ends[0]) - (1 if units.sizes is None else int(units.sizes[0]))
        # what was known before each unit: a run may begin there, at the last of the lowest places
        before = np.concatenate([self.gain[:, None], paths[:, :-1]], axis=1)
        lowest = before.shape[1] - 1 - np.argmin(before[:, ::-1], axis=1)
        low = before[np.arange(len(before)), lowest]
        anew = low <= 0
        return Runs(
            paths[:, -1] - np.where(anew, low, 0.0),
            np.where(anew, np.append(first, ends[:-1])[lowest], self.start),
            np.where(anew, expected - np.append(0.0, errors.expected[:-1])[lowest], self.expected + expected),
            np.where(anew, observed - np.append(0.0, errors.observed[:-1])[lowest], self.observed + observed),
            self.all_expected + expected,
            self.all_observed + observed,
        )

    @property
    def best(self) -> int:
        """The bet that has won most."""
        return int(np.argmax(_LOG_SHARES + self.gain))

    def pack(self) -> dict[str, Any]:
        """Plain data."""
        arrays = {name: numbers(getattr(self, name)) for name in ("gain", "start", "expected", "observed")}
        return {**arrays, "all_expected": self.all_expected, "all_observed": self.all_observed}

    @classmethod
    def unpack(cls, body: dict[str, Any]) -> Runs:
        """From plain data."""
        names = ("gain", "start", "expected", "observed")
        gain, start, expected, observed = (np.array([float(x) for x in body[name]]) for name in names)
        if any(array.shape != (len(DETECTOR),) for array in (gain, start, expected, observed)):
            raise ValueError("the bets are not those of this version")
        return cls(gain, start, expected, observed, float(body["all_expected"]), float(body["all_observed"]))


def add_detection(episodes: tuple[Episode, ...], row: int, side: str, runs: Runs, most: float) -> tuple[Episode, ...]:
    """The episodes after drift was detected: the last one goes on, or another begins.

    ``runs`` are those of the side that shows drift, up to its row. While a change lasts, detections follow each other
    about as fast as the first followed its onset; ``most`` is how far they may be apart at all.
    """
    last = episodes[-1] if episodes else None
    if last is not None and last.side == side and last.includes(row, most):
        longer = replace(
            last,
            last_alarm=row,
            alarms=last.alarms + 1,
            expected_errors=last.expected_errors + runs.all_expected,
            observed_errors=last.observed_errors + runs.all_observed,
        )
        return (*episodes[:-1], longer)
    best = runs.best
    onset = min(int(runs.start[best]) + 1, row)
    new = Episode(onset, row, row, 1, side, float(runs.expected[best]), float(runs.observed[best]))
    return (*episodes, new)


@dataclass
class History:
    """How the evidence grew: points at every so many rows, fewer of them the longer the stream is."""

    stride: int = 1
    rows: list[int] = field(default_factory=list)
    log_e: list[float] = field(default_factory=list)
    evidence: list[float] = field(default_factory=list)

    def add(self, ends: Codes, log_e: Floats, evidence: Floats) -> None:
        """After some units."""
        steps = ends // self.stride
        before = (self.rows[-1] if self.rows else 0) // self.stride
        for i in np.flatnonzero(np.diff(steps, prepend=before) > 0).tolist():
            self._append(int(ends[i]), float(log_e[i]), float(evidence[i]))

    def _append(self, row: int, log_e: float, evidence: float) -> None:
        if self.rows and row // self.stride <= self.rows[-1] // self.stride:
            return  # the stride has grown meanwhile
        self.rows.append(row)
        self.log_e.append(log_e)
        self.evidence.append(evidence)
        if len(self.rows) >= _MOST_POINTS:
            self.stride *= 2
            steps = np.array(self.rows) // self.stride
            kept = np.flatnonzero(np.diff(steps, prepend=0) > 0).tolist()
            for name in ("rows", "log_e", "evidence"):
                values = getattr(self, name)
                setattr(self, name, [values[i] for i in kept])

    @property
    def points(self) -> Iterable[tuple[int, float, float]]:
        """Row, logarithm of the e-value and evidence of a change, at each point."""
        return zip(self.rows, self.log_e, self.evidence, strict=True)

    def pack(self) -> dict[str, Any]:
        """Plain data."""
        values = {name: numbers(np.array(getattr(self, name))) for name in ("log_e", "evidence")}
        return {"stride": self.stride, "rows": self.rows, **values}

    @classmethod
    def unpack(cls, body: dict[str, Any]) -> History:
        """From plain data."""
        log_e, evidence = ([float(x) for x in body[name]] for name in ("log_e", "evidence"))
        history = cls(int(body["stride"]), [int(x) for x in body["rows"]], log_e, evidence)
        if not len(history.rows) == len(log_e) == len(evidence) or history.stride < 1:
            raise ValueError("the history is not whole")
        return history
