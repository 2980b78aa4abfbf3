"""The answer in a few lines."""

from __future__ import annotations

import textwrap
from dataclasses import replace

from surefoot._io.printable import printable
from surefoot.assessment.result import Assessment
from surefoot.render import wording
from surefoot.render.main_numbers import score_numbers, sections, value_numbers
from surefoot.render.numbers import percent, pluralize, pvalue
from surefoot.render.shared_wording import rows_besides

_WIDTH = 88


def summary(a: Assessment) -> str:
    """Write the verdict, the warnings, what was expected and observed, and the main numbers."""
    where = f" ({printable(a.source)})" if a.source else ""
    rows = wording.source(replace(a, source=""))
    if a.view == "prediction":
        rows = f"{pluralize(a.risk.n, 'row')}{rows_besides(a)}"
    count = "counts" if a.not_attempted == 1 else "count"
    apart = f", which {count} as neither right nor wrong" if a.not_attempted else ""
    paragraphs = [f"{wording.headline(a)}{where}: {rows}{apart}."]
    paragraphs += [f"Warning: {warning}" for warning in a.warnings]
    paragraphs += wording.sentences(a)[:2]
    numbers = _of_predictions(a) if a.view == "prediction" else _of_events(a)
    paragraphs.append(f"{', '.join(numbers)}; p {pvalue(wording.deciding_pvalue(a))}.")
    return "\n".join(line for text in paragraphs for line in textwrap.wrap(text, _WIDTH))


def _of_predictions(a: Assessment) -> list[str]:
    accuracy, *ranking = value_numbers(a.metrics)
    numbers = [f"{one.name} {one.value}" for one in (accuracy, *score_numbers(a.metrics), *ranking)]
    numbers.insert(1, f"confidence-weighted {percent(a.metrics['cw_accuracy'])}")
    return numbers


def _of_events(a: Assessment) -> list[str]:
    """The numbers that every report of a risk model gives, as far as there are any."""
    wanted = ("in the large", "slope", "C-statistic (AUC)", "Brier", "scaled Brier", "ICI", "ECE")
    names = {"in the large": "calibration in the large", "slope": "calibration slope"}
    shown = {one.name: one.value for numbers in sections(a).values() for one in numbers}
    return [f"{names.get(name, name)} {shown[name]}" for name in wanted if name in shown]
