"""The calibration error that leaderboards of language models report, beside what their code leaves out."""

from __future__ import annotations

from surefoot.metrics.leaderboard import rms_ce_metric
from surefoot.predictions import ArrayPredictions

#: Answers in a bin of theirs.
_BIN = 100
#: Rows beyond which nobody reports it: a bin of 100 holds next to nothing.
_MOST = 100_000


def leaderboard_note(rows: ArrayPredictions) -> tuple[str, ...]:
    """The error with and without the last bin, and the difference in words; nothing of less than two bins."""
    if not 2 * _BIN <= len(rows) <= _MOST or rows.is_weighted or rows.view != "prediction":
        return ()
    whole, published = (100 * float(rms_ce_metric(_BIN, drop_last)(rows)) for drop_last in (False, True))
    surest = _BIN + len(rows) % _BIN
    lost = whole - published
    tells = f"{lost:.1f} points of error" if round(lost, 1) > 0 else "hardly any of the error here"
    return (
        f"Leaderboards of language models report the RMS calibration error (rms_ce): {whole:.1f}%. The code that many "
        f"of them share leaves out its last bin, the {surest:,} surest answers, and would report {published:.1f}%. "
        f"That bin holds {tells}.",
    )
