"""The answer in a few lines."""

from __future__ import annotations

import textwrap

from surefoot._io.printable import printable
from surefoot.assessment.result import Assessment
from surefoot.render import wording
from surefoot.render.numbers import percent, pvalue

_WIDTH = 88


def summary(a: Assessment) -> str:
    """Write the verdict, the warnings, what was expected and observed, and the main numbers."""
    where = f" ({printable(a.source)})" if a.source else ""
    paragraphs = [f"{wording.headline(a)}{where}: {a.risk.n:,} rows."]
    paragraphs += [f"Warning: {warning}" for warning in a.warnings]
    paragraphs += wording.sentences(a)[:2]
    shares = [("accuracy", "accuracy"), ("cw_accuracy", "confidence-weighted"), ("ece", "ECE")]
    numbers = [f"{name} {percent(a.metrics[key])}" for key, name in shares if key in a.metrics]
    numbers += [
        f"{name} {a.metrics[key]:.4f}" for key, name in (("brier", "Brier"), ("auc", "AUC")) if key in a.metrics
    ]
    paragraphs.append(f"{', '.join(numbers)}; p {pvalue(wording.deciding_side(a).pvalue_omnibus)}.")
    return "\n".join(line for text in paragraphs for line in textwrap.wrap(text, _WIDTH))
