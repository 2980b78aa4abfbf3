"""A metric for Inspect AI: are the confidences of a language model's answers to be trusted?

A scorer writes the confidence of an answer into ``Score.metadata``, and every sample of every epoch counts, not their
mean. Inspect finds the metric, ``surefoot/calibration``, by an entry point where it scores a log again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from surefoot.errors import InvalidPredictions, MissingPackage
from surefoot.metrics import ALL
from surefoot.predictions import Predictions
from surefoot.predictions.attempts import RIGHT, SKIPPED, WRONG, word
from surefoot.risk.test import risk_test

try:
    from inspect_ai.scorer import Metric, SampleScore, metric
except ImportError as error:
    raise MissingPackage("the metric for Inspect needs inspect_ai: pip install 'surefoot[inspect]'.") from error

__all__ = ["calibration"]

#: Credit in words, as Inspect counts it.
_CREDIT = {**dict.fromkeys(RIGHT, 1.0), "p": 0.5, "partial": 0.5, **dict.fromkeys(WRONG, 0.0)}


@dataclass(frozen=True)
class _Answers:
    """The answers with a confidence, and how many there are besides."""

    correct: list[bool]
    confidence: list[float]
    samples: list[Any]
    missing: int
    invalid: int
    not_attempted: int

    def counts(self) -> dict[str, float]:
        return {
            "answers": len(self.correct),
            "missing": self.missing,
            "invalid": self.invalid,
            "not_attempted": self.not_attempted,
        }


@metric(name="calibration", scores="unreduced")
def calibration(confidence: str = "confidence", threshold: float = 1.0) -> Metric:
    """Report the calibration of answers: CSR, its p-values, cwA, ECE and overstatement.

    Answers without a confidence are counted (``missing``), as are those whose confidence is no number from 0 to 1 or
    percentage (``invalid``). They are in no other number. Answers that were not attempted (the value N) are neither
    right nor wrong, and are counted apart. If a sample has several epochs, its answers are taken to depend on each
    other, and the p-values are for that.

    Parameters
    ----------
    confidence : str, default="confidence"
        The key of ``Score.metadata`` under which a scorer writes the confidence: 0.9, "0.9" or "90%".
    threshold : float, default=1.0
        The value from which an answer counts as correct. C, yes and true are 1, partial credit (P) is 0.5, and I, no
        and false are 0; so partial credit counts as wrong unless you give 0.5.

    Returns
    -------
    inspect_ai.scorer.Metric
        The metric, whose values are ``csr``, ``pvalue`` (of CSR; exact if samples have one epoch), ``pvalue_omnibus``
        (on which :func:`surefoot.assess` bases its verdict), ``cw_accuracy``, ``ece``, ``overstatement``, ``answers``,
        ``missing``, ``invalid`` and ``not_attempted``. Numbers are nan if no answer has a confidence.

    Raises
    ------
    InvalidPredictions
        When it is computed, if the value of a score is not one of those above, or no number from 0 to 1.

    Examples
    --------
    >>> from inspect_ai.scorer import SampleScore, Score
    >>> scores = [
    ...     SampleScore(score=Score(value=value, metadata={"confidence": confidence}), sample_id=i)
    ...     for i, (value, confidence) in enumerate([("C", 0.9), ("I", "75%"), ("C", 0.5), ("C", None)])
    ... ]
    >>> found = calibration()(scores)
    >>> round(found["csr"], 4), found["answers"], found["missing"]
    (1.3333, 3, 1)
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        answers = _read(scores, confidence, threshold)
        return {**_numbers(answers), **answers.counts()}

    # Inspect tells by the annotations which scores a metric takes, and names are all they are here
    compute.__annotations__ = {"scores": list[SampleScore], "return": dict[str, float]}
    return compute


def _numbers(answers: _Answers) -> dict[str, float]:
    names = ("csr", "pvalue", "pvalue_omnibus", "cw_accuracy", "ece", "overstatement")
    if not answers.correct:
        return dict.fromkeys(names, math.nan)
    p = Predictions.from_correct(answers.correct, answers.confidence)
    is_repeated = len(set(answers.samples)) < len(answers.samples)
    risk = risk_test(p, groups=answers.samples if is_repeated else None)
    metrics = {name: float(ALL[name](p)) for name in ("cw_accuracy", "ece")}
    return {name: metrics[name] if name in metrics else float(getattr(risk, name)) for name in names}


def _read(scores: Iterable[Any], key: str, threshold: float) -> _Answers:
    correct, confidences, samples = [], [], []
    missing = invalid = not_attempted = 0
    for place, one in enumerate(scores):
        # samples without an id are independent
        sample = f"({place})" if one.sample_id is None else str(one.sample_id)
        value = _credit(one.score.value, sample)
        if value is None:
            not_attempted += 1
            continue
        found = (one.score.metadata or {}).get(key)
        stated = _confidence(found)
        if found is None or found == "":
            missing += 1
        elif stated is None:
            invalid += 1
        else:
            correct.append(value >= threshold)
            confidences.append(stated)
            samples.append(sample)
    return _Answers(correct, confidences, samples, missing, invalid, not_attempted)


def _credit(value: Any, sample: str) -> float | None:
    """From 0 for wrong to 1 for right; None if the question was not attempted."""
    number = _number(value)
    if isinstance(value, str) and number is None:
        known = word(value)
        if known in SKIPPED:
            return None
        number = _CREDIT.get(known)
    if number is None or not 0 <= number <= 1:
        raise InvalidPredictions(
            f"the score of sample {sample} is {value!r}",
            hint="it should be C, I, P or N, yes or no, or a number from 0 to 1; map other values in the scorer",
        )
    return number


def _confidence(value: Any) -> float | None:
    """A confidence from 0 to 1, also one that is written as text; None if it is none."""
    is_percentage = isinstance(value, str) and value.strip().endswith("%")
    number = _number(value.strip().removesuffix("%") if is_percentage else value)
    if number is None or isinstance(value, bool):
        return None
    number = number / 100 if is_percentage else number
    return number if 0 <= number <= 1 else None


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
