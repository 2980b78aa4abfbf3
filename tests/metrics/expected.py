"""For every metric at least one value that another method gives: by hand, scikit-learn, or a published implementation.

A case is the predictions, the value, where the value comes from, and how closely it is met. A metric without a case
fails `test_expected.py`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import sklearn.metrics as sk
from risk_sample import DIED, RISK
from sklearn.isotonic import IsotonicRegression
from vectors import VALUES, VECTORS

import surefoot as sf


class Case(NamedTuple):
    predictions: sf.Predictions
    value: float
    source: str
    rel: float = 1e-10
    abs: float = 0.0


BY_HAND = "by hand"
REFERENCE = "tests/data/vectors.json"

#: Two mistakes in four rows, two rows of one confidence.
FOUR = sf.Predictions.from_correct([True, False, False, True], [0.75, 0.5, 0.75, 0.9])
#: Weighted by confidence, of class 0: tp 1.5, fp 0.75, fn 0, tn 0.25; of class 1: tp 0.25, fp 0, fn 0.75, tn 1.5.
LABELS = sf.Predictions.from_labels([0, 1, 1, 0], [0, 1, 0, 0], [0.5, 0.25, 0.75, 1.0])
#: Confidences 0.9, 0.6, 0.65 and 0.8.
RANKED = sf.Predictions.from_probabilities([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
#: At confidence 0.5 three of four are right, at 0.8 nine of ten: a line through two points of the log-odds.
TWO_LEVELS = sf.Predictions.from_correct([True] * 3 + [False] + [True] * 9 + [False], [0.5] * 4 + [0.8] * 10)
#: Ten groups of two rows, one of each right.
PAIRS = sf.Predictions.from_correct([True, False] * 10, np.repeat(np.arange(10) / 10 + 0.05, 2))
#: Right throughout: no smoothing makes the gaps cancel.
ALL_RIGHT = sf.Predictions.from_correct([True] * 3, [0.75, 0.5, 0.25])
#: Of class 0 one row at 0.75, right; of class 1 one at 0.75, wrong, and one at 0.9, right.
TWO_CLASSES = sf.Predictions.from_labels([0, 0, 1], [0, 1, 1], [0.75, 0.75, 0.9])
#: A hundred rows at 0.6, half of them right, and a hundred at 0.9, half of them right.
TWO_HUNDRED = sf.Predictions.from_correct([True, False] * 100, [0.6] * 100 + [0.9] * 100)


#: Four samples at 0.2, one of which is an event, and four at 0.6, three of which are.
RISKS = sf.Predictions.from_probabilities([1, 0, 0, 0, 1, 1, 1, 0], [0.2] * 4 + [0.6] * 4, of="event")
#: Half of the samples are events, at one probability only.
ONE_RISK = sf.Predictions.from_probabilities([1, 0, 1, 0], [0.2] * 4, of="event")


def _of(name: str) -> sf.Predictions:
    return sf.Predictions.from_correct(VECTORS[name].correct, VECTORS[name].confidence)


def _hand(predictions: sf.Predictions, value: float) -> Case:
    return Case(predictions, value, BY_HAND)


def _published(*path: str, rel: float = 1e-10) -> list[Case]:
    """The reference implementation's value of samples A and B."""
    cases = []
    for name in ("A", "B"):
        value = VALUES[name]
        for key in path:
            value = value[key]
        cases.append(Case(_of(name), value, REFERENCE, rel))
    return cases


_E = VECTORS["E"]
#: Three classes, 400 rows.
THREE = sf.Predictions.from_probabilities(_E.truth, _E.probabilities)
_LABELS = (_E.truth, _E.probabilities.argmax(axis=1))
_WEIGHT = {"sample_weight": _E.confidence}


def _scikit_learn(value: float) -> Case:
    return Case(THREE, float(value), "scikit-learn")


