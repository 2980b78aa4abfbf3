"""A section of the report: what all of them know."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from surefoot._io.printable import printable
from surefoot.assessment.result import Assessment
from surefoot.assessment.slices import Slice
from surefoot.render.severity import severity

#: Slices that can be shown in the figures, and rows of a table: a report stays below 1.5 MB.
MOST_LAYERS, MOST_ROWS = 40, 200


class Section(ABC):
    """What the template is filled with. ``markup`` is what this package draws; all else is escaped by the template."""

    def __init__(self, a: Assessment, markup: Any) -> None:
        self.a, self.markup = a, markup
        worst = sorted(a.slices, key=severity)
        self.listed = worst[:MOST_ROWS]
        #: The slices that can be picked, by a key of our own.
        self.layers = {f"s{i}": part for i, part in enumerate(worst[:MOST_LAYERS])}
        self.is_descriptive = a.by == "truth"

    @abstractmethod
    def context(self) -> dict[str, Any]:
        """The variables of the template that this section sets."""

    def name_of(self, part: Slice) -> str:
        """The value of a slice, fit to be shown."""
        return printable(part.value, 60)
