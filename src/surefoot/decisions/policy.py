"""Policies: thresholds in a small file, applied where decisions are made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal

import numpy as np

from surefoot._io import documents
from surefoot._io.shapes import Label as Slice
from surefoot._io.shapes import ListOf, Maybe, Number, Record, Shape, Text, Whole
from surefoot.core.tally import Label
from surefoot.errors import InvalidPolicy, InvalidPredictions
from surefoot.predictions.columns import as_array

SCHEMA = 1
Decision = Literal["accept", "review", "refuse"]
_DECISIONS = np.array(["refuse", "review", "accept"])


@dataclass(frozen=True)
class Thresholds:
    """The thresholds of one slice, or of all rows.

    Attributes
    ----------
    accept : float or None
        Confidence from which a prediction is accepted; None if none is.
    refuse : float or None
        Confidence below which a prediction is refused; None if none is.
    lowest : float
        The lowest confidence that was seen: what is below it is reviewed.
    """

    accept: float | None
    refuse: float | None = None
    lowest: float = 0.0


@dataclass(frozen=True)
class Policy:
    """What to do with a prediction of a given confidence: accept it, have it reviewed, or refuse it.

    :func:`act_alone` makes one. Save it as JSON, load it where decisions are made, and ask it.

    Attributes
    ----------
    thresholds : Thresholds
        The confidences from which predictions are accepted, and below which they are refused.
    error : float or None
        The error rate promised among accepted predictions; None if there is no promise.
    level : float
        The chance, over the rows it was made from, that a promise does not hold.
    rows : int
        How many rows it was made from.
    refuse_error : float or None
        The least error rate promised among refused predictions; None if nothing is refused.
    by : str or None
        What slices are by, where they have thresholds of their own.
    slices : mapping of label to Thresholds
        The thresholds of each slice; rows of other slices are reviewed.

    Examples
    --------
    >>> policy = Policy(Thresholds(accept=0.95, refuse=0.5), error=0.02, level=0.05, rows=10_000)
    >>> policy.decide(0.97)
    'accept'
    >>> policy.decide([0.97, 0.8, 0.3]).tolist()
    ['accept', 'review', 'refuse']
    """

    thresholds: Thresholds
    error: float | None
    level: float
    rows: int
    refuse_error: float | None = None
    by: str | None = None
    slices: Mapping[Label, Thresholds] = field(default_factory=dict)

    def decide(self, confidence: Any, by: Any = None) -> Any:
        """Return what to do with predictions of these confidences.

        Parameters
        ----------
        confidence : float or array-like of shape (n,)
            The confidences, from 0 to 1. If you work them out yourself from one probability p of two classes, do it in
            float64, as act_alone does: in float32, ``1 - p`` may fall on the other side of a threshold.
        by : label or array-like of shape (n,), optional
            The slice of each row, for a policy with slices; rows of unknown slices are reviewed.

        Returns
        -------
        str or array of str
            ``"accept"``, ``"review"`` or ``"refuse"``: one for a single confidence, else an array.

        Raises
        ------
        InvalidPredictions
            If a confidence is missing or not between 0 and 1, or slices are needed and not given.
        """
        if self.by is None and by is not None:
            raise InvalidPredictions("by= was given, and this policy has no slices", hint="leave it out")
        if self.by is not None and by is None:
            raise InvalidPredictions(
                f"this policy has thresholds for each {self.by}", hint="give decide(confidence, by=...)"
            )
        values = _confidences(confidence)
        accept, refuse, lowest = self._limits(by, values.shape)
        found = _DECISIONS[1 + (values >= accept).astype(np.int8) - ((values < refuse) & (values >= lowest))]
        return str(found) if values.ndim == 0 else found

    def _limits(self, by: Any, shape: tuple[int, ...]) -> tuple[Any, Any, Any]:
        """From where to accept, below what to refuse, and from where on: numbers, or one for each row."""
        if self.by is None:
            return _numbers(self.thresholds)
        keys = np.asarray(by if isinstance(by, str | bool | int | np.number) else as_array("by", by))
        if keys.shape != shape:
            raise InvalidPredictions(
                f"by has shape {keys.shape} and confidence {shape}", hint="give one slice for each row"
            )
        _check_kind(keys, self.slices, self.by)
        # the last ones are for rows of other slices
        numbers = np.array([*map(_numbers, self.slices.values()), (math.inf, -math.inf, -math.inf)])
        accept, refuse, lowest = numbers[_places(keys, list(self.slices))].T
        return accept.reshape(shape), refuse.reshape(shape), lowest.reshape(shape)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to a JSON file; a crash leaves the old file or the new one.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        """
        documents.write(path, "policy", SCHEMA, self.to_dict())

    @staticmethod
    def load(path: str | PathLike[str]) -> Policy:
        """Read a policy that :meth:`save` wrote.

        Parameters
        ----------
        path : str or path-like
            The file to read.

        Returns
        -------
        Policy
            The same policy.

        Raises
        ------
        InvalidPolicy
            If the file is damaged, is not a policy, or was written by a newer version.
        """
        return documents.read(path, "policy", SCHEMA, _SHAPE, _unpack, InvalidPolicy)

    def to_dict(self) -> dict[str, Any]:
        """Return the policy as plain data.

        Returns
        -------
        dict
            What :meth:`save` writes.
        """
        return {
            "accept": self.thresholds.accept,
            "refuse": self.thresholds.refuse,
            "lowest": self.thresholds.lowest,
            "error": self.error,
            "refuse_error": self.refuse_error,
            "level": self.level,
            "rows": self.rows,
            "by": self.by,
            "slices": [
                {"value": value, "accept": one.accept, "refuse": one.refuse, "lowest": one.lowest}
                for value, one in self.slices.items()
            ],
        }


