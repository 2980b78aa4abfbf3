"""Rules for ``--fail-on``: ``risky``, ``inconclusive``, or a comparison of one number with another."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from surefoot.assessment.result import Assessment

#: The verdicts that each word stands for.
_WORDS = {"risky": ("overconfident", "mixed"), "inconclusive": ("inconclusive",)}
_OPERATORS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
_RISK = [
    "pvalue",
    "pvalue_mid",
    "pvalue_capped",
    "pvalue_combined",
    "pvalue_omnibus",
    "oe_ratio",
    "overstatement",
    "expected_errors",
    "observed_errors",
    "e_value",
    "log_e",
    "deflation",
    "csr_lower",
    "certain",
    "certain_wrong",
    "rounded",
    "n",
    "errors",
    "skewness",
    "sigma",
    "z",
]


@dataclass(frozen=True)
class Rule:
    """A condition under which the command fails."""

    text: str
    name: str
    sign: str = ""
    number: float = math.nan

    @property
    def is_metric(self) -> bool:
        return self.name not in (*_WORDS, *_RISK)

    def held(self, a: Assessment) -> str:
        """Why it held, or an empty string. What cannot be known counts as held."""
        if self.name in _WORDS:
            from surefoot.render.wording import headline

            verdicts = _WORDS[self.name]
            told = headline(a).lower()
            why = "" if told == self.name else f" ({told})"
            return f"{self.name}{why}" if a.verdict in verdicts else ""
        value = float(getattr(a.risk, self.name)) if self.name in _RISK else a.metrics.get(self.name, math.nan)
        if math.isnan(value):
            why = a.reasons.get(self.name, "not defined on these rows")
            return f"{self.text} ({self.name} cannot be known: {why.rstrip('.')})"
        return f"{self.text} ({self.name} is {value:.4g})" if _OPERATORS[self.sign](value, self.number) else ""


def parsed(text: str) -> Rule:
    """A rule as the user wrote it.

    Examples
    --------
    >>> parsed("csr > 2")
    Rule(text='csr > 2', name='csr', sign='>', number=2.0)
    """
    if text.strip() in _WORDS:
        return Rule(text, text.strip())
    match = re.fullmatch(r"\s*(\w+)\s*(<=|>=|<|>)\s*([-+0-9.eE]+|inf)\s*", text)
    try:
        number = float(match[3]) if match else math.nan
    except ValueError:
        number = math.nan
    if match is None or math.isnan(number):
        raise typer.BadParameter(
            f"--fail-on is {text!r}; it should be risky, inconclusive, or like 'overstatement>0.02' or 'csr>2'"
        )
    from surefoot.metrics import ALL

    if match[1] not in ALL and match[1] not in _RISK:
        raise typer.BadParameter(
            f"--fail-on names {match[1]!r}, which is no metric; try overstatement, oe_ratio, pvalue_omnibus, csr or ece"
        )
    return Rule(text, match[1], match[2], number)
