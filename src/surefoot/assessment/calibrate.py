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
from surefoot.assessment.verdict import RISKY
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
RISKY_PVALUE = 0.01
_RAW = "raw"


@dataclass(frozen=True)
class Trial:
    """The result of one calibrator on the held-out rows.

    Attributes
    ----------
    calibrator : Calibrator or None
        The fitted calibrator; None for the model as it is.
    predictions : Predictions
        The held-out rows with corrected probabilities and the model's own decisions.
    assessment : Assessment
        Their assessment.
    log_loss : float
        Mean log loss of correctness; infinite if something with probability 0 happened.
    saved : Interval
        How much lower the log loss is than that of the model as it is, with a paired 95% confidence interval.
    note : str
        A remark on the fit; empty if there is none.
    """

    calibrator: Calibrator | None
    predictions: Predictions
    assessment: Assessment
    log_loss: float
    saved: Interval
    note: str = ""

    @property
    def is_safe(self) -> bool:
        """Whether the calibrator comes with a guarantee."""
        return self.calibrator is not None and self.calibrator.is_safe

    @property
    def is_risky(self) -> bool:
        """Whether the held-out rows are overconfident after calibration, by their assessment."""
        return self.assessment.verdict in RISKY


@dataclass(frozen=True)
class Calibration:
    """Calibrators compared on held-out rows, and the recommended one.

    Returned by :func:`calibrate`. Print it for a table; ``calibration.calibrator`` is the one to use.

    Attributes
    ----------
    trials : mapping of str to Trial
        The result of each calibrator, by name; ``"raw"`` is the model as it is.
    recommended : str
        The name of the recommended calibrator: the one with a guarantee that has the least log loss.
    choice : mapping of str to float
        The log loss by which it was chosen: of each calibrator with a guarantee, fitted to one half of the held-out
        rows and evaluated on the other.
    """

    trials: Mapping[str, Trial]
    recommended: str
    choice: Mapping[str, float]

    @property
    def calibrator(self) -> Calibrator:
        """The recommended calibrator, fitted to the rows that were not held out."""
        calibrator = self.trials[self.recommended].calibrator
        assert calibrator is not None
        return calibrator

    def plot(self, ax: Any = None) -> Any:
        """Draw value against risk, with a mark for each calibrator.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.

        Returns
        -------
        surefoot.plots.CalibratorsDisplay
            The display, with ``ax_`` and ``figure_``.
        """
        models = {name: trial.assessment for name, trial in self.trials.items()}
        return present("mpl.calibrators", "CalibratorsDisplay", models).plot(ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data.

        Returns
        -------
        dict
            ``recommended``, ``choice``, and the numbers of each trial.
        """
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
        lines = [f"{'':24}{'log loss':>10}{'less than raw, 95%':>20}{'cwA':>8}{'CSR':>9}{'p':>9}  proof"]
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
            lines += _wrap(note_on(name, trial)) if trial.note else []
        lines += _wrap(meaning_of_risky(self))
        return "\n".join([*lines, "", *_wrap(advice(self))])


def note_on(name: str, trial: Trial) -> str:
    """What a fit warned of, under the name of its calibrator."""
    return trial.note if trial.note.startswith(name) else f"{name}: {trial.note}"


def meaning_of_risky(found: Calibration) -> str:
    """What the mark means; empty if no calibrator has it."""
    if not any(trial.is_risky for trial in found.trials.values()):
        return ""
    return (
        "risky: on the held-out rows too many errors, in all or in one range of confidence "
        f"(omnibus p at most {RISKY_PVALUE:g})."
    )


def advice(found: Calibration) -> str:
    """Which calibrator is recommended, by which numbers, with what guarantee and at what cost."""
    own = found.choice[found.recommended]
    others = [f"{name} {loss:.4f}" for name, loss in found.choice.items() if name != found.recommended and loss >= own]
    compared = f"; {min(others, key=lambda other: float(other.split()[-1]))}" if others else ""
    return (
        f"Recommended: {found.recommended}, one of the calibrators with a proven guarantee. They were compared by log "
        "loss and p-value on the held-out rows: each was fitted to one half of them and evaluated on the other "
        f"(log loss {own:.4f}{compared}). The calibrators in the table, and the recommended one, are fitted to the "
        "rows that were not held out, so another may have a lower log loss in the table. "
        f"{found.calibrator.guarantee} What it costs: {found.calibrator.cost}"
    )


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
    """Fit several calibrators, compare them on held-out rows, and recommend one with a guarantee.

    All decisions of the model stay the same; only confidences change.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true labels, of rows that the model was not trained on.
    probabilities : array-like of shape (n,) or (n, n_classes)
        P(second label), or a column for each class; logits with ``from_logits=True``.
    y_test, probabilities_test : array-like, optional
        Rows to compare the calibrators on; by default a ``share`` of the rows is held out at random.
    methods : mapping of str to Calibrator, optional
        The calibrators to compare, by name, at least one with a guarantee; by default all.
    labels : sequence, optional
        The classes, in the order of the columns; by default 0, 1, ... or the sorted labels that occur.
    pos_label : label, optional
        The class whose probability a single column holds; needed unless labels are 0 and 1, or booleans.
    from_logits : bool, default=False
        Whether you pass logits instead of probabilities.
    share : float, default=0.5
        The share of rows to hold out, between 0 and 1.
    rng : numpy.random.Generator, optional
        The source of randomness for the split; by default seed 0.

    Returns
    -------
    Calibration
        ``recommended`` (a name), ``calibrator`` (fitted, ready to use) and ``trials``, the result of each.

    Raises
    ------
    InvalidPredictions
        If the data are not valid predictions, or too few to hold some out.

    Notes
    -----
    The recommended calibrator is the one with a guarantee that has the least log loss and is not found overconfident,
    when it is fitted to one half of the held-out rows and evaluated on the other, in turn. The choice and the final fit
    so use different rows, and the guarantee holds for the one that was chosen.

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
            raise InvalidPredictions(f"y has {len(truth)} rows, too few to hold some out.")
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
            raise InvalidPredictions(
                f"methods[{name!r}] is a {type(model).__name__}; it must be a calibrator, such as SafePlatt()."
            )
        if bool(model.from_logits) != bool(from_logits):
            raise InvalidPredictions(f"methods[{name!r}] and calibrate must have the same from_logits.")
    if _RAW in methods:
        raise InvalidPredictions("methods has the name 'raw', which stands for the model itself; choose another name.")
    if not any(model.is_safe for model in methods.values()):
        raise InvalidPredictions("no method has a guarantee, so none can be recommended; add SafePlatt().")


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
        found = assess(sum(map(tally, tried[name])), level=2 * RISKY_PVALUE)
        pvalues[name] = found.risk.pvalue_omnibus
        if found.verdict not in RISKY:
            return name, losses
    # all are risky here: one half of the rows is not like the other
    return max(safe, key=lambda name: pvalues[name]), losses


def _try(calibrator: Calibrator | None, rows: ArrayPredictions, raw: ArrayPredictions, note: str = "") -> Trial:
    assessment = assess(rows, level=2 * RISKY_PVALUE)
    return Trial(calibrator, rows, assessment, value_of(LOG_LOSS, rows), _saving(raw, rows), note)


def _saving(raw: ArrayPredictions, own: ArrayPredictions) -> Interval:
    """How much less log-loss one has than the other, row by row."""
    (before,), (after,) = row_values(raw, SURPRISAL), row_values(own, SURPRISAL)
    with np.errstate(invalid="ignore"):
        saved = before - after
        mean = float(before.mean() - after.mean())
    if not np.isfinite(saved).all():
        return Interval(mean, math.nan, math.nan, math.nan, 0.95, "something with probability 0 happened")
    error = float(saved.std()) / math.sqrt(len(saved))
    reach = quantile(0.95) * error
    return Interval(mean, mean - reach, mean + reach, error, 0.95, "")
