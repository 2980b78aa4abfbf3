"""The evidence of a stream: what is settled, and what labels that are awaited may still change."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from surefoot._stats.logarithms import log_mean
from surefoot.core.table import Floats
from surefoot.engines.parallel import in_parallel
from surefoot.risk.stream.episodes import Episode, History, Runs, add_detection
from surefoot.risk.stream.eprocess import Segment, Side
from surefoot.risk.stream.issued import Issued

#: Units up to which a second thread costs more than it saves, and units followed in one go.
_ALONE = 2048
PIECE = 1 << 14
_SOON = 128


class Watch:
    """The e-process and the change detector of the sides that are watched, in the order of issue."""

    def __init__(self, level: float, mean_time_between_false_alarms: float, sides: Sequence[str]) -> None:
        self.level = level
        self.mean_time_between_false_alarms = mean_time_between_false_alarms
        self._alarm_row: int | None = None
        self._alarm_side: str | None = None
        self._drift_rows: list[int] = []
        #: The evidence at each of those that this process has seen.
        self._drift_evidence: dict[int, float] = {}
        self._has_new_drift = False
        self._episodes: tuple[Episode, ...] = ()
        #: Of the rows that are settled, and of those after them as they look now.
        self._history, self._ahead = History(), History()
        #: Since when each side has been off, if it is, after the rows that are settled.
        self._runs = {name: Runs.after(0) for name in sides}
        #: After the rows that are settled; and after those up to the last label, once these have been looked at.
        self._sides = {name: Side() for name in sides}
        self._now: dict[str, Side] | None = None
        #: The row after which the detector last started anew, if that is not settled yet.
        self._restarted = 0
        self._issued = Issued()

    @property
    def side(self) -> str:
        """The side with more evidence: ``"overconfident"`` or ``"underconfident"``."""
        now = self._catch_up()
        return max(now, key=lambda name: now[name].log_e)

    @property
    def alarm_side(self) -> str:
        """The side that had more evidence when the e-value reached its limit; :attr:`side` while it has not."""
        now = self.side
        return self._alarm_side or now

    def _catch_up(self) -> dict[str, Side]:
        """Settle what no label can change any more, and follow the rest up to the last label that has come."""
        if self._now is not None:
            return self._now
        ready = self._issued.ready
        if ready:
            self._follow(self._sides, self._runs, self._issued.sides(ready))
            self._issued.drop(ready)
        known = self._issued.known
        self._ahead = History(self._history.stride)
        if not known:
            self._now = self._sides
            return self._now
        # of these rows more may become known: the sides that are settled stay where they are
        ahead = {name: replace(side) for name, side in self._sides.items()}
        self._follow(ahead, dict(self._runs), self._issued.sides(known))
        if self._restarted > self._issued.start:
            for name, side in self._sides.items():
                side.restart()
                self._runs[name] = Runs.after(self._restarted)
        self._now = ahead
        return ahead

    def _follow(self, sides: dict[str, Side], runs: dict[str, Runs], segments: dict[str, Segment]) -> None:
        """Follow all sides through rows, piece by piece; from where the detector goes off, it starts anew."""
        before = self._issued.start
        units = len(next(iter(segments.values())))
        for start in range(0, units, PIECE):
            piece = {name: segments[name][start : start + PIECE] for name in sides}
            self._follow_piece(sides, runs, piece, before)
            before += int(next(iter(piece.values())).ends[-1])

    def _follow_piece(
        self, sides: dict[str, Side], runs: dict[str, Runs], piece: dict[str, Segment], before: int
    ) -> None:
        ends = next(iter(piece.values())).ends.astype(np.int64) + before
        paths = _follow_sides(sides, piece, Side.grow)
        log_e, all_evidence = log_mean(paths), np.zeros(len(ends))
        if self._alarm_row is None:
            reached = np.flatnonzero(log_e >= -math.log(self.level))
            if len(reached):
                self._alarm_row = int(ends[reached[0]])
                self._alarm_side = list(sides)[int(np.argmax([path[reached[0]] for path in paths]))]
        # units before its last start say nothing to the detector
        start = int(np.searchsorted(ends, self._restarted, side="right"))
        # from where it goes off it starts anew, a few rows and then more at a time, for it may soon go off again
        window = len(ends)
        while start < len(ends):
            some = slice(start, start + window)
            copies = {name: replace(side) for name, side in sides.items()}
            by_side = _follow_sides(copies, {name: piece[name][some] for name in sides}, Side.detect)
            evidence = np.mean(by_side, axis=0)
            all_evidence[some] = evidence
            reached = np.flatnonzero(evidence >= self.mean_time_between_false_alarms)
            used = slice(start, start + int(reached[0]) + 1) if len(reached) else some
            for name in sides:
                runs[name] = runs[name].follow(piece[name][used], ends[used], name)
            if len(reached):
                start = used.stop
                self._restarted = int(ends[start - 1])
                self._drift_rows.append(self._restarted)
                self._drift_evidence[self._restarted] = float(evidence[reached[0]])
                self._has_new_drift = True
                most = list(sides)[int(np.argmax([one[reached[0]] for one in by_side]))]
                apart = self.mean_time_between_false_alarms
                self._episodes = add_detection(self._episodes, self._restarted, most, runs[most], apart)
                window = _SOON
                for name, side in sides.items():
                    side.restart()
                    runs[name] = Runs.after(self._restarted)
            else:
                start, window = start + len(evidence), 2 * window
                for name, side in sides.items():
                    side.stakes = copies[name].stakes
        # of rows that are not settled labels may still come: their history is made anew at every look
        (self._history if sides is self._sides else self._ahead).add(ends, log_e, all_evidence)


def _follow_sides(
    sides: dict[str, Side], piece: dict[str, Segment], way: Callable[[Side, Segment], Floats]
) -> list[Floats]:
    """Take all sides through some units."""
    jobs = [partial(way, side, piece[name]) for name, side in sides.items()]
    return in_parallel(jobs) if len(next(iter(piece.values()))) > _ALONE else [job() for job in jobs]
