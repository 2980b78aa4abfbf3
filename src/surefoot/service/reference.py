"""What labelled rows of another time say: how reliable confidences were, and what to expect of rows without labels.

A reference is a tally. It holds rows and errors by doubt, in cells at most 1.6% wide, and no classes; so expectations
are those of correctness against confidence.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.assessment.assess import assess
from surefoot.assessment.result import Assessment
from surefoot.core.tally import Tally
from surefoot.decisions.expect import expect
from surefoot.decisions.expected import LIMIT, Expected
from surefoot.figures.reliability import reliability_figure
from surefoot.predictions import Predictions
from surefoot.predictions.unlabelled import unlabelled
from surefoot.render.expectation import shift_words
from surefoot.render.svg import draw
from surefoot.risk.law.counts import Counts
from surefoot.service.database import Database
from surefoot.service.refused import Refused
from surefoot.service.store import Stream

#: Rows that stand for a reference, and rows without labels that are looked at, at most.
MOST_ROWS = 20_000
#: What a tally cannot tell.
UNKNOWN = (
    "A tally holds no classes, so precision, recall, F1 and AUC are not available; nor is it known which class was "
    "predicted more often than in the reference."
)


@dataclass(frozen=True)
class Reference:
    """A tally of labelled rows, and when it was given."""

    added: int
    tally: Tally

    @cached_property
    def assessment(self) -> Assessment:
        """Its assessment."""
        return assess(self.tally)

    @cached_property
    def rows(self) -> Predictions:
        """Rows with these counts; of many, as large a part of every cell."""
        counts = self.assessment.counts
        assert counts is not None
        return rows_with(counts)


def read_reference(text: bytes) -> Tally:
    """The tally in a request, if it can be a reference: all that is ever made of one is made of it here."""
    try:
        known = Reference(0, Tally.from_text(text, "the body"))
        with np.errstate(all="ignore"):
            found = known.assessment
        if found.view != "prediction":
            raise Refused(400, f"the tally is of {found.view}; a reference is of predictions (--of prediction)")
        if found.counts is None or found.risk.is_weighted:
            raise Refused(400, "the tally has weights, and a reference counts each row once; leave out the weights")
        if any((column % 1).any() for column in (found.counts.right, found.counts.wrong)):
            raise Refused(400, "the body is no tally that can be a reference: its counts are not whole numbers")
        _ = known.rows, facts(known), draw(reliability_figure({"all": found.reliability}), "")
    except ValueError as error:
        raise Refused(400, f"the body is no tally that can be a reference: {' '.join(str(error).split())}") from error
    except (ArithmeticError, LookupError, TypeError) as error:
        # numbers that no rows have: every formula that is given them may fail in its own way
        raise Refused(
            400, "the body is no tally that can be a reference: no rows have these numbers; save the tally again"
        ) from error
    return known.tally


def rows_with(counts: Counts) -> Predictions:
    """Rows with these counts by doubt, at most so many."""
    share = min(1.0, MOST_ROWS / counts.n)
    # rounded so that sums over neighbouring cells stay what they are
    right, wrong = (
        np.diff(np.floor(np.cumsum(column) * share + 0.5), prepend=0.0).astype(np.int64)
        for column in (counts.right, counts.wrong)
    )
    cells = np.concatenate([np.repeat(np.arange(len(right)), right), np.repeat(np.arange(len(wrong)), wrong)])
    correct = np.arange(len(cells)) < right.sum()
    return Predictions.from_correct(correct, counts.confidence[cells], doubt=counts.doubt[cells])


def keep(database: Database, stream: Stream, tally: Tally) -> int:
    """Put a reference in the place of the one before; return how many rows it has."""
    rows = int(assess(tally).risk.n)
    with database.writing() as cursor:
        cursor.run(
            "INSERT INTO reference (stream, added, rows, document) VALUES (?, ?, ?, ?) ON CONFLICT (stream) DO UPDATE "
            "SET added = excluded.added, rows = excluded.rows, document = excluded.document",
            stream.key, int(time.time()), rows, tally.to_text(),
        )  # fmt: skip
    return rows


def find(database: Database, stream: Stream) -> Reference | None:
    """The reference of a stream, if it has one."""
    with database.reading() as cursor:
        found = cursor.one("SELECT added, document FROM reference WHERE stream = ?", stream.key)
    return None if found is None else Reference(int(found[0]), Tally.from_text(found[1]))


def expected_of(database: Database, stream: Stream, reference: Reference) -> Expected | str:
    """What to expect of the last predictions that have no label; or why nothing can be said."""
    with database.reading() as cursor:
        rows = cursor.all(
            "SELECT confidence, doubt FROM prediction WHERE stream = ? AND event IS NOT NULL AND complete IS NULL "
            "ORDER BY event DESC LIMIT ?",
            stream.key, MOST_ROWS,
        )  # fmt: skip
    if not rows:
        return "no prediction awaits its label"
    confidence, doubt = np.array(rows, dtype=np.float64).T
    try:
        return expect(unlabelled(confidence=confidence, doubt=doubt), reference=reference.rows)
    except ValueError as error:
        return " ".join(str(error).split())


def facts(reference: Reference) -> dict[str, Any]:
    """What the reference says, as plain data."""
    risk = reference.assessment.risk
    return {
        "rows": risk.n,
        "expected_errors": risk.expected_errors,
        "observed_errors": risk.observed_errors,
        "verdict": reference.assessment.verdict,
    }


def plain(found: Expected | str) -> dict[str, Any]:
    """What is expected, as plain data."""
    if isinstance(found, str):
        return {"rows": 0, "reason": found}
    intervals = {
        name: {
            key: value if math.isfinite(value) else None
            for key, value in (("value", one.value), ("low", one.low), ("high", one.high))
        }
        for name, one in found.items()
    }
    return {
        "rows": found.rows,
        "level": 1 - found.level,
        "metrics": intervals,
        "shift": found.shift.size,
        "shift_text": shift_words(found),
        "limits": [LIMIT, UNKNOWN],
    }