def _area(*, weighted: bool) -> float:
    weight = _E.confidence if weighted else None
    return float(sk.roc_auc_score(_E.truth, _E.probabilities, multi_class="ovr", sample_weight=weight))


def _of_the_rest(score: object) -> float:
    """The mean over classes of a score of "not this class"."""
    truth, predicted = _LABELS
    return float(np.mean([score(truth != k, predicted != k, **_WEIGHT) for k in range(3)]))


#: 273 deaths expected, 118 observed.
_PATIENTS = sf.Predictions.from_probabilities(DIED, RISK, of="event")
#: Slope, intercept and calibration in the large.
_STATSMODELS = [
    [Case(_PATIENTS, value, f"statsmodels 0.15.0, {model}", 0.0, 1e-8)]
    for value, model in (
        (0.8754462798569683, "Logit"),
        (-1.2847243074024948, "Logit"),
        (-1.211130661761552, "GLM with offset"),
    )
]


def _loess(value: float) -> Case:
    return Case(_PATIENTS, value, "scikit-misc 0.5.3, loess with surface='direct'", 0.0, 1e-8)


def _parts_by_sklearn(name: str) -> tuple[float, float, float]:
    """Miscalibration, discrimination and uncertainty of the Brier score, by scikit-learn's isotonic regression."""
    correct, confidence = VECTORS[name].correct.astype(float), VECTORS[name].confidence
    fit = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit_transform(confidence, correct)
    base = np.full(len(correct), correct.mean())
    given, fitted, constant = (sk.mean_squared_error(correct, p) for p in (confidence, fit, base))
    return given - fitted, constant - fitted, constant


def _isotonic(part: int) -> list[Case]:
    return [Case(_of(name), _parts_by_sklearn(name)[part], "scikit-learn, isotonic") for name in ("A", "B")]


# FOUR in bins of a fifteenth: 0.5 alone, wrong (gap 0.5); 0.75 twice, one right (1.5 - 1 = 0.5); 0.9, right (0.1)
_GAPS = (0.5, 0.5, 0.1)
# confidence-weighted: positives 0.65 at score 0.35 and 0.8 at 0.8; negatives 0.9 at 0.1 and 0.6 at 0.4
_CW_AUC = (0.65 * 0.9 + 0.8 * (0.9 + 0.6)) / ((0.65 + 0.8) * (0.9 + 0.6))

