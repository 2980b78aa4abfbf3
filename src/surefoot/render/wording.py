"""The sentences on an assessment, in every medium alike: those of its view, chosen here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from surefoot.assessment.result import Assessment
from surefoot.core.view import View
from surefoot.render import class_wording, event_wording, prediction_wording
from surefoot.render.shared_wording import attempt_notes, footer, rows_besides

__all__ = [
    "advice",
    "deciding_pvalue",
    "footer",
    "headline",
    "in_words",
    "notes",
    "one_line",
    "sentences",
    "slice_title",
    "source",
]


class _Words(NamedTuple):
    """The sentences of a view."""

    headline: Callable[[Assessment], str]
    source: Callable[[Assessment], str]
    advice: Callable[[Assessment], str]
    sentences: Callable[[Assessment], list[str]]
    notes: Callable[[Assessment], list[str]]
    slice_title: Callable[[Assessment], str]
    one_line: Callable[[Assessment], str]
    #: The p-value that the verdict rests on.
    pvalue: Callable[[Assessment], float]


def _words_of(module: Any, pvalue: Callable[[Assessment], float]) -> _Words:
    named = {name: getattr(module, name) for name in _Words._fields if name != "pvalue"}
    return _Words(**named, pvalue=pvalue)


_VIEWS: dict[View, _Words] = {
    "prediction": _words_of(prediction_wording, lambda a: prediction_wording.deciding_side(a).pvalue_omnibus),
    "event": _words_of(event_wording, lambda a: event_wording.deciding_side(a).pvalue_omnibus),
    "classes": _words_of(class_wording, class_wording.deciding_pvalue),
}


def in_words(a: Assessment) -> dict[str, Any]:
    """The sentences on an assessment, as they stand in JSON."""
    return {"headline": headline(a), "advice": advice(a), "findings": sentences(a), "notes": notes(a)}


def one_line(a: Assessment) -> str:
    """The shortest answer, as a Python prompt shows it."""
    besides = f", {a.not_attempted:,} more not attempted" if a.not_attempted else ""
    return f"{_VIEWS[a.view].one_line(a)}{besides}"


def headline(a: Assessment) -> str:
    """The verdict with its degree."""
    return _VIEWS[a.view].headline(a)


def source(a: Assessment) -> str:
    """How many rows, of what; and how many were not attempted."""
    return f"{_VIEWS[a.view].source(a)}{rows_besides(a)}"


def advice(a: Assessment) -> str:
    """One sentence on what to do."""
    return _VIEWS[a.view].advice(a)


def sentences(a: Assessment) -> list[str]:
    """What was found, the sizes first."""
    return _VIEWS[a.view].sentences(a)


def notes(a: Assessment) -> list[str]:
    """What else a reader has to know, only where it applies."""
    return [*a.notes, *attempt_notes(a), *_VIEWS[a.view].notes(a)]


def slice_title(a: Assessment) -> str:
    """How many slices are off, in one line."""
    return _VIEWS[a.view].slice_title(a)


def deciding_pvalue(a: Assessment) -> float:
    """The p-value that the verdict rests on."""
    return _VIEWS[a.view].pvalue(a)
