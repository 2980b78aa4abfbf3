"""Rules for ``--fail-on``: ``risky``, ``inconclusive``, ``worse``, or a comparison of one number with another."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from surefoot.cli.parsing import closest

if TYPE_CHECKING:
    from surefoot.assessment.baseline import BaselineComparison
    from surefoot.assessment.result import Assessment

#: The words for verdicts.
_WORDS = ("risky", "inconclusive")
#: The word for being worse than a baseline.
WORSE = "worse"
_OPERATORS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
_SHARE, _COUNT, _ANY = (0.0, 1.0), (0.0, math.inf), (-math.inf, math.inf)
#: The numbers of the risk test, with the range of each.
_RISK = {
    "pvalue": _SHARE,
    "pvalue_mid": _SHARE,
    "pvalue_capped": _SHARE,
    "pvalue_combined": _SHARE,
    "pvalue_omnibus": _SHARE,
    "oe_ratio": _COUNT,
    "overstatement": (-1.0, 1.0),
    "expected_errors": _COUNT,
    "observed_errors": _COUNT,
    "e_value": _COUNT,
    "log_e": _ANY,
    "deflation": _SHARE,
    "csr_lower": _COUNT,
    "certain": _COUNT,
    "certain_wrong": _COUNT,
    "rounded": _COUNT,
    "n": _COUNT,
    "errors": _COUNT,
    "skewness": _ANY,
    "sigma": _COUNT,
    "z": _ANY,
}


@dataclass(frozen=True)
class Rule:
    """A condition under which the command fails."""

    text: str
    name: str
    sign: str = ""
    number: float = math.nan

    @property
    def is_metric(self) -> bool:
        return self.name not in (*_WORDS, WORSE, *_RISK)

    def held(self, a: Assessment, compared: BaselineComparison | None = None) -> str:
        """Why it holds, or an empty string. A rule on a metric that is not available holds."""
        if self.name == WORSE:
            assert compared is not None
            from surefoot.cli.gate import reasons

            return f"worse than the baseline ({'; '.join(reasons(compared))})" if compared.is_worse else ""
        if self.name in _WORDS:
            from surefoot.assessment.verdict import RISKY
            from surefoot.render.wording import headline

            verdicts: tuple[str, ...] = RISKY if self.name == "risky" else (self.name,)
            told = headline(a).lower()
            why = "" if told == self.name else f" ({told})"
            return f"{self.name}{why}" if a.verdict in verdicts else ""
        value = float(getattr(a.risk, self.name)) if self.name in _RISK else a.metrics.get(self.name, math.nan)
        if math.isnan(value):
            why = a.reasons.get(self.name, "not defined on these rows")
            return f"{self.text} ({self.name} is not available: {why.rstrip('.')})"
        return f"{self.text} ({self.name} is {value:.4g})" if _OPERATORS[self.sign](value, self.number) else ""


def parsed(text: str) -> Rule:
    """A rule as the user wrote it.

    Examples
    --------
    >>> parsed("csr > 2")
    Rule(text='csr > 2', name='csr', sign='>', number=2.0)
    """
    if text.strip() in (*_WORDS, WORSE):
        return Rule(text, text.strip())
    match = re.fullmatch(r"\s*(\w+)\s*(<=|>=|<|>)\s*([-+0-9.eE]+|inf)\s*", text)
    try:
        number = float(match[3]) if match else math.nan
    except ValueError:
        number = math.nan
    if match is None or math.isnan(number):
        raise typer.BadParameter(
            f"--fail-on is {text!r}; it should be risky, inconclusive, worse (with --baseline), or compare a number, "
            "such as 'overstatement>0.02' or 'ece>0.05'"
        )
    from surefoot.metrics import ALL

    if match[1] not in ALL and match[1] not in _RISK:
        found = closest(match[1], [*ALL, *_RISK])
        hint = f"did you mean {found}?" if found else "try overstatement, oe_ratio, pvalue_omnibus, csr or ece"
        raise typer.BadParameter(f"--fail-on is {text!r}, and there is no metric {match[1]!r}; {hint}")
    low, high = _RISK[match[1]] if match[1] in _RISK else ALL[match[1]].range
    # a rule that always holds, with a number that is no percentage, tries a gate out
    is_trial = match[2].startswith("<") and high < number <= 2 * high
    if not low <= number <= high and not is_trial:
        reach = f"is between {low:g} and {high:g}" if high < math.inf else f"is never below {low:g}"
        unit = " points" if match[1] == "overstatement" else "%"
        is_percentage = high == 1 and low <= number / 100 <= high
        hint = f"; {number:g}{unit} is {number / 100:g}" if is_percentage else ""
        raise typer.BadParameter(f"--fail-on is {text!r}, but {match[1]} {reach}{hint}")
    return Rule(text, match[1], match[2], number)