EXPECTED: dict[str, list[Case]] = {
    "csr": [_hand(FOUR, (1 / 0.5 + 1 / 0.25) / 4), *_published("paper_formula", "CSR")],
    # odds 3, 1, 3 and 9 are the variances of the four terms
    "csr_sigma": [_hand(FOUR, math.sqrt(3 + 1 + 3 + 9) / 4), *_published("paper_formula", "sigma_CSR")],
    "csr_z": [_hand(FOUR, 0.5), *_published("paper_formula", "z")],
    # the normal law's table at 0.5
    "p_risk": [_hand(FOUR, 0.6914624612740131), *_published("paper_formula", "P_risk")],
    "accuracy": [_hand(FOUR, 0.5), *_published("paper_formula", "Acc")],
    "mean_confidence": [_hand(FOUR, 2.9 / 4), *_published("paper_formula", "mean_conf")],
    "cw_accuracy": [_hand(FOUR, 1.65 / 2.9), *_published("paper_formula", "cwA")],
    "gain": [_hand(FOUR, (1.65 / 2.9 - 0.5) / 0.5)],
    "ece": [_hand(FOUR, sum(_GAPS) / 4), *_published("ECE15", "ref_netcal")],
    "mce": [_hand(FOUR, 0.5), _hand(FOUR[2:], 0.75)],
    "equal_mass_ece": [_hand(FOUR, sum(_GAPS) / 4), *_published("ACE15_equal_mass", "ref_tce_repo_ace")],
    # fewer than a hundred rows are one part
    "adaptive_ece": [_hand(FOUR, 2.9 / 4 - 0.5), *_published("AD-ECE", "ref_uusml_datadependent_min100_mean")],
    "brier": [_hand(FOUR, (0.0625 + 0.25 + 0.5625 + 0.01) / 4), *_published("Brier", "ref_sklearn")],
    "log_loss": [
        _hand(FOUR, -math.log(0.75 * 0.5 * 0.25 * 0.9) / 4),
        Case(_of("A"), float(sk.log_loss(VECTORS["A"].correct, VECTORS["A"].confidence)), "scikit-learn"),
    ],
    # shares that rise with confidence are their own isotonic fit: 0, 0.5 and 1, of which two rows score 0.25
    "miscalibration": [_hand(FOUR, 0.885 / 4 - 0.5 / 4), *_isotonic(0)],
    "discrimination": [_hand(FOUR, 0.25 - 0.5 / 4), *_isotonic(1)],
    "uncertainty": [_hand(FOUR, 0.25), *_isotonic(2)],
    # fewer than a hundred rows are one bin; two hundred are two
    "rms_ce": [_hand(FOUR, 2.9 / 4 - 0.5), _hand(TWO_HUNDRED, math.sqrt((0.1**2 + 0.4**2) / 2))],
    # from 0.9 down: no error, then one among three rows (at two of them), then two among four
    "aurc": [_hand(FOUR, (0 + 2 / 3 + 2 / 4) / 4)],
    # pairs in which an error is the more confident, ties one half: at 0.75 two rows and half an error, at 0.5 1.5
    "augrc": [_hand(FOUR, (2 * 0.5 + 1.5) / 16)],
    # cumulative gaps of four rows: -0.5 from 0.5 on, -1 from 0.75 on, -0.9 from 0.9 on
    "atb": [
        _hand(FOUR, (0.5 * 0.9**2 + 0.25 * (0.5**2 + 0.4**2) + 0.15 * (1.0**2 + 0.1**2) + 0.1 * 0.9**2) / 16),
    ],
    # (c - y) log-odds: 0.5 log 3 of the two at 0.75, and -0.1 log 9
    "ecd": [_hand(FOUR, (0.5 * math.log(3) - 0.1 * math.log(9)) / 4), *_published("ECD", "own")],
    "tce": _published("TCE", "ref_N20_N5"),
    "tcal": _published("T-Cal", "inferred_reported_value"),
    # shares that rise with confidence are their own isotonic fit: 0, 0.5 and 1
    "mcaldist": [_hand(FOUR, (0.5 + 0.25 + 0.25 + 0.1) / 4), *_published("MCalDist", "own_sklearn_isotonic")],
    "cwsa": _published("CWSA_tau0.5", "own_cwsa_accepted_norm"),
    "cwsa_plus": _published("CWSA_tau0.5", "own_cwsa_plus_accepted_norm"),
    # sums by confidence, of four: -0.5, then -1, then -0.9
    "ecce_mad": [_hand(FOUR, 1.0 / 4), *_published("ECCE", "ref_MAD")],
    "ecce_r": [_hand(FOUR, 1.0 / 4), *_published("ECCE", "ref_R")],
    # its reference takes confidences 1e-6 lower
    "ls_ece": [
        _hand(sf.Predictions.from_correct([True], [0.5]), 0.5),
        *_published("LS-ECE", "own_quadrature_sigma_1/15", rel=1e-5),
    ],
    "eci": _published("ECI_15", "ref_calfram_head_15", "ec_g"),
    "smooth_ece": [
        _hand(ALL_RIGHT, 0.5),
        # it searches the bandwidth in steps of 0.001
        Case(_of("A"), 0.06553838525771014, "relplot 1.0.3, smECE", 0.0, 1e-3),
        Case(_of("B"), 0.04712333344960369, "relplot 1.0.3, smECE", 0.0, 1e-3),
    ],
    # (y - c)(1 - 2c): -0.125, 0, 0.375, -0.08; variances (1 - 2c)^2 c (1 - c): 0.046875 twice, 0 and 0.0576
    "spiegelhalter_z": [_hand(FOUR, 0.17 / math.sqrt(2 * 0.046875 + 0.0576))],
    "hosmer_lemeshow": [
        _hand(PAIRS, 2 * sum((1 - 2 * c) ** 2 / (2 * c * (1 - c)) for c in (0.05, 0.15, 0.25, 0.35, 0.45)))
    ],
    # logit(0.9) = log 3 + slope * log 4, and logit(0.75) = log 3 where confidence is 0.5
    "cox_slope": [
        Case(TWO_LEVELS, math.log(3) / math.log(4), BY_HAND, 1e-9),
        Case(_of("A"), 1.04488073, "statsmodels 0.15.0, Logit", 0.0, 1e-7),
    ],
    "cox_intercept": [
        Case(TWO_LEVELS, math.log(3), BY_HAND, 1e-9),
        Case(_of("A"), -0.45140576, "statsmodels 0.15.0, Logit", 0.0, 1e-7),
    ],
    "correctness_slope": [Case(TWO_LEVELS, math.log(3) / math.log(4), BY_HAND, 1e-9)],
    "correctness_intercept": [Case(TWO_LEVELS, math.log(3), BY_HAND, 1e-9)],
    "correctness_spiegelhalter_z": [_hand(FOUR, 0.17 / math.sqrt(2 * 0.046875 + 0.0576))],
    "correctness_hosmer_lemeshow": [
        _hand(PAIRS, 2 * sum((1 - 2 * c) ** 2 / (2 * c * (1 - c)) for c in (0.05, 0.15, 0.25, 0.35, 0.45)))
    ],
    # 4 events, where 4 * 0.2 + 4 * 0.6 were expected
    "oe_ratio": [_hand(RISKS, 4 / 3.2)],
    # a line through (logit 0.2, logit 1/4) and (logit 0.6, logit 3/4)
    "calibration_slope": [
        Case(RISKS, 2 * math.log(3) / (math.log(1.5) + math.log(4)), BY_HAND, 1e-9),
        *_STATSMODELS[0],
    ],
    "calibration_intercept": [
        Case(RISKS, math.log(3) - math.log(1.5) * 2 * math.log(3) / (math.log(1.5) + math.log(4)), BY_HAND, 1e-9),
        *_STATSMODELS[1],
    ],
    # logit 1/2 - logit 0.2
    "calibration_in_the_large": [Case(ONE_RISK, math.log(4), BY_HAND, 1e-9), *_STATSMODELS[2]],
    # Brier 0.64 + 3 * 0.04 + 3 * 0.16 + 0.36, over 8 times a quarter
    "scaled_brier": [_hand(RISKS, 1 - 1.6 / 2)],
    # three quarters of the samples reach from 0.2 to 0.6 at either, where the weight is 0: the means are 1/4 and 3/4
    "ici": [_hand(RISKS, (0.05 + 0.15) / 2), _loess(0.12790393906319614)],
    "e50": [_hand(RISKS, (0.05 + 0.15) / 2), _loess(0.10081328462648251)],
    "e90": [_hand(RISKS, 0.15), _loess(0.285844754293099)],
    "emax": [_hand(RISKS, 0.15), _loess(0.31488523739007923)],
    # at 0.5, three events and one false alarm in eight
    "net_benefit": [_hand(RISKS, (3 - 1) / 8)],
    "cw_precision": [
        _hand(LABELS, (1.5 / 2.25 + 1) / 2),
        _scikit_learn(sk.precision_score(*_LABELS, average="macro", **_WEIGHT)),
    ],
    "cw_recall": [_hand(LABELS, (1 + 0.25) / 2), _scikit_learn(sk.recall_score(*_LABELS, average="macro", **_WEIGHT))],
    "cw_specificity": [_hand(LABELS, (0.25 + 1) / 2), _scikit_learn(_of_the_rest(sk.recall_score))],
    "cw_npv": [_hand(LABELS, (1 + 1.5 / 2.25) / 2), _scikit_learn(_of_the_rest(sk.precision_score))],
    "cw_f1": [_hand(LABELS, (0.8 + 0.4) / 2), _scikit_learn(sk.f1_score(*_LABELS, average="macro", **_WEIGHT))],
    "cw_fbeta": [
        _hand(LABELS, (10 / 11 + 5 / 17) / 2),
        _scikit_learn(sk.fbeta_score(*_LABELS, beta=2, average="macro", **_WEIGHT)),
    ],
    "cw_jaccard": [
        _hand(LABELS, (2 / 3 + 1 / 4) / 2),
        _scikit_learn(sk.jaccard_score(*_LABELS, average="macro", **_WEIGHT)),
    ],
    "cw_balanced_accuracy": [
        _hand(LABELS, (1 + 0.25) / 2),
        _scikit_learn(sk.balanced_accuracy_score(*_LABELS, **_WEIGHT)),
    ],
    "cw_mcc": [
        _hand(LABELS, 1.5 * 0.25 / math.sqrt(2.25 * 1.5 * 1 * 0.25)),
        _scikit_learn(sk.matthews_corrcoef(*_LABELS, **_WEIGHT)),
    ],
    # 0.7 agree, (1.5 * 2.25 + 1 * 0.25) / 2.5^2 = 0.58 by chance
    "cw_kappa": [_hand(LABELS, (0.7 - 0.58) / 0.42), _scikit_learn(sk.cohen_kappa_score(*_LABELS, **_WEIGHT))],
    # three of four pairs are in order
    "auc": [_hand(RANKED, 0.75), _scikit_learn(_area(weighted=False))],
    "cw_auc": [_hand(RANKED, _CW_AUC), _scikit_learn(_area(weighted=True))],
    "auc_gain": [_hand(RANKED, (_CW_AUC - 0.75) / 0.25)],
    # downwards: 0.8 is found with precision 1, 0.65 after the 0.6 that is no positive
    "cw_average_precision": [_hand(RANKED, (0.8 * 1 + 0.65 * 1.45 / 2.05) / 1.45)],
}

