"""The calibration error that leaderboards of language models report, beside what their code leaves out."""

from __future__ import annotations

from surefoot.metrics.leaderboard import rms_ce_metric
from surefoot.predictions import ArrayPredictions

#: Answers in a bin of theirs.
_BIN = 100
#: Rows beyond which nobody reports it: a bin of 100 holds next to nothing.
_MOST = 100_000


def leaderboard_note(rows: ArrayPredictions) -> tuple[str, ...]:
    """The error with and without the last bin, and the difference in words; nothing of less than one bin."""
    if not _BIN <= len(rows) <= _MOST or rows.is_weighted or rows.view != "prediction":
        return ()
    whole = 100 * float(rms_ce_metric(_BIN)(rows))
    told = f"Leaderboards of language models report the RMS calibration error (rms_ce): {whole:.1f}%. "
    if len(rows) < 2 * _BIN:
        # the published code has no other bin, and says 0 whatever the rows are
        left_out = (
            f"The code that many of them share leaves out its last bin, here all {len(rows):,} answers, and would "
        )
        return (f"{told}{left_out}report 0.0%, whatever they are.",)
    published = 100 * float(rms_ce_metric(_BIN, True)(rows))
    surest = _BIN + len(rows) % _BIN
    lost = whole - published
    tells = f"{lost:.1f} points of error" if round(lost, 1) > 0 else "hardly any of the error here"
    return (
        f"{told}The code that many of them share leaves out its last bin, the {surest:,} surest answers, and would "
        f"report {published:.1f}%. That bin holds {tells}.",
    )
