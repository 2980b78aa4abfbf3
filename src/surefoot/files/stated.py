"""Confidences as people and models write them: 85%, 0,85, 85/100, or somewhere in an answer, as "Confidence: 85%"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from surefoot.files.types import is_text_type, type_of_values

if TYPE_CHECKING:
    import pyarrow as pa

_NUMBER = r"\d{1,9}+(?:[.,]\d{1,30}+)?(?:[eE][+-]?\d{1,3}+)?|[.,]\d{1,30}+"
_UNIT = r"\\?%|per\s?cent\b|percent\b|/\s*100\b|/\s*10\b|/\s*1(?:\.0)?\b(?!\.\d)|out\s+of\s+100\b|out\s+of\s+10\b"
#: What follows a number that is a rating on another scale: "4/5", "3 out of 5". It is no share of 1, and no percentage.
_RATING = r"\s*+(?:/\s*+\d|\(?out\s++of\b|of\s++\d|in\s++\d)"
_ALONE = re.compile(rf"\s*(?P<number>{_NUMBER})\s*(?P<unit>{_UNIT})?\s*\.?\s*", re.I)
#: What models write between the word and the number: "**Confidence** (0-100): 85%", '"confidence": 0.85'. Nothing is
#: tried twice (+ after a quantifier), so that no text takes long.
_FILL = r"[\s\"'*_`]*+"
_LABELLED = re.compile(
    rf"(?:confidence|certainty)(?:[ _-]?(?:level|score|rating|estimate|value))?{_FILL}"
    rf"(?>(?:\([^()\n]{{0,40}}\)|\[[^\[\]\n]{{0,40}}\]){_FILL})?(?>:|=|\bis\b|\bof\b|\bat\b|-|\u2013|(?<=\w)>)?"
    r"[\s\"'*_`\[{(<~$]*+(?>(?:(?:very|fairly|quite)\s++)?(?:high|medium|moderate|low)[\s*_]*+[,(]\s*+)?"
    r"(?>\\boxed\{)?(?>(?:about|around|approximately|roughly)\s++)?"
    rf"(?P<number>{_NUMBER})\s*+(?P<unit>{_UNIT})?(?P<range>\s*+(?:-|\u2013|to|and)\s*+\d|{_RATING})?",
    re.I,
)
_SPOKEN = re.compile(
    rf"(?P<number>{_NUMBER})\s*+(?P<unit>\\?%|per\s?cent)\s*+(?:confident|certain|sure|confidence)\b(?!\s+(?:interval|level|limit))",
    re.I,
)
_DIVISORS = {"%": 100, "percent": 100, "per cent": 100, "100": 100, "10": 10, "1": 1, "1.0": 1}
#: Characters at the end of an answer in which a confidence is looked for: it is stated there, or nowhere.
_LOOKED_AT = 20_000


class Stated(NamedTuple):
    """A confidence that was read: with a unit it is a share of 1, else it is the number as it is written."""

    number: float
    has_unit: bool


def stated(text: str, pattern: re.Pattern[str] | None = None) -> Stated | None:
    """The confidence that a text states, or None if it states none, a range, or a rating such as 4/5.

    A text that is a number is that number. Of several statements the last counts. A ``pattern`` finds the number in its
    first group, or in all that it matches.

    Examples
    --------
    >>> stated("85%"), stated("0,85")
    (Stated(number=0.85, has_unit=True), Stated(number=0.85, has_unit=False))
    >>> stated("Paris. **Confidence:** 85/100")
    Stated(number=0.85, has_unit=True)
    >>> stated('{"answer": "Paris", "confidence": 85}')
    Stated(number=85.0, has_unit=False)
    >>> stated("I am 90% sure.")
    Stated(number=0.9, has_unit=True)
    >>> stated("high"), stated("Confidence: 80-90%")
    (None, None)
    >>> stated("Confidence: 4/5"), stated("<confidence>85</confidence>")
    (None, Stated(number=85.0, has_unit=False))
    """
    if pattern is not None:
        matches = list(pattern.finditer(text))
        if not matches:
            return None
        found = matches[-1]
        own = found.group(1) if pattern.groups else found.group()
        end = found.end(1) if pattern.groups else found.end()
        alone = None if own is None else _ALONE.fullmatch(own)
        # a number that goes on behind what the pattern took is another one
        if alone is None or re.match(r"[.,]?\d", text[end:]):
            return None
        # a unit that follows the group counts as well
        unit = re.match(rf"\s*({_UNIT})", text[end:], re.I)
        return _read(alone["number"], alone["unit"] or (unit and unit[1]))
    whole = number_alone(text)
    if whole is not None:
        return whole
    text = text[-_LOOKED_AT:]
    matches = sorted((one for search in (_LABELLED, _SPOKEN) for one in search.finditer(text)), key=re.Match.start)
    if not matches or matches[-1].groupdict().get("range"):
        return None
    return _read(matches[-1]["number"], matches[-1]["unit"])


def number_alone(text: str | None) -> Stated | None:
    """The number that a text is, with its unit; None if it is more than that."""
    found = None if text is None else _ALONE.fullmatch(text)
    return None if found is None else _read(found["number"], found["unit"])


def _read(number: str, unit: str | None) -> Stated:
    value = float(number.replace(",", "."))
    if not unit:
        return Stated(value, has_unit=False)
    plain = re.sub(r"^(/|\\|out\s+of)\s*", "", " ".join(unit.lower().split()))
    return Stated(value / _DIVISORS[plain], has_unit=True)


def with_numbers(head: pa.Table) -> pa.Table:
    """The first rows, with numbers that are written as percentages or with a decimal comma as numbers from 0 to 1.

    Decimals are floating numbers.
    """
    import pyarrow as pa

    for i, field in enumerate(head.schema):
        kind = type_of_values(field.type)
        if pa.types.is_decimal(kind):
            head = head.set_column(i, field.name, head.column(i).cast(kind).cast(pa.float64()))
            continue
        texts = [text for text in head.column(i).to_pylist() if text] if is_text_type(kind) else []
        if not texts or not any(mark in texts[0] for mark in "%,"):
            continue
        read = [number_alone(text) for text in head.column(i).to_pylist()]
        if all(one is not None for one, text in zip(read, head.column(i).to_pylist(), strict=True) if text):
            values = [None if one is None else one.number for one in read]
            head = head.set_column(i, field.name, pa.array(values, pa.float64()))
    return head