def _numbers(thresholds: Thresholds) -> tuple[float, float, float]:
    accept, refuse = thresholds.accept, thresholds.refuse
    return math.inf if accept is None else accept, -math.inf if refuse is None else refuse, thresholds.lowest


def _places(keys: Any, values: list[Label]) -> Any:
    """Of each key, its place among the values; one beyond the last where it is none of them."""
    keys = keys.ravel()
    is_text = all(isinstance(value, str) for value in values)
    is_number = not any(isinstance(value, str) for value in values)
    if values and ((is_text and keys.dtype.kind == "U") or (is_number and keys.dtype.kind in "biuf")):
        known = np.asarray(values)
        order = np.argsort(known)
        found = order[np.minimum(np.searchsorted(known[order], keys), len(known) - 1)]
        return np.where(known[found] == keys, found, len(values))
    places = {value: place for place, value in enumerate(values)}
    return np.array([places.get(key, len(values)) for key in keys.tolist()], dtype=np.intp)


def _check_kind(keys: Any, slices: Mapping[Label, Thresholds], name: str) -> None:
    """Refuse keys of another kind: text finds no number, and True the slice 1, without a word."""
    of_slices = {_kind_of(value) for value in slices}
    if len(of_slices) != 1 or not keys.size:
        return
    (held,) = of_slices
    if keys.dtype.kind == "O":
        of_keys = {_kind_of(key) for key in keys.ravel().tolist() if key is not None}
        # others may be found among the values, each as what it is
        given = "booleans" if of_keys == {"booleans"} else held
        given = "numbers" if held == "booleans" and of_keys == {"numbers"} else given
    else:
        given = "text" if keys.dtype.kind in "UST" else "booleans" if keys.dtype.kind == "b" else "numbers"
    if given != held:
        example = next(iter(slices))
        raise InvalidPredictions(
            f"by holds {given}, and the slices by {name} of this policy are {held}, such as {example!r}",
            hint="give text, such as str(value)"
            if held == "text"
            else "give them as they were when the policy was made",
        )


def _kind_of(value: Any) -> str:
    return "text" if isinstance(value, str) else "booleans" if isinstance(value, bool | np.bool_) else "numbers"


def _confidences(confidence: Any) -> Any:
    is_one = isinstance(confidence, int | float | np.number)
    values = np.asarray(confidence if is_one else as_array("confidence", confidence))
    if values.dtype.kind not in "fiu":
        raise InvalidPredictions(f"holds {values.dtype}", argument="confidence", hint="give numbers from 0 to 1")
    if values.ndim > 1:
        raise InvalidPredictions(
            f"has {values.ndim} dimensions",
            argument="confidence",
            hint="give the probability of the predicted label: for class probabilities, the largest of each row",
        )
    values = values.astype(np.float64, copy=False)
    inside = (values >= 0) & (values <= 1)
    if not inside.all():
        row = None if values.ndim == 0 else int(np.flatnonzero(~inside)[0])
        value = float(values if row is None else values[row])
        percentages = "; divide percentages by 100" if 1 < value <= 100 else ""
        raise InvalidPredictions(
            "not between 0 and 1", argument="confidence", row=row, value=value, hint=f"give confidences{percentages}"
        )
    return values


_SHARE = Number(math.ulp(0.0), 1 - math.ulp(0.5))
_THRESHOLDS: dict[str, Shape] = {"accept": Maybe(Number(0, 1)), "refuse": Maybe(Number(0, 1)), "lowest": Number(0, 1)}
_SHAPE = Record(
    {
        **_THRESHOLDS,
        "error": Maybe(_SHARE),
        "refuse_error": Maybe(_SHARE),
        "level": _SHARE,
        "rows": Whole(),
        "by": Maybe(Text()),
        "slices": ListOf(Record({"value": Slice(), **_THRESHOLDS})),
    }
)


def _unpack(body: dict[str, Any]) -> Policy:
    slices = {part["value"]: _thresholds(part) for part in body["slices"]}
    if len(slices) != len(body["slices"]):
        raise ValueError("a slice occurs twice")
    if slices and body["by"] is None:
        raise ValueError("it has slices, and by is null")
    return Policy(
        _thresholds(body), body["error"], body["level"], body["rows"], body["refuse_error"], body["by"], slices
    )


def _thresholds(body: dict[str, Any]) -> Thresholds:
    accept, refuse = body["accept"], body["refuse"]
    if accept is not None and refuse is not None and refuse > accept:
        raise ValueError(f"refuse is {refuse!r}, above accept, {accept!r}")
    return Thresholds(accept, refuse, body["lowest"])