#: The true class was given 1/2 and 1/4; in one bin the classes are given 1/4, 1/2 and 1/4 in the mean.
THREE_CLASSES = sf.Predictions.from_probabilities([1, 2], [[0.25, 0.5, 0.25], [0.25, 0.5, 0.25]])
_Y, _TABLE, _W = (
    [0, 1, 2, 2],
    np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.2, 0.2, 0.6], [0.5, 0.1, 0.4]]),
    [1, 2, 3, 4],
)
_WEIGHED = sf.Predictions.from_probabilities(_Y, _TABLE, sample_weight=_W)
EXPECTED["multiclass_brier"] = [
    _hand(THREE_CLASSES, ((1 + 4 + 1) / 16 + (1 + 4 + 9) / 16) / 2),
    Case(_WEIGHED, float(np.average(((_TABLE - np.eye(3)[_Y]) ** 2).sum(axis=1), weights=_W)), "NumPy"),
]
EXPECTED["multiclass_log_loss"] = [
    _hand(THREE_CLASSES, (math.log(2) + math.log(4)) / 2),
    Case(_WEIGHED, sk.log_loss(_Y, _TABLE, sample_weight=_W), "scikit-learn"),
]
# both rows of a class share a bin: gaps of 1/4 (never true), 0 (true once, given 1/2) and 1/4 (true once, given 1/4)
EXPECTED["classwise_ece"] = [_hand(THREE_CLASSES, (1 / 4 + 0 + 1 / 4) / 3)]

if "top_label_ece" in sf.metrics.ALL:
    # a third of the rows with a gap of 0.25, two thirds with a mean gap of (0.75 + 0.1) / 2
    EXPECTED["top_label_ece"] = [_hand(TWO_CLASSES, 0.25 / 3 + (0.75 + 0.1) / 3)]
