"""A live stream: is the model overconfident, and since when?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np

from surefoot._io.arguments import check_share, check_whole
from surefoot._stats.logarithms import log_mean
from surefoot.core.table import Floats
from surefoot.engines.parallel import in_parallel
from surefoot.errors import InvalidPredictions
from surefoot.predictions import ArrayPredictions, Predictions
from surefoot.risk.groups import codes_of
from surefoot.risk.law.cells import Codes
from surefoot.risk.stream import monitor_files
from surefoot.risk.stream.claims import as_column, as_columns, as_ids, claims_of, describe_claims, is_same
from surefoot.risk.stream.episodes import Episode, History, Runs, add_alarm
from surefoot.risk.stream.eprocess import Segment, Side
from surefoot.risk.stream.id_set import Id, IdSet
from surefoot.risk.stream.issued import AWAITED, RIGHT, WRONG, Issued, both_sides
from surefoot.risk.stream.monitor_files import COUNTS, MonitorState

WatchedSide = Literal["both", "overconfident", "underconfident"]


class Monitor:
    """Watch a stream of predictions after every row, for as long as one likes.

    Two things are watched, apart. ``alarm``: the e-process over all rows so far has reached 1 / ``level``; if
    confidences are calibrated, the chance that this ever happens is at most ``level``, however often one looks.
    ``drift``: the change detector, which starts anew at every row and after each of its alarms, has reached
    ``mean_time_between_false_alarms``; calibrated rows make it do so at most once in that many rows on average. Both
    watch both sides unless ``alternative`` says which.

    What it takes: given its confidence and everything issued and labelled before it, a prediction is wrong with at most
    the probability it states. Where that is broken, as by several rows of one patient, name what belongs together
    (``groups``): otherwise one cause counts many times, and alarms come too often.

    :meth:`expect` tells predictions as they are issued, :meth:`update` labels as they arrive. Rows count in the order
    of issue, and one whose label has not come as if it were no surprise: labels may come in any order and at any time,
    mistakes first or last. Rows issued in one call of :meth:`expect`, or with one group in one call, are averaged
    before they multiply. After ``label_window`` more rows a label is no longer awaited, and its row stays counted as no
    surprise: where a notable share never gets one (``unlabelled``), a small shortfall can no longer be seen.

    Rows with ids count once, however often they are fed. Whole-number ids that follow each other cost two numbers a
    gap, other ids their own length for each row; rows without ids cost nothing. Doubts below 1e-9 are bet on as if they
    were 1e-9; a certain row that is wrong is infinite evidence.

    Examples
    --------
    >>> m = Monitor(level=0.05)
    >>> m.expect("a", 0.99)
    >>> m.expect(["b", "c"], [0.9, 0.8])
    >>> m.update([False], ids=["a"])
    >>> m.update([True] * 3, [0.9, 0.8, 0.9])
    >>> m.rows, m.pending, m.alarm
    (4, 2, False)
    """

    def __init__(
        self,
        *,
        level: float = 0.05,
        mean_time_between_false_alarms: float = 10_000,
        alternative: WatchedSide = "both",
        label_window: int = 100_000,
    ) -> None:
        check_share("level", level, "0.05")
        check_whole("label_window", label_window)
        time = mean_time_between_false_alarms
        if isinstance(time, bool) or not isinstance(time, int | float | np.integer) or not 1 <= time < math.inf:
            raise ValueError(f"mean_time_between_false_alarms is {time!r}; it should be a number of rows, at least 1.")
        if alternative not in get_args(WatchedSide):
            raise ValueError(f"alternative is {alternative!r}; it should be one of {', '.join(get_args(WatchedSide))}.")
        self.level = float(level)
        self.mean_time_between_false_alarms = float(time)
        self.alternative = alternative
        self.label_window = int(label_window)
        #: Rows whose labels have come, the mistakes they allowed for and those they made.
        self.rows, self.stated, self.errors = 0, 0.0, 0
        #: Labels that came again, or after the window; and rows that never got one.
        self.repeated, self.unlabelled = 0, 0
        self._alarm_row: int | None = None
        self._drift_rows: list[int] = []
        #: The evidence at each of those that this process has seen.
        self._drift_evidence: dict[int, float] = {}
        self._has_new_drift = False
        self._episodes: tuple[Episode, ...] = ()
        self._history = History()
        #: Since when each side has been off, if it is, after the rows that are settled.
        self._runs = {name: Runs.after(0) for name in _SIDES if alternative in (name, "both")}
        #: After the rows that are settled; and after those up to the last label, once these have been looked at.
        self._sides = {name: Side() for name in _SIDES if alternative in (name, "both")}
        self._now: dict[str, Side] | None = None
        #: The row after which the detector last started anew, if that is not settled yet.
        self._restarted = 0
        self._issued = Issued()
        self._counted = IdSet()

    # -- what is known -----------------------------------------------------------------------------------------------

    @property
    def alarm(self) -> bool:
        """Whether the e-process has ever reached 1 / ``level``."""
        return self.alarm_row is not None

    @property
    def alarm_row(self) -> int | None:
        """The row, in the order of issue, at which the e-process reached 1 / ``level``."""
        self._catch_up()
        return self._alarm_row

    @property
    def drift(self) -> bool:
        """Whether the change detector has gone off since :meth:`acknowledge` was last called."""
        self._catch_up()
        return self._has_new_drift

    @property
    def drift_rows(self) -> list[int]:
        """The rows, in the order of issue, at which the change detector went off."""
        self._catch_up()
        return list(self._drift_rows)

    @property
    def drift_evidence(self) -> dict[int, float]:
        """The evidence at each of those rows that this process has seen."""
        self._catch_up()
        return self._drift_evidence

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """Stretches over which the change detector went off, each with its onset and its errors.

        While a change lasts the detector goes off again and again: that is one episode.
        """
        self._catch_up()
        return self._episodes

    @property
    def history(self) -> list[tuple[int, float, float]]:
        """How the evidence grew: row, ``log_e`` and ``evidence``, at up to some hundred rows, and now."""
        self._catch_up()
        points = [(0, 0.0, 0.0), *self._history.points]
        last = self._issued.start + self._issued.known
        return points if points[-1][0] >= last else [*points, (last, self.log_e, self.evidence)]

    @property
    def log_e(self) -> float:
        """The logarithm of :attr:`e_value`."""
        return float(log_mean([side.log_e for side in self._catch_up().values()]))

    @property
    def e_value(self) -> float:
        """The evidence of all rows up to the last whose label has come or was given up; of two sides, the mean.

        It may have been larger before. A row before that whose label is awaited counts as if it were no surprise: with
        all labels the evidence is this much, or more.
        """
        return math.exp(self.log_e) if self.log_e < 709 else math.inf

    @property
    def evidence(self) -> float:
        """Of a change, since the detector last started; it goes off at ``mean_time_between_false_alarms``."""
        return sum(side.evidence for side in self._catch_up().values()) / len(self._sides)

    @property
    def side(self) -> str:
        """The side on which there is more evidence."""
        now = self._catch_up()
        return max(now, key=lambda name: now[name].log_e)

    @property
    def pending(self) -> int:
        """Predictions whose labels are awaited."""
        return len(self._issued.places)

    @property
    def issued(self) -> int:
        """Predictions in all: labelled, awaited, and given up."""
        return self._issued.stop

    @property
    def has_ids(self) -> bool:
        """Whether rows were counted by id."""
        return bool(self._issued.places or self._counted)

    def acknowledge(self) -> None:
        """The drift has been seen to: wait for the next."""
        self._catch_up()
        self._has_new_drift = False

    def __repr__(self) -> str:
        parts = [f"{self.rows:,} rows", f"e-value {self.e_value:.3g}"]
        if self.alarm_row is not None:
            parts.append(f"ALARM at row {self.alarm_row:,}")
        if self.drift_rows:
            parts.append(
                f"drift at row {self.drift_rows[-1]:,}"
                + (f" ({len(self.drift_rows)} times)" if len(self.drift_rows) > 1 else "")
            )
        if self.pending:
            parts.append(f"{self.pending:,} labels awaited")
        if self.unlabelled:
            parts.append(f"{self.unlabelled:,} never labelled")
        return f"<Monitor: {', '.join(parts)}>"

    # -- what comes in -----------------------------------------------------------------------------------------------

    def expect(self, ids: Any, confidence: Any = None, *, doubt: Any = None, groups: Any = None) -> None:
        """Predictions were issued, together; their labels may come later, by the same ids.

        Those that are expected or labelled already are left. Where they were not issued together, call it for each, or
        say with ``groups`` which of them belong to one another (``groups=ids``: none).
        """
        names = as_ids(ids)
        if not names:
            return
        claims = Predictions.from_correct(
            np.ones(len(names), dtype=bool), *as_columns(len(names), confidence), doubt=as_column(len(names), doubt)
        ).rows()
        units = (
            np.zeros(len(names), dtype=np.int64)
            if groups is None
            else codes_of(len(names), as_column(len(names), groups))
        )
        new: dict[Id, int] = {}
        columns = list(claims_of(claims))
        for i, (name, claim) in enumerate(zip(names, columns, strict=True)):
            before = self._issued.claim(name) or (columns[new[name]] if name in new else None)
            if before is not None and not is_same(before, claim):
                earlier, now = describe_claims(before, claim)
                raise InvalidPredictions(
                    f"ids[{i}] is {name!r}, which is expected with {earlier} already; now it comes with {now}. Each "
                    "prediction needs an id of its own."
                )
            if before is None and name not in self._counted:
                new[name] = i
        if not new:
            return
        # in the order of issue, which is that of the groups' first rows
        at = np.array(list(new.values()))
        at = at[np.argsort(_number_by_first(units[at]), kind="stable")]
        held, sizes = np.array(columns)[at], np.bincount(_number_by_first(units[at]))
        place = self._issued.stop
        self._issued.add(held[:, 0], held[:, 1], AWAITED, sizes)
        for i, row in enumerate(at.tolist()):
            self._issued.places[names[row]] = place + i
        self._close(place)

    def update(
        self, correct: Any, confidence: Any = None, *, doubt: Any = None, ids: Any = None, groups: Any = None
    ) -> None:
        """Labels arrived: with their confidences, or with ids expected before. On an error none of them counts.

        Rows that were not expected are issued and labelled at once, one after the other; those of one of the ``groups``
        together.
        """
        correct = np.atleast_1d(np.asarray(correct))
        given = confidence is not None or doubt is not None
        if ids is None and not given:
            raise InvalidPredictions("update got labels without confidence and without ids; give one of them.")
        names = None if ids is None else as_ids(ids)
        if names is not None and len(names) != len(correct):
            raise InvalidPredictions(f"lengths differ: correct has {len(correct)} rows, ids {len(names)}.")
        if not len(correct):
            return
        if groups is not None and not given:
            raise InvalidPredictions(
                "groups are named when predictions are issued: expect(ids, confidence, groups=...)."
            )
        units = None if groups is None else codes_of(len(correct), as_column(len(correct), groups))
        fresh = np.ones(len(correct), dtype=bool) if names is None else self._counted.are_new(names)
        awaited = np.zeros(len(correct), dtype=bool)
        if names is not None and self._issued.places:
            awaited = np.array([name in self._issued.places for name in names]) & fresh
        if not given:
            assert names is not None
            unknown = np.flatnonzero(fresh & ~awaited)
            if len(unknown):
                i = int(unknown[0])
                raise InvalidPredictions(
                    f"ids[{i}] is {names[i]!r}, for which no prediction is expected; call expect first, or "
                    "give its confidence."
                )
            held = np.array([self._issued.claim(name) or (1.0, 0.0) for name in names]).reshape(-1, 2)
            rows = Predictions.from_correct(correct, held[:, 0], doubt=held[:, 1]).rows()
        else:
            rows = Predictions.from_correct(
                correct, *as_columns(len(correct), confidence), doubt=as_column(len(correct), doubt)
            ).rows()
            if names is not None and awaited.any():
                self._check_claims(names, rows, awaited)
        if names is not None and awaited.any():
            at = np.flatnonzero(awaited)
            self._issued.label([names[i] for i in at.tolist()], rows.correct[at])
        self._count_labels(rows[fresh] if not fresh.all() else rows)
        new = fresh & ~awaited
        self._issue(rows[new] if not new.all() else rows, units if units is None else units[new])
        self.repeated += int((~fresh).sum())
        if names is not None:
            self._counted.add_all(names)
        self._close(self._issued.stop)

    def _check_claims(self, names: list[Id], rows: ArrayPredictions, awaited: Any) -> None:
        """A prediction that was expected keeps the confidence it was issued with."""
        for i, (name, claim) in enumerate(zip(names, claims_of(rows), strict=True)):
            before = self._issued.claim(name)
            if awaited[i] and before is not None and not is_same(before, claim):
                earlier, now = describe_claims(before, claim)
                raise InvalidPredictions(
                    f"ids[{i}] is {name!r}, which was issued with {earlier}; its label comes with {now}. Leave out the "
                    "confidence, or give the one that was issued."
                )

    def _count_labels(self, rows: ArrayPredictions) -> None:
        self.rows += len(rows)
        self.stated += float(rows.doubt_of(slice(None)).sum())
        self.errors += int((~rows.correct).sum())

    def _issue(self, rows: ArrayPredictions, units: Any) -> None:
        """Rows that are labelled as they are issued: counted at once, unless others are awaited before them."""
        if not len(rows):
            return
        every, sizes = slice(None), None
        if units is not None:
            first = _number_by_first(units)
            rows, sizes = rows[np.argsort(first, kind="stable")], np.bincount(first)
        doubt, confidence, right = rows.doubt_of(every), rows.confidence_of(every), rows.correct
        if len(self._issued):
            alone = np.ones(len(rows), dtype=np.int64) if sizes is None else sizes
            self._issued.add(confidence, doubt, np.where(right, RIGHT, WRONG), alone)
            return
        self._now = None
        segments = both_sides(doubt, confidence, ~right, right, None if sizes is None else sizes.astype(np.float64))
        self._follow(self._sides, self._runs, segments)
        self._issued.start += len(rows)

    def _close(self, before: int) -> None:
        """Give up labels that are too late, of rows issued before a place, and settle what is ready, if it is much."""
        names = self._issued.give_up(min(self._issued.stop - self.label_window, before))
        self.unlabelled += len(names)
        self._counted.add_all(names)
        if len(self._issued):
            self._now = None
            if self._issued.ready >= _PIECE:
                self._catch_up()

    # -- counting ----------------------------------------------------------------------------------------------------

    def _catch_up(self) -> dict[str, Side]:
        """Settle what no label can change any more, and follow the rest up to the last label that has come."""
        if self._now is not None:
            return self._now
        ready = self._issued.ready
        if ready:
            self._follow(self._sides, self._runs, self._issued.sides(ready))
            self._issued.drop(ready)
        known = self._issued.known
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
        for start in range(0, units, _PIECE):
            piece = {name: segments[name][start : start + _PIECE] for name in sides}
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
            self._alarm_row = int(ends[reached[0]]) if len(reached) else None
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
                self._episodes = add_alarm(self._episodes, self._restarted, most, runs[most], apart)
                window = _SOON
                for name, side in sides.items():
                    side.restart()
                    runs[name] = Runs.after(self._restarted)
            else:
                start, window = start + len(evidence), 2 * window
                for name, side in sides.items():
                    side.stakes = copies[name].stakes
        if sides is self._sides:
            # of rows that are not settled, labels may still come
            self._history.add(ends, log_e, all_evidence)

    # -- files -------------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole state: a crash at any instant leaves the old file or the new one."""
        self._catch_up()
        state = MonitorState(
            options={name: getattr(self, name) for name in _OPTIONS},
            counts={name: getattr(self, name) for name in COUNTS},
            stated=self.stated,
            alarm_row=self._alarm_row,
            drift_rows=self._drift_rows,
            has_new_drift=self._has_new_drift,
            sides=self._sides,
            restarted=self._restarted,
            episodes=self._episodes,
            runs=self._runs,
            history=self._history,
            issued=self._issued,
            counted=self._counted,
        )
        monitor_files.save(path, state)

    @staticmethod
    def load(path: str | PathLike[str]) -> Monitor:
        """A monitor as it was saved, ready to go on; a damaged, foreign or newer file is an error."""
        return monitor_files.load(path, Monitor._from_state)

    @classmethod
    def _from_state(cls, state: MonitorState) -> Monitor:
        m = cls(**state.options)
        for name, count in state.counts.items():
            setattr(m, name, count)
        m.stated, m._alarm_row, m._drift_rows = state.stated, state.alarm_row, state.drift_rows
        m._has_new_drift, m._restarted = state.has_new_drift, state.restarted
        m._sides = {name: state.sides[name] for name in m._sides}
        m._issued, m._counted = state.issued, state.counted
        m._episodes, m._history = state.episodes, state.history
        m._runs = {name: state.runs.get(name, Runs.after(m._issued.start)) for name in m._sides}
        return m


_SIDES = ("overconfident", "underconfident")
_OPTIONS = ("level", "mean_time_between_false_alarms", "alternative", "label_window")
#: Units up to which a second thread costs more than it saves, and units followed in one go.
_ALONE = 2048
_PIECE = 1 << 14
_SOON = 128


def _follow_sides(
    sides: dict[str, Side], piece: dict[str, Segment], way: Callable[[Side, Segment], Floats]
) -> list[Floats]:
    """Take all sides through some units."""
    jobs = [partial(way, side, piece[name]) for name, side in sides.items()]
    return in_parallel(jobs) if len(next(iter(piece.values()))) > _ALONE else [job() for job in jobs]


def _number_by_first(units: Codes) -> Codes:
    """The same units, numbered in the order in which they come."""
    _, first, where = np.unique(units, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return order[where]
