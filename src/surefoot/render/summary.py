"""The answer in a few lines."""

from __future__ import annotations

import textwrap

from surefoot._io.printable import printable
from surefoot.assessment.result import Assessment
from surefoot.render import wording
from surefoot.render.main_numbers import score_numbers, value_numbers
from surefoot.render.numbers import percent, pluralize, pvalue

_WIDTH = 88


def summary(a: Assessment) -> str:
    """Write the verdict, the warnings, what was expected and observed, and the main numbers."""
    where = f" ({printable(a.source)})" if a.source else ""
    paragraphs = [f"{wording.headline(a)}{where}: {pluralize(a.risk.n, 'row')}."]
    paragraphs += [f"Warning: {warning}" for warning in a.warnings]
    paragraphs += wording.sentences(a)[:2]
    accuracy, *ranking = value_numbers(a.metrics)
    numbers = [f"{one.name} {one.value}" for one in (accuracy, *score_numbers(a.metrics), *ranking)]
    numbers.insert(1, f"confidence-weighted {percent(a.metrics['cw_accuracy'])}")
    paragraphs.append(f"{', '.join(numbers)}; p {pvalue(wording.deciding_side(a).pvalue_omnibus)}.")
    return "\n".join(line for text in paragraphs for line in textwrap.wrap(text, _WIDTH))
