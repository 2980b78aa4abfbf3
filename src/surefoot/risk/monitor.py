"""A live stream: is the model overconfident, and since when?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np

from surefoot.arguments import check_share
from surefoot.engines.threads import in_parallel
from surefoot.errors import InvalidPredictions
from surefoot.predictions import Predictions
from surefoot.risk.seen import Id, Seen
from surefoot.risk.watching import Side

Watched = Literal["both", "overconfident", "underconfident"]


class Monitor:
    """Watch a stream of predictions after every row, for as long as one likes.

    Two things are watched, apart. ``alarm``: the e-process over all rows so far has reached 1 / ``level``; if
    confidences are calibrated, the chance that this ever happens is at most ``level``, however often one looks.
    ``drift``: the change detector, which starts anew at every row and after each of its alarms, has reached
    ``mean_time_between_false_alarms``; calibrated rows make it do so at most once in that many rows on average. Both
    watch both sides unless ``alternative`` says which. What it takes is that each confidence was issued before its
    label was known; rows need not be alike, nor independent.

    Labels may come late and out of order: :meth:`expect` tells the predictions as they are issued, :meth:`update` the
    labels as they arrive. Rows with ids count once, however often they are fed. Whole-number ids that follow each
    other cost two numbers a gap, other ids their own length for each row; rows without ids cost nothing. Doubts below
    1e-9 are bet on as if they were 1e-9; a certain row that is wrong is infinite evidence.

    Examples
    --------
    >>> m = Monitor(level=0.05)
    >>> m.expect(["a", "b"], [0.99, 0.9])
    >>> m.update([False], ids=["a"])
    >>> m.update([True] * 3, [0.9, 0.8, 0.9])
    >>> m.rows, m.pending, m.alarm
    (4, 1, False)
    """

    def __init__(
        self,
        *,
        level: float = 0.05,
        mean_time_between_false_alarms: float = 10_000,
        alternative: Watched = "both",
    ) -> None:
        check_share("level", level, "0.05")
        time = mean_time_between_false_alarms
        if isinstance(time, bool) or not isinstance(time, int | float) or not 1 <= time < math.inf:
            raise ValueError(f"mean_time_between_false_alarms is {time!r}; it should be a number of rows, at least 1.")
        if alternative not in get_args(Watched):
            raise ValueError(f"alternative is {alternative!r}; it should be one of {', '.join(get_args(Watched))}.")
        self.level = float(level)
        self.mean_time_between_false_alarms = float(time)
        self.alternative = alternative
        #: Rows counted so far, the mistakes they allowed for and those they made; labels that came again.
        self.rows, self.stated, self.errors, self.repeated = 0, 0.0, 0, 0
        #: The row at which the e-process reached 1 / level, and the rows at which the detector went off.
        self.alarm_row: int | None = None
        self.drift_rows: list[int] = []
        #: The evidence at each of those that this process has seen.
        self.drift_evidence: dict[int, float] = {}
        self._unseen_drift = False
        self._sides = {name: Side() for name in ("overconfident", "underconfident") if alternative in (name, "both")}
        self._expected: dict[Id, tuple[float, float]] = {}
        self._seen = Seen()

    # -- what is known -----------------------------------------------------------------------------------------------

    @property
    def alarm(self) -> bool:
        """Whether the e-process has ever reached 1 / ``level``."""
        return self.alarm_row is not None

    @property
    def drift(self) -> bool:
        """Whether the change detector has gone off since :meth:`acknowledge` was last called."""
        return self._unseen_drift

    @property
    def log_e(self) -> float:
        """The logarithm of :attr:`e_value`."""
        values = [side.log_e for side in self._sides.values()]
        top = max(values)
        return top if math.isinf(top) else top + math.log(sum(math.exp(x - top) for x in values) / len(values))

    @property
    def e_value(self) -> float:
        """The evidence of all rows so far; of two sides, the mean. It may have been larger before."""
        return math.exp(self.log_e) if self.log_e < 709 else math.inf

    @property
    def evidence(self) -> float:
        """Of a change, since the detector last started; it goes off at ``mean_time_between_false_alarms``."""
        return sum(side.evidence for side in self._sides.values()) / len(self._sides)

    @property
    def side(self) -> str:
        """The side on which there is more evidence."""
        return max(self._sides, key=lambda name: self._sides[name].log_e)

    @property
    def pending(self) -> int:
        """Predictions whose labels have not come yet."""
        return len(self._expected)

    @property
    def has_ids(self) -> bool:
        """Whether rows were counted by id."""
        return bool(self._expected or self._seen)

    def acknowledge(self) -> None:
        """The drift has been seen to: wait for the next."""
        self._unseen_drift = False

    def __repr__(self) -> str:
        said = [f"{self.rows:,} rows", f"e-value {self.e_value:.3g}"]
        if self.alarm_row is not None:
            said.append(f"ALARM at row {self.alarm_row:,}")
        if self.drift_rows:
            said.append(
                f"drift at row {self.drift_rows[-1]:,}"
                + (f" ({len(self.drift_rows)} times)" if len(self.drift_rows) > 1 else "")
            )
        if self.pending:
            said.append(f"{self.pending:,} labels awaited")
        return f"<Monitor: {', '.join(said)}>"

    # -- what comes in -----------------------------------------------------------------------------------------------

    def expect(self, ids: Any, confidence: Any = None, *, doubt: Any = None) -> None:
        """Predictions were issued; their labels may come later, by the same ids. Those labelled already are left."""
        names = _ids(ids)
        if not names:
            return
        claims = Predictions.from_correct(
            np.ones(len(names), dtype=bool), *_columns(len(names), confidence), doubt=_column(len(names), doubt)
        )
        new: dict[Id, tuple[float, float]] = {}
        for i, (name, claim) in enumerate(zip(names, _claims(claims), strict=True)):
            before = self._expected.get(name, new.get(name))
            if before is not None and before != claim:
                raise InvalidPredictions(
                    f"ids[{i}] is {name!r}, which is expected with confidence {before[0]!r} already; "
                    f"now it comes with {claim[0]!r}. Each prediction needs an id of its own."
                )
            if name not in self._seen:
                new[name] = claim
        self._expected.update(new)

    def update(self, correct: Any, confidence: Any = None, *, doubt: Any = None, ids: Any = None) -> None:
        """Labels arrived: with their confidences, or with ids expected before. On an error none of them counts."""
        correct = np.atleast_1d(np.asarray(correct))
        given = confidence is not None or doubt is not None
        if ids is None and not given:
            raise InvalidPredictions("update got labels without confidence and without ids; give one of them.")
        names = None if ids is None else _ids(ids)
        if names is not None and len(names) != len(correct):
            raise InvalidPredictions(f"lengths differ: correct has {len(correct)} rows, ids {len(names)}.")
        if not len(correct):
            return
        fresh = np.ones(len(correct), dtype=bool) if names is None else self._seen.lacks(names)
        if not given:
            assert names is not None
            claims = [self._expected.get(name) for name in names]
            unknown = next((i for i, claim in enumerate(claims) if claim is None and fresh[i]), None)
            if unknown is not None:
                raise InvalidPredictions(
                    f"ids[{unknown}] is {names[unknown]!r}, for which no prediction is expected; call expect first, or "
                    "give its confidence."
                )
            held = np.array([claim or (1.0, 0.0) for claim in claims]).reshape(-1, 2)
            rows = Predictions.from_correct(correct, held[:, 0], doubt=held[:, 1])
        else:
            rows = Predictions.from_correct(
                correct, *_columns(len(correct), confidence), doubt=_column(len(correct), doubt)
            )
            if names is not None and self._expected:
                self._check_claims(names, rows, fresh)
        self._count(rows[fresh] if not fresh.all() else rows)
        self.repeated += int((~fresh).sum())
        if names is not None:
            self._seen.add_all(names)
        if self._expected:
            for name in names or ():
                self._expected.pop(name, None)

    def _check_claims(self, names: list[Id], rows: Predictions, fresh: Any) -> None:
        """A prediction that was expected keeps the confidence it was issued with."""
        for i, (name, claim) in enumerate(zip(names, _claims(rows), strict=True)):
            before = self._expected.get(name)
            if fresh[i] and before is not None and before != claim:
                raise InvalidPredictions(
                    f"ids[{i}] is {name!r}, which was issued with confidence {before[0]!r}; its label comes with "
                    f"{claim[0]!r}. Leave out the confidence, or give the one that was issued."
                )

    def _count(self, rows: Predictions) -> None:
        """Follow all sides through the rows, piece by piece; from where the detector goes off, it starts anew."""
        for start in range(0, len(rows), _PIECE):
            self._count_piece(rows[start : start + _PIECE])

    def _count_piece(self, rows: Predictions) -> None:
        every = slice(None)
        doubt, confidence, wrong = rows.doubt_of(every), rows.confidence_of(every), ~rows.correct
        columns: dict[str, tuple[Any, Any, Any]] = {
            "overconfident": (doubt, confidence, wrong),
            "underconfident": (confidence, doubt, ~wrong),
        }
        jobs = [partial(side.follow, *columns[name]) for name, side in self._sides.items()]
        paths = in_parallel(jobs) if len(rows) > _ALONE else [job() for job in jobs]
        if self.alarm_row is None:
            log_e = np.logaddexp.reduce([path[0] for path in paths], axis=0) - math.log(len(paths))
            reached = np.flatnonzero(log_e >= -math.log(self.level))
            self.alarm_row = self.rows + int(reached[0]) + 1 if len(reached) else None
        evidence, start = np.mean([path[1] for path in paths], axis=0), 0
        # from where it goes off it starts anew, a few rows and then more at a time, for it may soon go off again
        window = _SOON
        while True:
            reached = np.flatnonzero(evidence >= self.mean_time_between_false_alarms)
            start += int(reached[0]) + 1 if len(reached) else len(evidence)
            if len(reached):
                self.drift_rows.append(self.rows + start)
                self.drift_evidence[self.rows + start] = float(evidence[reached[0]])
                self._unseen_drift = True
                window = _SOON
                for side in self._sides.values():
                    side.restart()
            if start >= len(rows):
                break
            some = slice(start, start + window)
            parts = [side.detect(*(column[some] for column in columns[name])) for name, side in self._sides.items()]
            evidence, window = np.mean(parts, axis=0), 2 * window
        self.rows += len(rows)
        self.stated += float(doubt.sum())
        self.errors += int(wrong.sum())

    # -- files -------------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole state: a crash at any instant leaves the old file or the new one."""
        from surefoot.risk.monitor_files import save

        save(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> Monitor:
        """A monitor as it was saved, ready to go on; a damaged, foreign or newer file is an error."""
        from surefoot.risk.monitor_files import load

        return load(path)


#: Rows up to which a second thread costs more than it saves, and rows followed in one go.
_ALONE = 2048
_PIECE = 1 << 14
_SOON = 128


def _ids(ids: Any) -> list[Id]:
    """Ids as plain integers and strings."""
    alone = isinstance(ids, str | int | np.generic) or ids is None
    values = [ids] if alone else ids.ravel().tolist() if isinstance(ids, np.ndarray) else list(ids)
    plain: list[Id] = []
    for i, value in enumerate(values):
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise InvalidPredictions(f"ids[{i}] is {value!r}; ids are whole numbers or strings.")
        plain.append(value)
    return plain


def _columns(rows: int, confidence: Any) -> tuple[Any, ...]:
    return () if confidence is None else (_column(rows, confidence),)


def _column(rows: int, values: Any) -> Any:
    """A number alone is a column of one."""
    return [values] if values is not None and rows == 1 and np.ndim(values) == 0 else values


def _claims(rows: Predictions) -> Iterator[tuple[float, float]]:
    every = slice(None)
    return zip(rows.confidence_of(every).tolist(), rows.doubt_of(every).tolist(), strict=True)
