"""Which calibrator: several are fitted to some rows and looked at on others, and the most useful safe one is named."""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._io.arguments import check_share
from surefoot._io.presentation import present
from surefoot._stats.quantiles import quantile
from surefoot.assessment.assess import assess
from surefoot.assessment.result import Assessment
from surefoot.calibrators.calibrator import Calibrator
from surefoot.calibrators.registry import NAMED, new_calibrator
from surefoot.errors import CertaintyWarning, InvalidPredictions
from surefoot.metrics.proper import LOG_LOSS, SURPRISAL
from surefoot.metrics.tallying import tally
from surefoot.predictions import ArrayPredictions, Predictions
from surefoot.predictions.columns import as_numbers
from surefoot.risk.estimates import row_values, value_of
from surefoot.risk.intervals import Interval

#: p-values up to which confidences are called risky: of one side, at half the level of a verdict.
RISKY = 0.01
_RAW = "raw"


@dataclass(frozen=True)
class Trial:
    """What one calibrator makes of the held-out rows."""

    #: Fitted; None for the raw model.
    calibrator: Calibrator | None
    predictions: Predictions
    assessment: Assessment
    #: Mean log-loss of correctness: infinite where what was called impossible happened.
    log_loss: float
    #: How much of it is saved against the raw model, row by row: a paired 95% interval.
    saved: Interval
    #: What has to be said of it.
    note: str = ""

    @property
    def is_safe(self) -> bool:
        """Whether it comes with a proof."""
        return self.calibrator is not None and self.calibrator.is_safe

    @property
    def is_risky(self) -> bool:
        """Whether the held-out errors are too many for their confidences: a verdict at this level says so."""
        return self.assessment.verdict in ("overconfident", "mixed")


@dataclass(frozen=True)
class Calibration:
    """Calibrators side by side on held-out rows, and the one to use."""

    trials: Mapping[str, Trial]
    #: The safe one of least log-loss, chosen by other rows than it is fitted to.
    recommended: str
    #: The log-loss by which it was chosen: of each safe one, fitted to one half of the held-out rows, on the other.
    choice: Mapping[str, float]

    @property
    def calibrator(self) -> Calibrator:
        """The recommended one, fitted to the rows that were not held out."""
        calibrator = self.trials[self.recommended].calibrator
        assert calibrator is not None
        return calibrator

    def plot(self, ax: Any = None) -> Any:
        """Value against risk, a mark for each; see :class:`surefoot.plots.CalibratorsDisplay`."""
        models = {name: trial.assessment for name, trial in self.trials.items()}
        return present("mpl.calibrators", "CalibratorsDisplay", models).plot(ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """The numbers, as plain values."""
        return {
            "recommended": self.recommended,
            "choice": dict(self.choice),
            "trials": {
                name: {
                    "log_loss": trial.log_loss,
                    "saved": [trial.saved.low, trial.saved.value, trial.saved.high],
                    "cw_accuracy": trial.assessment["cw_accuracy"],
                    "csr": trial.assessment.risk.csr,
                    "pvalue_omnibus": trial.assessment.risk.pvalue_omnibus,
                    "pvalue_combined": trial.assessment.risk.pvalue_combined,
                    "has_proof": trial.is_safe,
                    "is_risky": trial.is_risky,
                    "note": trial.note,
                }
                for name, trial in self.trials.items()
            },
        }

    def _repr_html_(self) -> str:
        return str(present("notebook", "calibration_card", self))

    def __str__(self) -> str:
        lines = [f"{'':24}{'log loss':>10}{'saved, 95%':>20}{'cwA':>8}{'CSR':>9}{'p':>9}  proof"]
        for name, trial in self.trials.items():
            saved = f"{trial.saved.low:+.4f} to {trial.saved.high:+.4f}"
            if trial.saved.is_absent:
                saved = "-" if math.isnan(trial.saved.value) else f"{trial.saved.value:+g}"
            risk = trial.assessment.risk
            mark = "yes" if trial.is_safe else ""
            lines.append(
                f"{name:24}{trial.log_loss:10.4f}{saved:>20}{trial.assessment['cw_accuracy']:8.4f}{risk.csr:9.3g}"
                f"{risk.pvalue_omnibus:9.2g}  {mark}{'  risky' if trial.is_risky else ''}"
            )
        for name, trial in self.trials.items():
            lines += _wrap(f"{name}: {trial.note}") if trial.note else []
        advice = (
            f"Recommended: {self.recommended}, chosen by the held-out rows and fitted to the others. "
            f"{self.calibrator.guarantee} What it costs: {self.calibrator.cost}"
        )
        return "\n".join([*lines, "", *_wrap(advice)])


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, 96, subsequent_indent="  ")


