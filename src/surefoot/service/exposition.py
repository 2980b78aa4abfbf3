"""The numbers of all streams as Prometheus reads them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from surefoot.risk.stream.monitor import Monitor
from surefoot.service.store import Stream

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_Value = Callable[[Stream, Monitor], float]
#: Name, kind, what it is, and how it is read from a stream and its monitor.
_FAMILIES: tuple[tuple[str, str, str, _Value], ...] = (
    ("predictions_total", "counter", "Predictions received.", lambda s, m: s.counts.places + s.counts.tally_only),
    ("labels_total", "counter", "Labels counted.", lambda s, m: s.counts.labelled),
    ("repeated_total", "counter", "Rows that came again, and were not counted.", lambda s, m: s.counts.repeated),
    ("labels_without_prediction", "gauge", "Labels whose prediction has not come.", lambda s, m: s.counts.early),
    ("pending", "gauge", "Predictions that await their label.", lambda s, m: m.pending),
    ("unlabelled_total", "counter", "Predictions whose label did not come in time.", lambda s, m: m.unlabelled),
    ("expected_errors", "gauge", "Errors that the confidences of labelled rows imply.", lambda s, m: m.stated),
    ("observed_errors", "gauge", "Errors among labelled rows.", lambda s, m: m.errors),
    ("log_e_value", "gauge", "Natural logarithm of the e-value of all rows.", lambda s, m: m.log_e),
    ("alarm", "gauge", "1 if the e-value has ever reached its limit.", lambda s, m: m.alarm),
    ("change_evidence", "gauge", "Evidence of a change since drift was last detected.", lambda s, m: m.evidence),
    ("drift_total", "counter", "How often drift was detected.", lambda s, m: len(m.drift_rows)),
)  # fmt: skip


def exposition(streams: Sequence[tuple[Stream, Monitor]]) -> str:
    """The text of ``/metrics``."""
    lines = []
    for name, kind, words, value in _FAMILIES:
        full = f"surefoot_{name}"
        lines += [f"# HELP {full} {words}", f"# TYPE {full} {kind}"]
        # names of models and versions have no character that would need an escape
        lines += [
            f'{full}{{model="{stream.model}",version="{stream.version}"}} {_number(value(stream, monitor))}'
            for stream, monitor in streams
        ]
    return "\n".join(lines) + "\n"


def _number(value: Any) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if isinstance(value, bool | int) else repr(float(value))
