"""What a saved monitor has to look like."""

from __future__ import annotations

import math

from surefoot._io import limits
from surefoot._io.shapes import (
    INFINITE,
    Flag,
    ListOf,
    MapOf,
    Maybe,
    Number,
    OneOf,
    Record,
    Row,
    Shape,
    Whole,
    refuse,
)
from surefoot.risk.evalues import DETECTOR, MIXTURE

#: How whole numbers are held that count rows.
_MOST = 1 << 53


class _Id:
    """An id: a whole number or text."""

    def check(self, value: object, where: str) -> None:
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole and not (isinstance(value, str) and len(value) <= limits.LABEL):
            raise refuse(value, where, f"an id: a whole number or at most {limits.LABEL:,} characters")


class _Bound:
    """Where a stretch of ids begins or ends: a whole number of any size, as ids are."""

    def check(self, value: object, where: str) -> None:
        if type(value) is not int:
            raise refuse(value, where, "a whole number")


def _bets(count: int, least: float = -math.inf) -> ListOf:
    return ListOf(Number(least, words=INFINITE), least=count, most=count)


#: What a monitor can watch for.
SIDES = ("overconfident", "underconfident")
_COUNT, _ROWS, _SHARE, _ERRORS = Whole(0, _MOST), Number(0, _MOST), Number(0, 1), Number(0)
_SIDE = Record({"wealth": _bets(len(MIXTURE)), "stakes": _bets(len(DETECTOR)), "is_refuted": Flag()})
_RUNS = Record(
    {
        "gain": _bets(len(DETECTOR)),
        **dict.fromkeys(("start", "expected", "observed"), ListOf(_ROWS, len(DETECTOR), len(DETECTOR))),
        "all_expected": Number(),
        "all_observed": Number(),
    }
)
_EPISODE = Record(
    {
        **dict.fromkeys(("onset", "first_alarm", "last_alarm"), _COUNT),
        "alarms": Whole(1, _MOST),
        "side": OneOf(SIDES),
        "expected_errors": _ERRORS,
        "observed_errors": _ERRORS,
    }
)
_HISTORY = Record(
    {
        "stride": Whole(1, _MOST),
        "rows": ListOf(_COUNT),
        "log_e": ListOf(Number(words=INFINITE)),
        "evidence": ListOf(Number(words=INFINITE)),
    }
)
_ISSUED = Record(
    {
        "start": _COUNT,
        "rows": ListOf(Row((_SHARE, _SHARE, Number(0, 3), Number(0, _MOST)))),
        "awaited": ListOf(Row((_Id(), _COUNT))),
    }
)
_REQUIRED: dict[str, Shape] = {
    "level": Number(0, 1),
    "mean_time_between_false_alarms": Number(1),
    "alternative": OneOf(("both", *SIDES)),
    **dict.fromkeys(("rows", "errors", "repeated"), _COUNT),
    "stated": Number(0),
    "alarm_row": Maybe(_COUNT),
    "drift_rows": ListOf(_COUNT),
    "drift": Flag(),
    "sides": MapOf(_SIDE),
    "seen": Record({"stretches": ListOf(Row((_Bound(), _Bound()))), "names": ListOf(_Id())}),
}
#: What earlier versions did not hold, or held otherwise.
_OPTIONAL: dict[str, Shape] = {
    "label_window": Whole(1),
    "alarm_side": Maybe(OneOf(SIDES)),
    "unlabelled": _COUNT,
    "restarted": _COUNT,
    "episodes": ListOf(_EPISODE),
    "runs": MapOf(_RUNS),
    "history": _HISTORY,
    "issued": _ISSUED,
    "expected": ListOf(Row((_Id(), _SHARE, _SHARE))),
}
SHAPE = Record(_REQUIRED, _OPTIONAL)