def calibrate(
    y: Any,
    probabilities: Any,
    y_test: Any = None,
    probabilities_test: Any = None,
    *,
    methods: Mapping[str, Calibrator] | None = None,
    labels: Any = None,
    pos_label: Any = None,
    from_logits: bool = False,
    share: float = 0.5,
    rng: np.random.Generator | None = None,
) -> Calibration:
    """Fit several calibrators, compare them on held-out rows, and recommend the most useful safe one.

    Without test rows, a ``share`` of the rows given is held out at random (``rng``, by default seed 0). All calibrators
    are fitted to the others, and shown on those held out. Safe are those with a proof; the most useful of them is the
    one of least log-loss whose errors the omnibus test does not call risky, when it is fitted to one half of the
    held-out rows and tried on the other, by turns. So the choice rests on other rows than the fit, and the proof holds
    for the one that was chosen. The raw model's decisions are kept throughout. ``methods`` are calibrators by name.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(0, 2, 2000)
    >>> y = (rng.random(2000) < 1 / (1 + np.exp(-x))).astype(int)
    >>> found = calibrate(y, 1 / (1 + np.exp(-3 * x)))
    >>> found.recommended, found.trials["raw"].is_risky, found.trials["safe_platt"].is_risky
    ('safe_platt', True, False)
    """
    check_share("share", share, "0.5")
    chosen = {name: new_calibrator(name, from_logits=from_logits) for name in NAMED} if methods is None else methods
    _check_methods(chosen, from_logits=from_logits)
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng is {rng!r}; give numpy.random.default_rng(seed).")
    constructor = Predictions.from_logits if from_logits else Predictions.from_probabilities
    whole = constructor(y, probabilities, labels=labels, pos_label=pos_label)
    assert whole.labels is not None
    names = list(whole.labels)
    truth = np.asarray(whole.truth)
    table = as_numbers("probabilities", probabilities, dimensions=2, fractions=not from_logits).values
    if (y_test is None) != (probabilities_test is None):
        raise InvalidPredictions("give y_test and probabilities_test together, or neither.")
    fit: tuple[Any, Any]
    if y_test is None:
        order = (np.random.default_rng(0) if rng is None else rng).permutation(len(truth))
        cut = round(len(truth) * share)
        if not 2 <= cut < len(truth):
            raise InvalidPredictions(f"y holds {len(truth)} rows, too few to hold some out.")
        held, kept = order[:cut], order[cut:]
        fit, test = (truth[kept], table[kept]), (truth[held], table[held])
    else:
        fit, test = (truth, table), (y_test, probabilities_test)
    raw = constructor(test[0], test[1], labels=names).rows()
    trials = {_RAW: _try(None, raw, raw)}
    for name, model in chosen.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", CertaintyWarning)
            fitted = model.unfitted().fit(fit[1], fit[0], labels=names)
        note = next((str(w.message) for w in caught if issubclass(w.category, CertaintyWarning)), "")
        trials[name] = _try(fitted, fitted.predictions(test[0], test[1]), raw, note)
    safe = {name: model for name, model in chosen.items() if model.is_safe}
    return Calibration(trials, *recommended(safe, raw, test[1], names))


def _check_methods(methods: Any, *, from_logits: bool) -> None:
    if not isinstance(methods, Mapping):
        raise InvalidPredictions(
            f"methods is a {type(methods).__name__}; give calibrators by name: {{'mine': SafePlatt()}}."
        )
    for name, model in methods.items():
        if not isinstance(model, Calibrator):
            raise InvalidPredictions(f"methods[{name!r}] is a {type(model).__name__}; give calibrators by name.")
        if bool(model.from_logits) != bool(from_logits):
            raise InvalidPredictions(f"methods[{name!r}] and calibrate should have the same from_logits.")
    if _RAW in methods:
        raise InvalidPredictions("methods holds 'raw', which is the name of the model as it is.")
    if not any(model.is_safe for model in methods.values()):
        raise InvalidPredictions("methods holds none with a proof, so that none can be recommended; add SafePlatt().")


def recommended(
    safe: Mapping[str, Calibrator], raw: Predictions, probabilities: Any, names: list[Any]
) -> tuple[str, dict[str, float]]:
    """The most useful of the safe ones, by the held-out rows alone: and the log-loss of each."""
    truth, table = np.asarray(raw.truth), np.asarray(probabilities)
    losses: dict[str, float] = {}
    tried: dict[str, list[Predictions]] = {}
    halves = [np.arange(len(truth)) % 2 == turn for turn in (0, 1)]
    for name, model in safe.items():
        tried[name] = []
        for own in halves:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CertaintyWarning)
                fitted = model.unfitted().fit(table[own], truth[own], labels=names)
            tried[name].append(fitted.predictions(truth[~own], table[~own]))
        one, other = (tally(part, [LOG_LOSS]) for part in tried[name])
        losses[name] = float(LOG_LOSS.of(one + other))
    pvalues: dict[str, float] = {}
    for name in sorted(safe, key=lambda name: losses[name]):
        found = assess(sum(map(tally, tried[name])), level=2 * RISKY)
        pvalues[name] = found.risk.pvalue_omnibus
        if found.verdict not in ("overconfident", "mixed"):
            return name, losses
    # all are risky here: one half of the rows is not like the other
    return max(safe, key=lambda name: pvalues[name]), losses


def _try(calibrator: Calibrator | None, rows: ArrayPredictions, raw: ArrayPredictions, note: str = "") -> Trial:
    assessment = assess(rows, level=2 * RISKY)
    return Trial(calibrator, rows, assessment, value_of(LOG_LOSS, rows), _saving(raw, rows), note)


def _saving(raw: ArrayPredictions, own: ArrayPredictions) -> Interval:
    """How much less log-loss one has than the other, row by row."""
    (before,), (after,) = row_values(raw, SURPRISAL), row_values(own, SURPRISAL)
    with np.errstate(invalid="ignore"):
        saved = before - after
        mean = float(before.mean() - after.mean())
    if not np.isfinite(saved).all():
        return Interval(mean, math.nan, math.nan, math.nan, 0.95, "something called impossible happened")
    error = float(saved.std()) / math.sqrt(len(saved))
    reach = quantile(0.95) * error
    return Interval(mean, mean - reach, mean + reach, error, 0.95, "")
