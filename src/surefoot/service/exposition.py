"""The numbers of all streams as Prometheus reads them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from surefoot.risk.stream.monitor import Monitor
from surefoot.service.following import Follower
from surefoot.service.parts import WatchedPart
from surefoot.service.store import Stream

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_Value = Callable[[Stream, Monitor], float]
#: Name, kind, what it is, and how it is read from a stream and its monitor.
_FAMILIES: tuple[tuple[str, str, str, _Value], ...] = (
    ("predictions_total", "counter", "Predictions received.", lambda s, m: s.counts.places + s.counts.tally_only),
    ("labels_total", "counter", "Labels counted, early and late ones too.", lambda s, m: s.counts.labelled),
    ("repeated_total", "counter", "Rows that came again, and were not counted.", lambda s, m: s.counts.repeated),
    ("labels_without_prediction", "gauge", "Labels whose prediction has not come.", lambda s, m: s.counts.early),
    ("labels_dropped_total", "counter", "Labels dropped, for no prediction came.", lambda s, m: s.counts.lost),
    ("pending", "gauge", "Predictions that await their label.", lambda s, m: m.pending),
    ("unlabelled_total", "counter", "Predictions whose label did not come in time.", lambda s, m: m.unlabelled),
    ("expected_errors", "gauge", "Expected errors of rows labelled after their prediction.", lambda s, m: m.stated),
    ("observed_errors", "gauge", "Observed errors of rows labelled after their prediction.", lambda s, m: m.errors),
    ("log_e_value", "gauge", "Natural logarithm of the e-value of all rows.", lambda s, m: m.log_e),
    ("alarm", "gauge", "1 if the e-value has ever reached its limit.", lambda s, m: m.alarm),
    ("change_evidence", "gauge", "Evidence of a change since drift was last detected.", lambda s, m: m.evidence),
    ("drift_total", "counter", "How often drift was detected.", lambda s, m: len(m.drift_rows)),
)  # fmt: skip
_OfPart = Callable[[WatchedPart], float]
_OF_SLICES: tuple[tuple[str, str, str, _OfPart], ...] = (
    ("slice_labels_total", "counter", "Rows of a slice labelled after their prediction.", lambda p: p.monitor.rows),
    ("slice_expected_errors", "gauge", "Expected errors of rows of a slice labelled after their prediction.",
     lambda p: p.monitor.stated),
    ("slice_observed_errors", "gauge", "Observed errors of rows of a slice labelled after their prediction.",
     lambda p: p.monitor.errors),
    ("slice_log_e_value", "gauge", "Largest log e-value that a slice has shown.", lambda p: p.log_peak),
    ("slice_flagged", "gauge", "1 if a slice is flagged, at a false discovery rate.", lambda p: p.is_flagged),
)  # fmt: skip

#: Lines of each family: its labels, and the number.
Numbers = dict[str, list[str]]


def numbers_of(stream: Stream, follower: Follower) -> Numbers:
    """The lines of one stream; call it within ``follower.looking()``."""
    # names of models and versions have no character that would need an escape
    labels = f'model="{stream.model}",version="{stream.version}"'
    found = {name: [f"{{{labels}}} {_number(value(stream, follower.monitor))}"] for name, _, _, value in _FAMILIES}
    parts = follower.parts.look()
    for name, _, _, of_part in _OF_SLICES:
        found[name] = [f'{{{labels},slice="{_escape(part.name)}"}} {_number(of_part(part))}' for part in parts]
    return found


def exposition(streams: Sequence[Numbers]) -> str:
    """The text of ``/metrics``."""
    lines: list[str] = []
    families: Iterable[tuple[Any, ...]] = (*_FAMILIES, *_OF_SLICES)
    for name, kind, words, _ in families:
        full = f"surefoot_{name}"
        lines += [f"# HELP {full} {words}", f"# TYPE {full} {kind}"]
        lines += [f"{full}{line}" for one in streams for line in one[name]]
    return "\n".join(lines) + "\n"


def _escape(name: str) -> str:
    """Names of slices are printable; a quote and a backslash have an escape."""
    return name.replace("\\", "\\\\").replace('"', '\\"')


def _number(value: Any) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if isinstance(value, bool | int) else repr(float(value))
