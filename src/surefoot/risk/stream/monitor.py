"""A live stream: is the model overconfident, and since when?"""

from __future__ import annotations

import math
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np

from surefoot._io.arguments import check_level, check_whole
from surefoot._stats.logarithms import log_mean
from surefoot.errors import InvalidPredictions
from surefoot.predictions import ArrayPredictions, Predictions
from surefoot.risk.groups import codes_of
from surefoot.risk.stream import monitor_files
from surefoot.risk.stream.claims import (
    as_column,
    as_columns,
    as_ids,
    check_confidences,
    claims_of,
    describe_claims,
    is_same,
    number_by_first,
)
from surefoot.risk.stream.episodes import Episode, Runs
from surefoot.risk.stream.id_set import Id, IdSet
from surefoot.risk.stream.issued import AWAITED, RIGHT, WRONG, both_sides
from surefoot.risk.stream.monitor_files import COUNTS, MonitorState
from surefoot.risk.stream.monitor_shape import SIDES
from surefoot.risk.stream.watch import PIECE, Watch

WatchedSide = Literal["both", "overconfident", "underconfident"]


class Monitor(Watch):
    """Watch a live stream of predictions for overconfidence, and for drift, after every row.

    Call :meth:`expect` when predictions are issued and :meth:`update` when labels arrive; where labels come at once,
    :meth:`update` is enough. Then read ``alarm`` (the stream as a whole is not calibrated) and ``drift`` (it became so
    recently). You may look after every row: the guarantees hold however often you look.

    Parameters
    ----------
    level : float, default=0.05
        Significance level: the chance that ``alarm`` is ever raised on calibrated predictions is at most this.
    mean_time_between_false_alarms : float, default=10000
        On calibrated predictions, ``drift`` is raised at most once in this many rows on average.
    alternative : {"both", "overconfident", "underconfident"}, default="both"
        What to watch for.
    label_window : int, default=100000
        A label that has not arrived after this many further predictions is no longer awaited.

    Attributes
    ----------
    rows, errors : int
        Number of labelled rows, and of errors among them.
    stated : float
        Number of errors that the confidences of these rows imply.
    repeated : int
        Labels that came again, or after the window; they are not counted.
    unlabelled : int
        Rows that never got a label within the window.

    Notes
    -----
    Assumption: given its confidence and everything issued and labelled before it, a prediction is wrong with at most
    the probability it states. Where rows depend on each other, as several rows of one patient do, pass ``groups``;
    otherwise one cause counts many times, and alarms come too often.

    ``alarm`` compares an e-process over all rows with 1 / ``level``. ``drift`` compares a change detector, which
    restarts at every row and whenever it has found drift, with ``mean_time_between_false_alarms``.

    Rows count in the order of issue. A row whose label has not arrived counts as no surprise, so labels may arrive in
    any order and at any time. Rows issued in one call of :meth:`expect`, or with one group in one call, are averaged
    before they multiply. A row that never gets a label stays counted as no surprise: where many do not
    (``unlabelled``), a small overconfidence can no longer be detected.

    Rows with ids count once, however often you pass them. Consecutive whole-number ids need no memory, other ids their
    own length for each row. Doubts (1 - confidence) below 1e-9 count as 1e-9; a wrong row of confidence 1 is infinite
    evidence.

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
        check_level(level)
        check_whole("label_window", label_window)
        time = mean_time_between_false_alarms
        if isinstance(time, bool) or not isinstance(time, int | float | np.integer) or not 1 <= time < math.inf:
            raise ValueError(f"mean_time_between_false_alarms is {time!r}; it should be a number of rows, at least 1.")
        if alternative not in get_args(WatchedSide):
            raise ValueError(f"alternative is {alternative!r}; it should be one of {', '.join(get_args(WatchedSide))}.")
        super().__init__(float(level), float(time), [name for name in SIDES if alternative in (name, "both")])
        self.alternative = alternative
        self.label_window = int(label_window)
        self.rows, self.stated, self.errors = 0, 0.0, 0
        self.repeated, self.unlabelled = 0, 0
        self._counted = IdSet()

    # -- what is known -----------------------------------------------------------------------------------------------

    @property
    def alarm(self) -> bool:
        """Whether the e-process has ever reached 1 / ``level``."""
        return self.alarm_row is not None

    @property
    def alarm_row(self) -> int | None:
        """The row, in the order of issue, at which the e-process first reached 1 / ``level``; None if it has not."""
        self._catch_up()
        return self._alarm_row

    @property
    def drift(self) -> bool:
        """Whether the change detector has found drift since the last call of :meth:`acknowledge`."""
        self._catch_up()
        return self._has_new_drift

    @property
    def drift_rows(self) -> list[int]:
        """The rows, in the order of issue, at which the change detector found drift."""
        self._catch_up()
        return list(self._drift_rows)

    @property
    def drift_evidence(self) -> dict[int, float]:
        """The evidence at each of ``drift_rows`` that this process has seen."""
        self._catch_up()
        return self._drift_evidence

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """Episodes of drift, each with its onset and its errors.

        While a change lasts, the detector finds drift again and again; that is one episode.
        """
        self._catch_up()
        return self._episodes

    @property
    def history(self) -> list[tuple[int, float, float]]:
        """How the evidence grew: row, ``log_e`` and ``evidence``, at up to a few hundred rows, and now."""
        self._catch_up()
        points = [(0, 0.0, 0.0), *self._history.points, *self._ahead.points]
        last = self._issued.start + self._issued.known
        return points if points[-1][0] >= last else [*points, (last, self.log_e, self.evidence)]

    @property
    def log_e(self) -> float:
        """The logarithm of :attr:`e_value`."""
        return float(log_mean([side.log_e for side in self._catch_up().values()]))

    @property
    def e_value(self) -> float:
        """The evidence against calibration of all rows so far; the mean of both sides if both are watched.

        It covers all rows up to the last one whose label has arrived or is no longer awaited. It may have been larger
        before. A row that still awaits its label counts as no surprise, so with all labels the evidence is this much or
        more.
        """
        return math.exp(self.log_e) if self.log_e < 709 else math.inf

    @property
    def evidence(self) -> float:
        """The evidence of a recent change; it is drift from ``mean_time_between_false_alarms`` on."""
        return sum(side.evidence for side in self._catch_up().values()) / len(self._sides)

    @property
    def pending(self) -> int:
        """Number of predictions that await their labels."""
        return len(self._issued.places)

    @property
    def issued(self) -> int:
        """Number of predictions in all: labelled, awaiting a label, and no longer awaited."""
        return self._issued.stop

    @property
    def has_ids(self) -> bool:
        """Whether rows have ids."""
        return bool(self._issued.places or self._counted)

    def acknowledge(self) -> None:
        """Reset ``drift`` after you have dealt with it; the monitor goes on watching for the next."""
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
            parts.append(f"{self.unlabelled:,} no longer awaited")
        return f"<Monitor: {', '.join(parts)}>"

    # -- what comes in -----------------------------------------------------------------------------------------------

    def expect(self, ids: Any, confidence: Any = None, *, doubt: Any = None, groups: Any = None) -> None:
        """Register predictions as they are issued; pass their labels to :meth:`update` later, by the same ids.

        Ids that are registered or labelled already are left as they are. Predictions of one call count as issued
        together. If they were not, call it for each, or pass ``groups``.

        Parameters
        ----------
        ids : int, str, or array-like of them
            An id for each prediction.
        confidence : float or array-like, optional
            The confidence in each prediction; may be left out if ``doubt`` is given.
        doubt : float or array-like, optional
            1 - confidence, where you know it more precisely than that subtraction gives it.
        groups : array-like, optional
            The group of each prediction (a patient, a user, a prompt). Rows of one group may depend on each other.
            ``groups=ids`` makes all of them independent.

        Raises
        ------
        InvalidPredictions
            If an id was registered before with another confidence, or a confidence is not in [0, 1].
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
                    "prediction needs its own id."
                )
            if before is None and name not in self._counted:
                new[name] = i
        if not new:
            return
        # in the order of issue, which is that of the groups' first rows
        at = np.array(list(new.values()))
        at = at[np.argsort(number_by_first(units[at]), kind="stable")]
        held, sizes = np.array(columns)[at], np.bincount(number_by_first(units[at]))
        place = self._issued.stop
        self._issued.add(held[:, 0], held[:, 1], AWAITED, sizes)
        for i, row in enumerate(at.tolist()):
            self._issued.places[names[row]] = place + i
        self._close(place)

    def update(
        self, correct: Any, confidence: Any = None, *, doubt: Any = None, ids: Any = None, groups: Any = None
    ) -> None:
        """Count labels as they arrive, with their confidences or with the ids passed to :meth:`expect`.

        Rows that were not registered count as issued and labelled at once, one after the other. If an error is raised,
        none of the rows counts.

        Parameters
        ----------
        correct : bool or array-like of bool
            Whether each prediction was correct.
        confidence : float or array-like, optional
            The confidence in each prediction; not needed for ids that :meth:`expect` knows.
        doubt : float or array-like, optional
            1 - confidence, where you know it more precisely than that subtraction gives it.
        ids : int, str, or array-like of them, optional
            An id for each row; a row that comes again is not counted again. Ids are text, to the character: 7 and
            ``"7"`` are one id, and ``"007"`` is another.
        groups : array-like, optional
            The group of each row that :meth:`expect` does not know; rows of one group may depend on each other.

        Raises
        ------
        InvalidPredictions
            If neither confidences nor known ids are given, or a confidence differs from the one registered.
        """
        correct = np.atleast_1d(np.asarray(correct))
        given = confidence is not None or doubt is not None
        if ids is None and not given:
            raise InvalidPredictions("update got labels without confidence and without ids; pass confidence= or ids=.")
        names = None if ids is None else as_ids(ids)
        if names is not None and len(names) != len(correct):
            raise InvalidPredictions(f"lengths differ: correct has {len(correct)} rows, ids {len(names)}.")
        if not len(correct):
            return
        if groups is not None and not given:
            raise InvalidPredictions("pass groups when predictions are issued: expect(ids, confidence, groups=...).")
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
            if rows.not_attempted:
                raise InvalidPredictions("a monitor counts answers; leave out rows that were not attempted")
            if names is not None and awaited.any():
                check_confidences(self._issued, names, rows, awaited)
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
            first = number_by_first(units)
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
        self.stop_awaiting(min(self._issued.stop - self.label_window, before))

    def stop_awaiting(self, issued: int) -> None:
        """Wait no longer for labels of the first so many predictions; they stay counted as no surprise.

        Parameters
        ----------
        issued : int
            How many, from the first in the order of issue.
        """
        names = self._issued.give_up(issued)
        self.unlabelled += len(names)
        self._counted.add_all(names)
        if len(self._issued):
            self._now = None
            if self._issued.ready >= PIECE:
                self._catch_up()

    # -- files -------------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole state to a file; a crash at any instant leaves the old file or the new one.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        """
        monitor_files.save(path, self._state())

    def to_text(self) -> str:
        """Return the whole state as text, as :meth:`save` writes it to a file.

        Returns
        -------
        str
            A JSON document, which :meth:`from_text` reads.
        """
        return monitor_files.dump(self._state())

    def _state(self) -> MonitorState:
        self._catch_up()
        return MonitorState(
            options={name: getattr(self, name) for name in _OPTIONS},
            counts={name: getattr(self, name) for name in COUNTS},
            stated=self.stated,
            alarm_row=self._alarm_row,
            alarm_side=self._alarm_side,
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

    @staticmethod
    def load(path: str | PathLike[str]) -> Monitor:
        """Read a monitor that :meth:`save` wrote, ready to go on.

        Parameters
        ----------
        path : str or path-like
            The file to read.

        Returns
        -------
        Monitor
            The monitor with all that it had counted.

        Raises
        ------
        InvalidMonitor
            If the file is damaged, is not a monitor, or was written by a newer version.
        """
        return monitor_files.load(path, Monitor._from_state)

    @staticmethod
    def from_text(text: str) -> Monitor:
        """Return the monitor whose state :meth:`to_text` gave.

        Parameters
        ----------
        text : str
            The JSON document.

        Returns
        -------
        Monitor
            The monitor with all that it had counted.

        Raises
        ------
        InvalidMonitor
            If the text is damaged, is not a monitor, or was written by a newer version.
        """
        return monitor_files.parse(text, "the text", Monitor._from_state)

    @classmethod
    def _from_state(cls, state: MonitorState) -> Monitor:
        m = cls(**state.options)
        for name, count in state.counts.items():
            setattr(m, name, count)
        m.stated, m._alarm_row, m._drift_rows = state.stated, state.alarm_row, state.drift_rows
        m._alarm_side = state.alarm_side
        m._has_new_drift, m._restarted = state.has_new_drift, state.restarted
        m._sides = {name: state.sides[name] for name in m._sides}
        m._issued, m._counted = state.issued, state.counted
        m._episodes, m._history = state.episodes, state.history
        m._runs = {name: state.runs.get(name, Runs.after(m._issued.start)) for name in m._sides}
        return m


_OPTIONS = ("level", "mean_time_between_false_alarms", "alternative", "label_window")
