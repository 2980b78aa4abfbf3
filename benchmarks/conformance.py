"""Our values beside those of other packages on the same inputs: ``python -m benchmarks.conformance`` writes docs/conformance.md.

Needs the extra ``conformance``. Every difference beyond rounding has its reason here, or the test fails.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

import surefoot as sf

DOCUMENT = Path(__file__).parent.parent / "docs" / "conformance.md"


#: Beyond this, relative, two values differ.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Input:
    name: str
    confidence: np.ndarray
    correct: np.ndarray

    @property
    def predictions(self) -> sf.Predictions:
        return sf.Predictions.from_correct(self.correct, self.confidence)


@dataclass(frozen=True)
class Classes:
    name: str
    labels: np.ndarray
    probabilities: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class Comparison:
    metric: str
    input: str
    package: str
    ours: float
    theirs: float
    #: Why they may differ by more than rounding, on this input.
    reason: str

    @property
    def allowed(self) -> float:
        """By how much, relative to them, the reason lets them differ: a reason is no licence."""
        if not self.reason:
            return ROUNDING
        # without ties, moving confidences by 1e-8 moves a sum of them as little
        if self.reason == _JITTER and self.input.startswith("smooth"):
            return 1e-6
        return _LARGEST.get(self.reason, 1.0)

    @property
    def difference(self) -> float:
        if self.ours == self.theirs or (math.isnan(self.ours) and math.isnan(self.theirs)):
            return 0.0
        if abs(self.ours - self.theirs) < 1e-15:
            return 0.0  # 0 and what is left of it
        return abs(self.ours - self.theirs) / max(abs(self.ours), abs(self.theirs))


def inputs() -> tuple[Input, ...]:
    rng = np.random.default_rng(0)
    smooth = rng.beta(3, 1, 500)
    grid = rng.integers(0, 16, 400) / 15
    tied = rng.choice([0.55, 0.7, 0.85, 0.95], 400)
    return (
        Input("smooth: 500 draws of Beta(3, 1)", smooth, rng.random(500) < smooth**1.5),
        Input("edges: multiples of 1/15, 0 and 1 among them", grid, rng.random(400) < grid),
        Input("ties: four confidences, 400 rows", tied, rng.random(400) < tied - 0.05),
        Input(
            "certain: 0, 1 and halves",
            np.array([0.0, 1.0, 0.5, 0.5, 1.0, 0.0] * 10),
            np.array([0, 1, 1, 0, 1, 0] * 10, dtype=bool),
        ),
    )


def classes() -> Classes:
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.full(5, 0.6), 700)
    sharp = p**1.3 / (p**1.3).sum(axis=1, keepdims=True)
    labels = (p.cumsum(axis=1) < rng.random((700, 1))).sum(axis=1).clip(0, 4)
    return Classes("classes: 700 rows of five, and weights", labels, sharp, rng.uniform(0.2, 3, 700))


_FLOAT32 = "it computes in float32"
_NARROW_EDGES = "its bin edges are float32, so a confidence on an edge may fall on the other side"
_LEFT = "its bins are [a, b): our closed='left'"
_STEPS = "it searches the bandwidth in steps of 0.001"
_JITTER = "it moves confidences by up to 1e-8 and breaks ties at random; ours looks only at the ends of ties"
_CERTAIN = "0/0 there; nan with a warning here"
_CLIP = "it clips confidences 2.2e-16 from 0 and 1; a certain mistake costs infinity here"


#: The largest difference that some reasons explain.
_LARGEST = {_FLOAT32: 1e-5, _STEPS: 0.05, _LEFT: 0.2, _CLIP: 1e-9}


def comparisons() -> Iterator[Comparison]:
    for one in inputs():
        yield from _scikit_learn(one)
        yield from _torchmetrics(one)
        yield from _netcal(one)
        yield from _mapie(one)
        yield from _relplot(one)
        yield from _model_diagnostics(one)
    yield from _of_classes(classes())


def _compared(
    one: Input | Classes, package: str, pairs: dict[str, tuple[Callable[[], float], Callable[[], float], str]]
) -> Iterator[Comparison]:
    for metric, (ours, theirs, reason) in pairs.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield Comparison(metric, one.name, package, float(ours()), float(theirs()), reason)


def _scikit_learn(one: Input) -> Iterator[Comparison]:
    from sklearn.isotonic import IsotonicRegression
    from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score

    p, c, y = one.predictions, one.confidence, one.correct
    binary = sf.Predictions.from_probabilities(y.astype(int), c)
    weight = np.maximum(c, 1 - c)
    fit = IsotonicRegression(out_of_bounds="clip")
    yield from _compared(
        one,
        "scikit-learn",
        {
            "accuracy": (lambda: sf.accuracy(p), lambda: accuracy_score(np.ones(len(y)), y), ""),
            "brier": (lambda: sf.brier(p), lambda: brier_score_loss(y, c, labels=[0, 1]), ""),
            "log_loss": (lambda: sf.log_loss(p), lambda: log_loss(y, c, labels=[0, 1]), _CLIP),
            "auc": (lambda: sf.auc(binary), lambda: roc_auc_score(y, c), ""),
            "cw_auc": (lambda: sf.cw_auc(binary), lambda: roc_auc_score(y, c, sample_weight=weight), ""),
            "mcaldist": (lambda: sf.mcaldist(p), lambda: np.abs(c - fit.fit(c, y).predict(c)).mean(), ""),
        },
    )


def _torchmetrics(one: Input) -> Iterator[Comparison]:
    import torch
    from torchmetrics.functional.classification import binary_calibration_error

    c, y, p = torch.tensor(one.confidence), torch.tensor(one.correct.astype(int)), one.predictions
    narrow = _NARROW_EDGES if "edges" in one.name else _FLOAT32
    yield from _compared(
        one,
        "torchmetrics",
        {
            "ece, closed='left'": (
                lambda: sf.ece(p, closed="left"),
                lambda: binary_calibration_error(c, y, n_bins=15, norm="l1"),
                narrow,
            ),
            "mce, closed='left'": (
                lambda: sf.mce(p, closed="left"),
                lambda: binary_calibration_error(c, y, n_bins=15, norm="max"),
                narrow,
            ),
            "ece": (
                lambda: sf.ece(p),
                lambda: binary_calibration_error(c, y, n_bins=15, norm="l1"),
                f"{_LEFT}; {narrow}",
            ),
        },
    )


def _netcal(one: Input) -> Iterator[Comparison]:
    from netcal.metrics import ACE, ECE, MCE

    p, c, y = one.predictions, one.confidence, one.correct.astype(int)
    equal_mass = (
        "its bins hold equally many rows by position, so ties are split; ours keeps them together"
        if "smooth" not in one.name
        else "its bins are cut at interpolated quantiles, and each counts the same whatever it holds"
    )
    yield from _compared(
        one,
        "netcal",
        {
            "ece, closed='left'": (lambda: sf.ece(p, closed="left"), lambda: ECE(15).measure(c, y), ""),
            "mce, closed='left'": (lambda: sf.mce(p, closed="left"), lambda: MCE(15).measure(c, y), ""),
            "ece": (lambda: sf.ece(p), lambda: ECE(15).measure(c, y), _LEFT),
            "equal_mass_ece": (lambda: sf.equal_mass_ece(p), lambda: ACE(15).measure(c, y), equal_mass),
        },
    )


def _mapie(one: Input) -> Iterator[Comparison]:
    from mapie.metrics.calibration import (
        expected_calibration_error,
        kolmogorov_smirnov_p_value,
        kolmogorov_smirnov_statistic,
        kuiper_p_value,
        kuiper_statistic,
        spiegelhalter_statistic,
    )

    p, c, y = one.predictions, one.confidence, one.correct.astype(int)
    test = sf.ecce_test(p)
    sigma = test.sigma or math.nan
    yield from _compared(
        one,
        "MAPIE",
        {
            "ece": (
                lambda: sf.ece(p),
                lambda: expected_calibration_error(y, c, num_bins=16),
                "confidence 0 has a bin of its own there (16 edges make 15 bins and that one)",
            ),
            "ecce_mad / sigma": (lambda: test.mad / sigma, lambda: kolmogorov_smirnov_statistic(y, c), _JITTER),
            "ecce_r / sigma": (
                lambda: test.r / sigma,
                lambda: kuiper_statistic(y, c),
                f"{_JITTER}; its walk does not start at 0",
            ),
            "ecce_test, p of mad": (lambda: test.pvalue_mad, lambda: kolmogorov_smirnov_p_value(y, c), _JITTER),
            "ecce_test, p of r": (
                lambda: test.pvalue_r,
                lambda: kuiper_p_value(y, c),
                f"{_JITTER}; its walk does not start at 0",
            ),
            "spiegelhalter_z": (
                lambda: sf.spiegelhalter_z(p),
                lambda: spiegelhalter_statistic(y, c),
                _CERTAIN if "certain" in one.name else "",
            ),
        },
    )


def _relplot(one: Input) -> Iterator[Comparison]:
    from relplot.metrics import smECE

    p, c, y = one.predictions, one.confidence, one.correct.astype(float)
    yield from _compared(one, "relplot", {"smooth_ece": (lambda: sf.smooth_ece(p), lambda: smECE(c, y), _STEPS)})


def _model_diagnostics(one: Input) -> Iterator[Comparison]:
    from model_diagnostics.scoring import LogLoss, SquaredError, decompose

    p, c, y = one.predictions, one.confidence, one.correct.astype(float)
    rules = {"brier": SquaredError()}
    if ((c > 0) & (c < 1)).all():
        # it takes no confidence of 0 or 1 for a log loss
        rules["log_loss"] = LogLoss()
    for score, rule in rules.items():
        ours, theirs = sf.score_decomposition(p, score=score), decompose(y, c, scoring_function=rule)
        yield from _compared(
            one,
            "model-diagnostics",
            {
                f"{part}, score='{score}'": (
                    lambda ours=ours, part=part: getattr(ours, part),
                    lambda theirs=theirs, part=part: theirs[part][0],
                    "",
                )
                for part in ("miscalibration", "discrimination", "uncertainty")
            },
        )


def _of_classes(one: Classes) -> Iterator[Comparison]:
    """Over all classes. No package has a class-wise ECE: theirs of each class against the rest is averaged here."""
    import torch
    from netcal.metrics import ECE
    from sklearn.metrics import brier_score_loss, log_loss
    from torchmetrics.functional.classification import binary_calibration_error, multiclass_calibration_error

    y, p, weight = one.labels, one.probabilities, one.weight
    events = [(torch.tensor(p[:, k]), torch.tensor((y == k).astype(int))) for k in range(5)]
    yield from _compared(
        one,
        "scikit-learn",
        {
            "multiclass_log_loss": (lambda: sf.multiclass_log_loss(y, p), lambda: log_loss(y, p), ""),
            "multiclass_log_loss, weighted": (
                lambda: sf.multiclass_log_loss(y, p, sample_weight=weight),
                lambda: log_loss(y, p, sample_weight=weight),
                "",
            ),
            "multiclass_brier": (lambda: sf.multiclass_brier(y, p), lambda: brier_score_loss(y, p), ""),
            "multiclass_brier, weighted": (
                lambda: sf.multiclass_brier(y, p, sample_weight=weight),
                lambda: brier_score_loss(y, p, sample_weight=weight),
                "",
            ),
        },
    )
    yield from _compared(
        one,
        "torchmetrics",
        {
            "classwise_ece": (
                lambda: sf.classwise_ece(y, p),
                lambda: np.mean([float(binary_calibration_error(*event, n_bins=15)) for event in events]),
                _FLOAT32,
            ),
            "ece, of the predicted class": (
                lambda: sf.ece(y, p),
                lambda: multiclass_calibration_error(torch.tensor(p), torch.tensor(y), num_classes=5, n_bins=15),
                _FLOAT32,
            ),
        },
    )
    yield from _compared(
        one,
        "netcal",
        {
            "classwise_ece": (
                lambda: sf.classwise_ece(y, p),
                lambda: np.mean([ECE(15).measure(p[:, k], (y == k).astype(int)) for k in range(5)]),
                "",
            ),
            "ece, of the predicted class": (lambda: sf.ece(y, p), lambda: ECE(15).measure(p, y), ""),
        },
    )


def report() -> str:
    packages = ("scikit-learn", "torchmetrics", "netcal", "mapie", "relplot", "model-diagnostics")
    lines = [
        "# Conformance",
        "",
        "Our values beside those of other packages on the same inputs, written by `python -m benchmarks.conformance`; a test fails "
        "if a value differs by more than rounding without a reason given here.",
        "",
        "Versions: " + ", ".join(f"{name} {version(name)}" for name in packages) + ".",
    ]
    found = list(comparisons())
    same = sum(one.difference <= ROUNDING for one in found)
    lines += ["", f"{same} of {len(found)} values agree to {ROUNDING:g}; the others have a reason."]
    lines += [
        "",
        "torchmetrics and netcal have no class-wise ECE: of several classes, theirs is of the predicted one. Under `classwise_ece` stands "
        "the mean over classes of their binary error, of each class against the rest.",
    ]
    for name in dict.fromkeys(one.input for one in found):
        lines += [
            "",
            f"## {name.capitalize()}",
            "",
            "| metric | surefoot | package | its value | difference | why |",
            "|---|---|---|---|---|---|",
        ]
        for one in found:
            if one.input == name:
                differs = one.difference > ROUNDING
                lines.append(
                    f"| {one.metric} | {one.ours:.10g} | {one.package} | {one.theirs:.10g} | "
                    f"{f'{one.difference:.1e}' if differs else 'none'} | {one.reason if differs else ''} |"
                )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    DOCUMENT.write_text(report(), encoding="utf-8")
